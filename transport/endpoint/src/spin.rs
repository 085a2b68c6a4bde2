//! Adaptive spinning before a thread sleeps.
//!
//! Decisions 108 and 110 have the reasons.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use jstream_device::deadline::Deadline;

/// Number of polls between two readings of the clock.
const LOOKS: u32 = 8;

/// Number of times that the thread yields the processor in vain before it sleeps. If there are more
/// threads than cores, the awaited thread gets to run. The number is halved for each recent wait in
/// vain, down to `LEAST_YIELDS`.
const MOST_YIELDS: u8 = 128;

/// Smallest number of yields in vain before a sleep.
const LEAST_YIELDS: u8 = 2;

/// Time for which the thread yields the processor to others before it sleeps. If the threads of a
/// core wait for one another, yielding takes less time than sleeping and waking.
const YIELDING: Duration = Duration::from_millis(1);

/// Shortest time after which a thread that has yielded runs again if another one ran meanwhile.
/// Yielding takes some 0.3 us if no other thread wants the core, and 2 us if one yields back.
const SWITCH: Duration = Duration::from_nanos(800);

/// Upper estimate of the time that it takes to wake both sides. If a sleep exceeded the budget by
/// no more than this, spinning might have succeeded had the other side not slept too.
const WAKING: Duration = Duration::from_micros(200);

/// Number of times that the budget is halved before it is zero. Then the thread polls once, and
/// yields.
const MOST_VAIN: u8 = 6;

/// Of this many waits that end in a sleep, one spins for as long as a wake-up takes. Otherwise, two
/// sides that both sleep before the other one answers, because each has to wake first, would never
/// leave this state.
const LONG_AMONG: u8 = 32;

/// Outcomes of recent waits. The lower `VAIN_BITS` count the spins without result; the bits above
/// count the waits that ended in a sleep since the last long spin.
pub type Habit = u8;

const VAIN_BITS: u32 = 3;

/// State of one spinning wait. The budget is halved after each spin without result, and after a
/// result that came while the thread yielded to others. It grows again after a success.
pub struct Spin {
    begun: Option<Instant>,
    budget: Duration,
    full: Duration,
    /// Time until the deadline.
    left: Duration,
    looks: u32,
    /// Number of yields in vain that are left.
    yields: u8,
    /// True if another thread ran after a yield.
    has_let_run: bool,
    slept: Option<Instant>,
    in_vain: bool,
    /// True if the budget was limited to the deadline.
    is_bounded: bool,
}

impl Spin {
    /// Begins a wait that spins for `full` at most.
    #[must_use]
    pub fn begin(full: Duration, habit: Habit, deadline: Deadline) -> Self {
        let (vain, sleeps) = parts(habit);
        let mut budget = full;
        let mut looks = 0;
        if sleeps.wrapping_add(1) == LONG_AMONG && !full.is_zero() {
            budget = full.max(WAKING);
        } else if full != Duration::MAX && vain >= MOST_VAIN {
            // The thread yields after the first poll.
            budget = Duration::ZERO;
            looks = LOOKS.wrapping_sub(1);
        } else if full != Duration::MAX {
            for _ in 0..vain {
                budget = budget.checked_div(2).unwrap_or_default();
            }
        }
        let mut spin = Self {
            begun: None,
            budget,
            full,
            left: Duration::MAX,
            looks,
            yields: (MOST_YIELDS >> vain).max(LEAST_YIELDS),
            has_let_run: false,
            slept: None,
            in_vain: false,
            is_bounded: false,
        };
        spin.end_by(deadline);
        spin
    }

    /// Limits the budget to the deadline.
    pub(crate) fn end_by(&mut self, deadline: Deadline) {
        if let Some(left) = deadline.left() {
            self.left = left;
            self.budget = self.budget.min(left);
        }
        // Without a budget the caller wants to sleep at once, and with no time left there is nobody
        // to yield to.
        if self.full.is_zero() || self.left.is_zero() {
            self.yields = 0;
        }
    }

