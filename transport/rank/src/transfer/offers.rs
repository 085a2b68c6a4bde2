//! Messages of this rank that a peer has to answer.
//!
//! An offer is the state machine of a message at its sender, without I/O. A message is either
//! announced, and its body is kept until the peer requests it, or it is sent eagerly and the peer
//! confirms that a receive has it.
//!
//! | event                     | `Announced`    | `Sending`     | `Sent`        | `Matched`   | `Abandoned`       |
//! |---------------------------|----------------|---------------|---------------|-------------|-------------------|
//! | the peer requests it      | ends: send     | error         | error         | error       | ends: tell absent |
//! | the peer has matched it   | ends           | → `Matched`   | ends          | error       | ends              |
//! | the peer refuses it       | ends           | error         | error         | error       | ends              |
//! | the frame was sent        | –              | → `Sent`      | –             | ends        | –                 |
//! | the frame can't be sent   | ends           | ends          | ends          | ends        | ends              |
//! | the peer has no room      | –              | → `Announced` | –             | –           | –                 |
//! | the request is abandoned  | → `Abandoned`  | → `Abandoned` | → `Abandoned` | –           | –                 |
//! | the peer has withdrawn it | ends           | ends          | ends          | ends        | ends              |
//!
//! An error is a violation of the protocol by the peer. If the peer answers that a message to be
//! withdrawn was not there, the offer does not change: its other answer has arrived or follows.
//!
//! Decisions 071 and 122 have the reasons.

use super::Violation;
use crate::table::{Number, NumberTable};
use jstream_device::connection::Body;
use jstream_endpoint::ops::OpId;
use jstream_endpoint::remote::MOST_REQUESTS;

/// The messages of this rank that one peer has to answer.
#[derive(Default)]
pub(crate) struct Offers(NumberTable<Offer>);

struct Offer {
    request: OpId,
    length: u64,
    is_exchange: bool,
    state: OfferState,
}

enum OfferState {
    /// The body is sent on request.
    Announced(Body<'static>),
    /// The message is being sent eagerly.
    Sending,
    /// The message was sent, and not matched.
    Sent,
    /// The message was matched before the device has sent all of it.
    Matched,
    /// The request has ended before the peer has answered.
    Abandoned,
}

/// An offer that has ended.
pub(crate) struct EndedOffer {
    pub(crate) request: OpId,
    /// The body, if it was not sent.
    pub(crate) body: Option<Body<'static>>,
    pub(crate) length: u64,
    /// True if the message is half of an exchange.
    pub(crate) is_exchange: bool,
    /// True if the request has ended before.
    pub(crate) is_abandoned: bool,
}

/// An answer of the peer to an offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfferAnswer {
    /// The peer requests the body.
    Wanted,
    /// The peer has matched the message, and does not request its body.
    Matched,
    /// The peer refuses an announced message.
    Refused,
    /// The answer to a withdrawal.
    Withdrawn { was_there: bool },
}

/// The effect of an answer.
pub(crate) enum AnswerEffect {
    /// The offer stays.
    Waits,
    Ends(EndedOffer),
}

/// Mode of a send: when it ends, and whether it is half of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendMode {
    /// The send ends when the bytes have been sent.
    Standard,
    /// The send ends when the message is matched.
    Confirmed,
    /// As `Standard`, for a message of a rank that receives another one of about the same length
    /// meanwhile.
    Exchange,
}

impl SendMode {
    pub(crate) fn is_confirmed(self) -> bool {
        self == Self::Confirmed
    }
}

/// The effect of having sent the frame of an offer.
pub(crate) enum SentFrame {
    /// The offer waits for the answer of the peer.
    Waits,
    /// The peer has answered before, and the request ends.
    Ends,
}

impl Offers {
    /// Adds a message whose body is sent on request.
    pub(crate) fn announce(
        &mut self,
        request: OpId,
        body: Body<'static>,
        length: u64,
        is_exchange: bool,
    ) -> Number {
        self.0.insert(Offer {
            request,
            length,
            is_exchange,
            state: OfferState::Announced(body),
        })
    }

