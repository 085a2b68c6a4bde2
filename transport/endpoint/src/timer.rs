//! Timers that wake tasks.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use super::reactor::Reactor;
use jstream_device::deadline::Deadline;

/// A timer that calls a waker once at a given time. A dropped timer does not call it.
#[derive(Debug)]
pub struct Timer {
    reactor: Arc<Reactor>,
    place: usize,
}

impl Timer {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors or threads.
    pub fn new() -> io::Result<Self> {
        let reactor = Arc::clone(Reactor::started()?);
        let place = reactor.timers().add();
        Ok(Self { reactor, place })
    }

    /// Sets the timer to call `waker` at `deadline`, and replaces the previous setting. Setting it
    /// repeatedly to the same or a later time makes no system call.
    pub fn set(&self, deadline: Deadline, waker: &Waker) {
        let Some(moment) = deadline.moment() else {
            return self.clear();
        };
        let sooner = self.reactor.timers().set(self.place, moment, waker);
        // The thread of the timers sleeps until the first of them. It has to be woken only if that
        // has become earlier.
        if sooner {
            self.reactor.kick();
        }
    }

    /// Clears the setting of the timer.
    pub(crate) fn clear(&self) {
        self.reactor.timers().clear(self.place);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.reactor.timers().remove(self.place);
    }
}

/// A timer that wakes a task once at a given time. A dropped timer does not wake it.
///
/// The timer is driven by the same thread of the process that wakes tasks which wait for messages.
#[derive(Debug)]
pub struct Reminder(Timer);

impl Reminder {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors or threads.
    pub fn new() -> io::Result<Self> {
        Timer::new().map(Self)
    }

    /// Sets the timer to call `waker` at `moment`, and replaces the previous setting. Setting it to
    /// the same time again is very cheap.
    pub fn set(&self, moment: Instant, waker: &Waker) {
        self.0.set(Deadline::at(moment), waker);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Wake;
    use std::time::Duration;

    use super::*;

    struct TimerBell(mpsc::Sender<()>);

    impl Wake for TimerBell {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }

    fn bell() -> (Waker, mpsc::Receiver<()>) {
        let (rings, heard) = mpsc::channel();
        (Arc::new(TimerBell(rings)).into(), heard)
    }

    fn expect_alarm(heard: &mpsc::Receiver<()>) {
        heard.recv_timeout(Duration::from_secs(20)).unwrap();
    }

    fn after(milliseconds: u64) -> Deadline {
        Deadline::after(Duration::from_millis(milliseconds))
    }

    #[test]
    fn a_timer_fires_at_its_deadline() {
        let ((late, late_heard), (soon, soon_heard)) = (bell(), bell());
        let (one, two) = (Timer::new().unwrap(), Timer::new().unwrap());
        let start = Instant::now();
        one.set(after(60), &late);
        // The earlier timer is set after the thread has begun to sleep.
        two.set(after(20), &soon);
        expect_alarm(&soon_heard);
        assert!(start.elapsed() >= Duration::from_millis(20));
        expect_alarm(&late_heard);
        assert!(start.elapsed() >= Duration::from_millis(60));
        two.set(after(1), &late);
        expect_alarm(&late_heard);
        assert!(soon_heard.try_recv().is_err() && late_heard.try_recv().is_err());
    }

    #[test]
    fn the_last_deadline_counts() {
        let ((one, one_heard), (two, two_heard)) = (bell(), bell());
        let [a, b, c] = [(); 3].map(|()| Timer::new().unwrap());
        a.set(after(10), &one);
        b.set(after(10), &one);
        c.set(after(10), &one);
        a.set(after(30), &two);
        b.set(Deadline::NEVER, &one);
        drop((c, one));
        expect_alarm(&two_heard);
        // No timer holds that waker any more.
        assert_eq!(one_heard.recv(), Err(mpsc::RecvError));
        a.clear();
    }

    #[test]
    fn reuses_places() {
        let (waker, heard) = bell();
        for _ in 0..100 {
            let timer = Timer::new().unwrap();
            timer.set(after(0), &waker);
            expect_alarm(&heard);
        }
        // Other tests use timers at the same time.
        let places = Reactor::started().unwrap().timers().count_places();
        assert!(places < 50, "{places}");
    }
}