    /// Returns true if the next call of [`may_continue`](Self::may_continue) does not read the
    /// clock.
    #[inline]
    pub(crate) fn is_timeless(&self) -> bool {
        self.looks.wrapping_add(1) % LOOKS != 0
    }

    /// Returns true if the caller should poll once more.
    #[inline]
    pub fn may_continue(&mut self) -> bool {
        if self.yields == 0 || self.in_vain {
            self.give_up();
            return false;
        }
        self.looks = self.looks.wrapping_add(1);
        if self.looks % LOOKS != 0 {
            hint::spin_loop();
            return true;
        }
        self.has_time()
    }

    /// As [`may_continue`](Self::may_continue), for a wait that has begun without its deadline.
    /// Calls `deadline` once, before the first reading of the clock: a deadline that counts from
    /// now on reads the clock, too, which costs as much as a few polls.
    #[inline]
    pub fn may_continue_until(&mut self, deadline: impl FnOnce() -> Deadline) -> bool {
        if !self.is_bounded && !self.is_timeless() {
            self.is_bounded = true;
            self.end_by(deadline());
        }
        self.may_continue()
    }

    fn has_time(&mut self) -> bool {
        // A thread that never sleeps does not need the clock.
        if self.budget == Duration::MAX {
            return true;
        }
        let now = Instant::now();
        let begun = *self.begun.get_or_insert(now);
        let spun = now.saturating_duration_since(begun);
        if spun < self.budget {
            return true;
        }
        if spun >= self.budget.saturating_add(YIELDING).min(self.left) {
            self.give_up();
            return false;
        }
        // A yield may take as long as many polls, so the clock is read after each one.
        self.looks = LOOKS.wrapping_sub(1);
        thread::yield_now();
        if now.elapsed() < SWITCH {
            self.yields = self.yields.wrapping_sub(1);
        } else {
            self.has_let_run = true;
        }
        true
    }

    /// Returns true if the spin ended without result.
    pub fn was_in_vain(&self) -> bool {
        self.in_vain
    }

    /// Ends the spin. After its first sleep, a thread does not spin again in this wait, because a
    /// wake-up means that there is work.
    fn give_up(&mut self) {
        if !self.in_vain {
            self.in_vain = true;
            // A thread that never spins learns nothing from its sleeps, and need not read the
            // clock.
            self.slept = (!self.full.is_zero()).then(Instant::now);
        }
    }

    /// Records the end of a sleep. The sleep does not count as short if too much time has passed
    /// since the spin ended.
    pub fn has_slept(&mut self) {
        if let Some(since) = self.slept {
            if since.elapsed() > self.full.saturating_add(WAKING) {
                self.slept = None;
            }
        }
    }

    /// Ends the wait, and adjusts the habit for the next one.
    pub fn end(self, habit: &mut Habit) {
        let (vain, sleeps) = parts(*habit);
        let (vain, sleeps) = if !self.in_vain && self.has_let_run {
            // The awaited thread, or one that it waited for, needed this core.
            (vain.saturating_add(1).min(MOST_VAIN), 0)
        } else if !self.in_vain {
            (vain.saturating_sub(1), 0)
        } else if self.full.is_zero() {
            return;
        } else if self.slept.is_some() {
            (vain.saturating_sub(2), sleeps.wrapping_add(1))
        } else {
            let vain = vain.saturating_add(1).min(MOST_VAIN);
            (vain, sleeps.wrapping_add(1))
        };
        *habit = vain | (sleeps % LONG_AMONG) << VAIN_BITS;
    }
}

