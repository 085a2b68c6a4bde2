//! Answers to the outstanding requests of this side.

use std::mem;
use std::task::Waker;

use super::call::{Answer, Call};
use super::outcomes::{Held, Violation};
use super::{Credit, Ledger};

const UNASKED: Violation = Violation("answer to an unknown request");

impl Ledger {
    /// Takes the wakers that wait for credit, if the request numbers were exhausted and one was
    /// released.
    #[inline]
    pub(crate) fn take_freed(&mut self) -> Vec<Waker> {
        if mem::take(&mut self.has_freed) {
            self.take_wanting()
        } else {
            Vec::new()
        }
    }

    /// Records the answer to a request. Returns an answer that is not wanted.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        number: u32,
        answer: Answer,
    ) -> Result<(Option<Waker>, Option<Answer>), Violation> {
        let place = self.slot(number).ok_or(UNASKED)?;
        match &mut place.call {
            Call::Waiting(waker) => {
                let waker = waker.take();
                place.call = Call::Done(answer);
                Ok((waker, None))
            }
            Call::Forgotten => {
                self.release(number);
                Ok((None, Some(answer)))
            }
            Call::Free | Call::Done(_) => Err(UNASKED),
        }
    }

    /// Releases a request whose answer goes directly to the waiting thread. Returns the state of
    /// its slot.
    #[inline]
    pub(crate) fn hand_out(&mut self, number: u32) -> Result<Option<Call>, Violation> {
        let place = self.slot(number).ok_or(UNASKED)?;
        match &place.call {
            Call::Waiting(_) => Ok(self.release(number)),
            _ => Err(UNASKED),
        }
    }

    /// As [`hand_out`](Self::hand_out), for an answer that carries `credit`. Returns the waker of
    /// the request, which must be dropped without a lock. Returns `None` without a side effect if
    /// the protocol is violated, or a waker must be called because of the credit.
    #[inline]
    pub(crate) fn settle_answer(&mut self, number: u32, credit: Credit) -> Option<Option<Waker>> {
        let place = self.calls.get_mut((number & 0xffff) as usize)?;
        let Call::Waiting(waker) = &mut place.call else {
            return None;
        };
        let is_asked = u32::from(place.generation) == number >> 16;
        // All is checked before anything changes, because the caller then takes the general path
        // with the same answer.
        if !is_asked || !self.wanting.is_empty() || !self.out.restore(credit) {
            return None;
        }
        let waker = waker.take();
        place.call = Call::Free;
        place.generation = place.generation.wrapping_add(1);
        self.add_free(number);
        Some(waker)
    }

    /// Takes the answer to a request. Returns `Err` if none will come, and `Ok(None)` if none has
    /// come yet. In that case `task` replaces the registered waker, which is moved to `before`.
    #[inline]
    pub(crate) fn take(
        &mut self,
        number: u32,
        task: Option<&Waker>,
        before: &mut Option<Waker>,
    ) -> Result<Option<Answer>, Held> {
        let ended = self.ended;
        let place = self.slot(number).ok_or(Held::Ended)?;
        match &mut place.call {
            Call::Waiting(_) if ended => {
                self.release(number);
                Err(Held::Ended)
            }
            Call::Waiting(known) => {
                if let Some(task) = task {
                    if known.as_ref().is_none_or(|known| !known.will_wake(task)) {
                        *before = known.replace(task.clone());
                    }
                }
                Ok(None)
            }
            Call::Done(_) => match self.release(number) {
                Some(Call::Done(answer)) => Ok(Some(answer)),
                _ => Err(Held::Ended),
            },
            Call::Free | Call::Forgotten => Err(Held::Ended),
        }
    }

    /// Returns true if the answer to a request is still to come.
    pub(crate) fn is_open(&mut self, number: u32) -> bool {
        let ended = self.ended;
        let place = self.slot(number);
        !ended && place.is_some_and(|place| matches!(place.call, Call::Waiting(_)))
    }

    /// Records that the answer to a request is not wanted. Returns true if it has not come yet, and
    /// the previous state of the slot.
    pub(crate) fn forget(&mut self, number: u32) -> (bool, Option<Call>) {
        let ended = self.ended;
        match self.slot(number) {
            Some(place) if matches!(place.call, Call::Waiting(_)) && !ended => {
                let call = mem::replace(&mut place.call, Call::Forgotten);
                (true, Some(call))
            }
            Some(_) => (false, self.release(number)),
            None => (false, None),
        }
    }
}
