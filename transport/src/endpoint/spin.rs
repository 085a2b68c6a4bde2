//! How long to look again before sleeping.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use crate::device::deadline::Deadline;

/// How many looks there are between two looks at the clock.
const LOOKS: u32 = 8;

/// How often the processor is offered to others before the sleep: where there are more threads than
/// cores, the one that is waited for gets to run.
const YIELDS: u8 = 2;

/// What waking both sides costs, where it costs most. A sleep that took no longer than this beyond the
/// budget might have been ended by spinning, had the other side not slept too.
const WAKING: Duration = Duration::from_micros(200);

/// Budgets are halved so many times at most.
const MOST_VAIN: u8 = 6;

/// One wait among so many that end in sleep looks for as long as waking takes. Two sides that both sleep
/// before the other one answers, because that has to wake, would never get out of it by their budgets.
const LONG_AMONG: u8 = 32;

/// How waits have ended lately: how often spinning was in vain, in the lower [`VAIN_BITS`], and above them
/// how many have ended in sleep since the last long one.
pub(crate) type Habit = u8;

const VAIN_BITS: u32 = 3;

/// Looking again and again, for a while. The budget halves each time that it was in vain, and grows
/// again when something comes soon.
pub(crate) struct Spin {
    begun: Option<Instant>,
    budget: Duration,
    full: Duration,
    looks: u32,
    yields: u8,
    slept: Option<Instant>,
    in_vain: bool,
}

impl Spin {
    pub(crate) fn begin(full: Duration, habit: Habit, deadline: Deadline) -> Self {
        let (vain, sleeps) = parts(habit);
        let mut budget = full;
        if sleeps.wrapping_add(1) == LONG_AMONG && !full.is_zero() {
            budget = full.max(WAKING);
        } else if full != Duration::MAX {
            for _ in 0..vain.min(MOST_VAIN) {
                budget = budget.checked_div(2).unwrap_or_default();
            }
        }
        let mut spin = Self {
            begun: None,
            budget,
            full,
            looks: 0,
            yields: YIELDS,
            slept: None,
            in_vain: false,
        };
        spin.end_by(deadline);
        spin
    }

    /// It is over by then at the latest.
    pub(crate) fn end_by(&mut self, deadline: Deadline) {
        if let Some(left) = deadline.left() {
            self.budget = self.budget.min(left);
        }
        if self.budget.is_zero() {
            self.yields = 0;
        }
    }

    /// Whether [`again`](Self::again) asks for no time now.
    #[inline]
    pub(crate) fn is_timeless(&self) -> bool {
        self.looks.wrapping_add(1) % LOOKS != 0
    }

    /// Whether to look once more.
    #[inline]
    pub(crate) fn again(&mut self) -> bool {
        if self.budget.is_zero() || self.in_vain {
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

    fn has_time(&mut self) -> bool {
        // Who never sleeps needs no clock.
        if self.budget == Duration::MAX {
            return true;
        }
        let now = Instant::now();
        let begun = *self.begun.get_or_insert(now);
        if now.saturating_duration_since(begun) < self.budget {
            return true;
        }
        if let Some(left) = self.yields.checked_sub(1) {
            self.yields = left;
            self.looks = LOOKS.wrapping_sub(1);
            thread::yield_now();
            return true;
        }
        self.give_up();
        false
    }

    /// Whether it has given up.
    pub(crate) fn was_in_vain(&self) -> bool {
        self.in_vain
    }

    /// Whoever sleeps once does not spin again: it wakes when there is something.
    fn give_up(&mut self) {
        if !self.in_vain {
            self.in_vain = true;
            self.slept = (!self.full.is_zero()).then(Instant::now);
        }
    }

    /// A sleep is over; whether it was short counts once.
    pub(crate) fn has_slept(&mut self) {
        if let Some(since) = self.slept {
            if since.elapsed() > self.full.saturating_add(WAKING) {
                self.slept = None;
            }
        }
    }

    /// The wait is over: what it says about the next one.
    pub(crate) fn end(self, habit: &mut Habit) {
        let (vain, sleeps) = parts(*habit);
        let (vain, sleeps) = if !self.in_vain {
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

/// How often spinning was in vain, and how many sleeps there were.
fn parts(habit: Habit) -> (u8, u8) {
    (habit % (1 << VAIN_BITS), habit >> VAIN_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(spin: &mut Spin) -> u32 {
        (0..).find(|_| !spin.again()).unwrap()
    }

    #[test]
    fn without_a_budget_there_is_no_second_look() {
        let mut spin = Spin::begin(Duration::ZERO, 0, Deadline::NEVER);
        assert_eq!(looks(&mut spin), 0);
        let passed = Deadline::after(Duration::ZERO);
        let mut spin = Spin::begin(Duration::from_secs(100), 0, passed);
        assert_eq!(looks(&mut spin), 0);
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
        assert!(spin.again());
        spin.end(&mut habit);
        assert_eq!(parts(habit), (MOST_VAIN - 1, 0));
    }

    #[test]
    fn one_among_many_sleeps_is_put_off() {
        let full = Duration::from_micros(1);
        let mut habit = 0;
        let mut budgets = Vec::new();
        for _ in 0..2 * LONG_AMONG {
            let mut spin = Spin::begin(full, habit, Deadline::NEVER);
            budgets.push(spin.budget);
            while spin.again() {}
            thread::sleep(Duration::from_micros(500));
            spin.has_slept();
            spin.end(&mut habit);
        }
        let long = budgets.iter().filter(|budget| **budget == WAKING).count();
        assert_eq!((long, budgets[LONG_AMONG as usize - 1]), (2, WAKING));
        // Who does not spin at all never does.
        let spin = Spin::begin(Duration::ZERO, habit | 31 << VAIN_BITS, Deadline::NEVER);
        assert!(spin.budget.is_zero());
    }

    #[test]
    fn one_that_never_sleeps_goes_on() {
        let mut spin = Spin::begin(Duration::MAX, MOST_VAIN, Deadline::NEVER);
        assert!((0..100_000).all(|_| spin.again()));
    }
}