/// Returns the number of spins without result, and the number of sleeps.
fn parts(habit: Habit) -> (u8, u8) {
    (habit % (1 << VAIN_BITS), habit >> VAIN_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(spin: &mut Spin) -> u32 {
        (0..).find(|_| !spin.may_continue()).unwrap()
    }

    #[test]
    fn polls_a_single_time_without_a_budget() {
        let mut spin = Spin::begin(Duration::ZERO, 0, Deadline::NEVER);
        assert_eq!(looks(&mut spin), 0);
        let passed = Deadline::after(Duration::ZERO);
        let mut spin = Spin::begin(Duration::from_secs(100), 0, passed);
        assert_eq!(looks(&mut spin), 0);
    }

    #[test]
    fn a_deadline_is_taken_late() {
        let mut calls = 0;
        let mut spin = Spin::begin(Duration::MAX, 0, Deadline::NEVER);
        let mut continues = |calls: &mut u32| {
            spin.may_continue_until(|| {
                *calls += 1;
                Deadline::after(Duration::ZERO)
            })
        };
        assert!((1..LOOKS).all(|_| continues(&mut calls)));
        assert_eq!(calls, 0);
        assert!(!continues(&mut calls) && !continues(&mut calls));
        assert_eq!(calls, 1);
    }

    #[test]
    fn it_ends_and_learns() {
        let full = Duration::from_micros(200);
        let mut habit = 0;
        for turn in 1..20 {
            let mut spin = Spin::begin(full, habit, Deadline::NEVER);
            assert!(looks(&mut spin) > 0);
            thread::sleep(Duration::from_millis(1));
            spin.has_slept();
            spin.end(&mut habit);
            assert_eq!(parts(habit), (turn.min(MOST_VAIN), turn));
        }
        let mut spin = Spin::begin(full, habit, Deadline::NEVER);
        assert!(spin.may_continue());
        spin.has_let_run = false;
        spin.end(&mut habit);
        assert_eq!(parts(habit), (MOST_VAIN - 1, 0));
    }

    #[test]
    fn a_thread_on_a_shared_core_yields_early() {
        let full = Duration::from_secs(100);
        let mut habit = 0;
        for turn in 1..=MOST_VAIN {
            let mut spin = Spin::begin(full, habit, Deadline::NEVER);
            assert!(spin.may_continue() && spin.begun.is_none());
            spin.has_let_run = true;
            spin.end(&mut habit);
            assert_eq!(parts(habit), (turn, 0));
        }
        let mut spin = Spin::begin(full, habit, Deadline::NEVER);
        assert!(
            spin.may_continue() && spin.begun.is_some(),
            "the clock was not read"
        );
        assert!(
            spin.has_let_run || spin.yields < LEAST_YIELDS,
            "it did not yield"
        );
        assert!(looks(&mut spin) < 1_000_000 && spin.was_in_vain());
    }

    #[test]
    fn waits_in_vain_shorten_the_next_ones() {
        let yields = |vain| Spin::begin(Duration::from_secs(100), vain, Deadline::NEVER).yields;
        assert_eq!([0, 1, 5].map(yields), [MOST_YIELDS, MOST_YIELDS / 2, 4]);
        assert_eq!(yields(MOST_VAIN), LEAST_YIELDS);
        let passed = Deadline::after(Duration::ZERO);
        assert_eq!(Spin::begin(Duration::MAX, 0, passed).yields, 0);
    }

    #[test]
    fn one_among_many_sleeps_is_put_off() {
        let full = Duration::from_micros(1);
        let mut habit = 0;
        let mut budgets = Vec::new();
        for _ in 0..2 * LONG_AMONG {
            let mut spin = Spin::begin(full, habit, Deadline::NEVER);
            budgets.push(spin.budget);
            while spin.may_continue() {}
            thread::sleep(Duration::from_micros(500));
            spin.has_slept();
            spin.end(&mut habit);
        }
        let long = budgets.iter().filter(|budget| **budget == WAKING).count();
        assert_eq!((long, budgets[LONG_AMONG as usize - 1]), (2, WAKING));
        // A wait without spinning has no long spin.
        let spin = Spin::begin(Duration::ZERO, habit | 31 << VAIN_BITS, Deadline::NEVER);
        assert!(spin.budget.is_zero());
    }

    #[test]
    fn one_that_never_sleeps_goes_on() {
        let mut spin = Spin::begin(Duration::MAX, MOST_VAIN, Deadline::NEVER);
        assert!((0..100_000).all(|_| spin.may_continue()));
    }
}