    /// Adds a message that is sent eagerly and confirmed by the peer.
    pub(crate) fn send(&mut self, request: OpId, length: u64, is_exchange: bool) -> Number {
        self.0.insert(Offer {
            request,
            length,
            is_exchange,
            state: OfferState::Sending,
        })
    }

    fn end(&mut self, number: Number) -> Option<EndedOffer> {
        self.0.remove(number).map(Offer::end)
    }

    /// Handles an answer of the peer.
    ///
    /// # Errors
    ///
    /// If the offer does not exist, or does not allow the answer.
    pub(crate) fn answer(
        &mut self,
        number: Number,
        answer: OfferAnswer,
    ) -> Result<AnswerEffect, Violation> {
        if let OfferAnswer::Withdrawn { was_there } = answer {
            // The number was reserved until this answer, so it still stands for the same message.
            return match (self.0.release(number), was_there) {
                (false, _) => Err(Violation),
                (true, false) => Ok(AnswerEffect::Waits),
                (true, true) => self.end(number).map(AnswerEffect::Ends).ok_or(Violation),
            };
        }
        let offer = self.0.get_mut(number).ok_or(Violation)?;
        match (&offer.state, answer) {
            (OfferState::Announced(_) | OfferState::Abandoned, _)
            | (OfferState::Sent, OfferAnswer::Matched) => {
                self.end(number).map(AnswerEffect::Ends).ok_or(Violation)
            }
            (OfferState::Sending, OfferAnswer::Matched) => {
                offer.state = OfferState::Matched;
                Ok(AnswerEffect::Waits)
            }
            (OfferState::Sending | OfferState::Sent | OfferState::Matched, _) => Err(Violation),
        }
    }

    /// Returns the offer of a request. The number may belong to another request by now.
    fn get_of(&mut self, number: Number, request: OpId) -> Option<&mut Offer> {
        let offer = self.0.get_mut(number);
        offer.filter(|offer| offer.request == request)
    }

    /// Handles the end of sending the frame of a request. Returns `None` if the request has no
    /// offer any more.
    pub(crate) fn record_sent(&mut self, number: Number, request: OpId) -> Option<SentFrame> {
        let offer = self.get_of(number, request)?;
        match offer.state {
            OfferState::Sending => offer.state = OfferState::Sent,
            OfferState::Matched => {
                self.0.remove(number);
                return Some(SentFrame::Ends);
            }
            OfferState::Announced(_) | OfferState::Sent | OfferState::Abandoned => {}
        }
        Some(SentFrame::Waits)
    }

    /// Ends the offer of a request whose frame can't be sent, if there is one.
    pub(crate) fn fail(&mut self, number: Number, request: OpId) -> Option<EndedOffer> {
        self.get_of(number, request)?;
        self.end(number)
    }

    /// Keeps the body of an eager message, because the peer has no room for it. Returns false if
    /// the request has no offer any more.
    pub(crate) fn keep_body(
        &mut self,
        number: Number,
        request: OpId,
        body: &mut Body<'static>,
    ) -> bool {
        let Some(offer) = self.get_of(number, request) else {
            return false;
        };
        if let OfferState::Sending = offer.state {
            let body = std::mem::replace(body, Body::Taken);
            offer.state = OfferState::Announced(body);
        }
        true
    }

    /// Begins to withdraw the message of a request. Returns true if the peer has to be asked. The
    /// number is reserved until the peer has answered.
    pub(crate) fn begin_withdrawal(&mut self, number: Number, request: OpId) -> bool {
        self.get_of(number, request).is_some()
            // The peer ends a connection on which more answers wait than this.
            && self.0.reserved() < MOST_REQUESTS
            && self.0.reserve(number)
    }

    /// Detaches the offer from its request, which ends. The offer stays until the peer answers.
    /// Returns the body, or `None` if there is no offer, or the message was matched. A matched
    /// message ends when it has been sent.
    pub(crate) fn abandon(
        &mut self,
        number: Number,
        request: OpId,
    ) -> Option<Option<Body<'static>>> {
        let offer = self.get_of(number, request)?;
        if let OfferState::Matched = offer.state {
            return None;
        }
        match std::mem::replace(&mut offer.state, OfferState::Abandoned) {
            OfferState::Announced(body) => Some(Some(body)),
            _ => Some(None),
        }
    }

    /// Ends all offers.
    pub(crate) fn end_all(&mut self) -> impl Iterator<Item = EndedOffer> + use<> {
        self.0.drain().map(Offer::end)
    }

    /// Returns true if there is no offer, and no number is reserved.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Offer {
    fn end(self) -> EndedOffer {
        let is_abandoned = matches!(self.state, OfferState::Abandoned);
        EndedOffer {
            request: self.request,
            body: match self.state {
                OfferState::Announced(body) => Some(body),
                _ => None,
            },
            length: self.length,
            is_exchange: self.is_exchange,
            is_abandoned,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use jstream::buffer::EmptyBuffer;
    use jstream_endpoint::ops::Ops;

    use super::*;

    /// The states of the table above.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum State {
        Announced,
        Sending,
        Sent,
        Matched,
        Abandoned,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum OfferEvent {
        Requested,
        Confirmed,
        Refused,
        FrameSent,
        FrameFailed,
        NoRoom,
        RequestAbandoned,
        Withdrawn,
    }

    /// The effect of an event in the table above.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Effect {
        Error,
        Stays(State),
        /// The offer ends. True if its body is still there.
        Ends(bool),
        Absent,
    }

    use Effect::{Absent, Ends, Error, Stays};
    use State::{Abandoned, Announced, Matched, Sending, Sent};

    const STATES: [State; 5] = [Announced, Sending, Sent, Matched, Abandoned];

    const TABLE: [(OfferEvent, [Effect; 5]); 8] = [
        (
            OfferEvent::Requested,
            [Ends(true), Error, Error, Error, Absent],
        ),
        (
            OfferEvent::Confirmed,
            [Ends(true), Stays(Matched), Ends(false), Error, Ends(false)],
        ),
        (
            OfferEvent::Refused,
            [Ends(true), Error, Error, Error, Ends(false)],
        ),
        (
            OfferEvent::FrameSent,
            [
                Stays(Announced),
                Stays(Sent),
                Stays(Sent),
                Ends(false),
                Stays(Abandoned),
            ],
        ),
        (
            OfferEvent::FrameFailed,
            [
                Ends(true),
                Ends(false),
                Ends(false),
                Ends(false),
                Ends(false),
            ],
        ),
        (
            OfferEvent::NoRoom,
            [
                Stays(Announced),
                Stays(Announced),
                Stays(Sent),
                Stays(Matched),
                Stays(Abandoned),
            ],
        ),
        (
            OfferEvent::RequestAbandoned,
            [
                Stays(Abandoned),
                Stays(Abandoned),
                Stays(Abandoned),
                Stays(Matched),
                Stays(Abandoned),
            ],
        ),
        (
            OfferEvent::Withdrawn,
            [
                Ends(true),
                Ends(false),
                Ends(false),
                Ends(false),
                Ends(false),
            ],
        ),
    ];

    fn body() -> Body<'static> {
        Body::Owned(EmptyBuffer::heap(8).copy_from(b"contents").unwrap())
    }

    fn request() -> OpId {
        Ops::default().insert(())
    }

    /// Returns offers of which the first is in a state.
    fn offers_in(state: State) -> Offers {
        let mut offers = Offers::default();
        let request = request();
        match state {
            Announced => assert_eq!(offers.announce(request, body(), 8, false), 0),
            _ => assert_eq!(offers.send(request, 8, false), 0),
        }
        match state {
            Announced | Sending => {}
            Sent => assert!(offers.record_sent(0, request).is_some()),
            Matched => assert!(matches!(
                offers.answer(0, OfferAnswer::Matched),
                Ok(AnswerEffect::Waits)
            )),
            Abandoned => assert!(offers.abandon(0, request).is_some()),
        }
        offers
    }

    fn state_of(offers: &Offers) -> Option<State> {
        Some(match offers.0.get(0)?.state {
            OfferState::Announced(_) => Announced,
            OfferState::Sending => Sending,
            OfferState::Sent => Sent,
            OfferState::Matched => Matched,
            OfferState::Abandoned => Abandoned,
        })
    }

    fn apply(offers: &mut Offers, event: OfferEvent) -> Effect {
        let request = request();
        let ended = |offer: EndedOffer| Ends(offer.body.is_some());
        let mut answer = |answer| match offers.answer(0, answer) {
            Ok(AnswerEffect::Ends(offer))
                if answer == OfferAnswer::Wanted && offer.is_abandoned =>
            {
                Some(Absent)
            }
            Ok(AnswerEffect::Ends(offer)) => Some(ended(offer)),
            Ok(AnswerEffect::Waits) => None,
            Err(Violation) => Some(Error),
        };
        let effect = match event {
            OfferEvent::Requested => answer(OfferAnswer::Wanted),
            OfferEvent::Confirmed => answer(OfferAnswer::Matched),
            OfferEvent::Refused => answer(OfferAnswer::Refused),
            OfferEvent::FrameSent => match offers.record_sent(0, request).unwrap() {
                SentFrame::Ends => Some(Ends(false)),
                SentFrame::Waits => None,
            },
            OfferEvent::FrameFailed => offers.fail(0, request).map(ended),
            OfferEvent::NoRoom => {
                assert!(offers.keep_body(0, request, &mut body()));
                None
            }
            OfferEvent::RequestAbandoned => {
                let was = state_of(offers);
                let body = offers.abandon(0, request);
                assert_eq!(body.is_none(), was == Some(Matched));
                assert_eq!(body.flatten().is_some(), was == Some(Announced));
                None
            }
            OfferEvent::Withdrawn => {
                assert!(offers.begin_withdrawal(0, request));
                assert!(!offers.begin_withdrawal(0, request));
                let answered = offers.answer(0, OfferAnswer::Withdrawn { was_there: true });
                match answered.unwrap() {
                    AnswerEffect::Ends(offer) => Some(ended(offer)),
                    AnswerEffect::Waits => None,
                }
            }
        };
        effect.unwrap_or_else(|| Stays(state_of(offers).unwrap()))
    }

    #[test]
    fn each_event_has_the_effect_of_the_table() {
        for (event, effects) in TABLE {
            for (state, expected) in STATES.into_iter().zip(effects) {
                let mut offers = offers_in(state);
                assert_eq!(state_of(&offers), Some(state));
                let effect = apply(&mut offers, event);
                assert_eq!(effect, expected, "{event:?} in {state:?}");
                let remains = match expected {
                    Error => Some(state),
                    Stays(next) => Some(next),
                    Ends(_) | Absent => None,
                };
                assert_eq!(state_of(&offers), remains, "{event:?} in {state:?}");
            }
        }
    }

    #[test]
    fn an_offer_is_found_by_its_request_alone() {
        let mut ops = Ops::default();
        let (first, other) = (ops.insert(()), ops.insert(()));
        let mut offers = Offers::default();
        let number = offers.announce(first, body(), 8, false);
        assert!(offers.record_sent(number, other).is_none());
        assert!(offers.fail(number, other).is_none());
        assert!(offers.abandon(number, other).is_none());
        assert!(!offers.begin_withdrawal(number, other));
        assert!(!offers.keep_body(number, other, &mut body()));
        assert!(offers.fail(number, first).is_some());
    }

    #[test]
    fn an_answer_to_no_withdrawal_is_refused() {
        let mut offers = offers_in(Sending);
        let answered = |offers: &mut Offers, was_there| {
            let answer = OfferAnswer::Withdrawn { was_there };
            offers.answer(0, answer).map(|effect| match effect {
                AnswerEffect::Ends(_) => true,
                AnswerEffect::Waits => false,
            })
        };
        assert_eq!(answered(&mut offers, true), Err(Violation));
        assert!(offers.begin_withdrawal(0, request()));
        assert_eq!(answered(&mut offers, false), Ok(false));
        assert_eq!(answered(&mut offers, false), Err(Violation));
        assert_eq!(state_of(&offers), Some(Sending));
    }
}
