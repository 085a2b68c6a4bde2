//! Counters of sent and received messages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Numbers of messages and bytes. A message counts as sent when the device has taken it, and as
/// received when the program can get it. Puts, gets and their answers are counted too, where they
/// are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Messages that the device took.
    pub messages_sent: u64,
    /// Payload bytes of the sent messages.
    pub bytes_sent: u64,
    /// Messages that were received.
    pub messages_received: u64,
    /// Payload bytes of the received messages.
    pub bytes_received: u64,
}

impl Counters {
    fn add(&mut self, other: Self) {
        let sum = |a: &mut u64, b: u64| *a = a.wrapping_add(b);
        sum(&mut self.messages_sent, other.messages_sent);
        sum(&mut self.bytes_sent, other.bytes_sent);
        sum(&mut self.messages_received, other.messages_received);
        sum(&mut self.bytes_received, other.bytes_received);
    }
}

/// Two numbers that one thread at a time changes, on a cache line of their own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct CounterPair {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl CounterPair {
    /// Counts a message. Called under the lock of a direction, so no update is lost.
    #[inline]
    fn count(&self, length: u64) {
        let add = |sum: &AtomicU64, n: u64| {
            // A load and a store instead of an atomic addition: the lock of the direction excludes
            // other writers, and only readers of the statistics come without it.
            sum.store(
                sum.load(Ordering::Relaxed).wrapping_add(n),
                Ordering::Relaxed,
            );
        };
        add(&self.messages, 1);
        add(&self.bytes, length);
    }
}

/// The counters of one endpoint.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    sent: CounterPair,
    received: CounterPair,
}

impl Tally {
    #[inline]
    pub(crate) fn sent(&self, length: u64) {
        self.sent.count(length);
    }

    #[inline]
    pub(crate) fn received(&self, length: u64) {
        self.received.count(length);
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            messages_sent: self.sent.messages.load(Ordering::Relaxed),
            bytes_sent: self.sent.bytes.load(Ordering::Relaxed),
            messages_received: self.received.messages.load(Ordering::Relaxed),
            bytes_received: self.received.bytes.load(Ordering::Relaxed),
        }
    }
}

/// Counters of the endpoints of one device.
#[derive(Default)]
struct OfDevice {
    live: Vec<Weak<Tally>>,
    /// Sum of the endpoints that were dropped.
    retired: Counters,
}

static DEVICES: Mutex<Devices> = Mutex::new(Devices(Vec::new()));

/// The counters of all devices. There are few devices, so they are searched one by one.
struct Devices(Vec<(&'static str, OfDevice)>);

impl Devices {
    fn get(&self, scheme: &str) -> Option<&OfDevice> {
        let mut all = self.0.iter();
        all.find_map(|(of, device)| (*of == scheme).then_some(device))
    }

    /// Returns the counters of a device, which are added if there are none.
    fn get_or_add(&mut self, scheme: &'static str) -> &mut OfDevice {
        let known = self.0.iter().position(|(of, _)| *of == scheme);
        let place = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push((scheme, OfDevice::default()));
        }
        match self.0.get_mut(place) {
            Some((_, device)) => device,
            None => unreachable!("the device was found or added at this place"),
        }
    }
}

fn devices() -> MutexGuard<'static, Devices> {
    jstream_sync::lock(&DEVICES)
}

/// Returns a new tally, which counts for its device until it is [retired](retire).
pub(crate) fn enlist(scheme: &'static str) -> Arc<Tally> {
    let tally = Arc::new(Tally::default());
    let mut devices = devices();
    let live = &mut devices.get_or_add(scheme).live;
    live.push(Arc::downgrade(&tally));
    tally
}

/// Removes the tally of a dropped endpoint and keeps its counts.
pub(crate) fn retire(scheme: &'static str, tally: &Tally) {
    let mut devices = devices();
    let device = devices.get_or_add(scheme);
    let place = device
        .live
        .iter()
        .position(|live| std::ptr::eq(live.as_ptr(), tally));
    if let Some(place) = place {
        device.live.swap_remove(place);
        device.retired.add(tally.counters());
    }
}

/// Returns what all endpoints of a device have sent and received in this process, including
/// endpoints that were dropped. All counters are 0 for a scheme that was never used.
#[must_use]
pub fn device_counters(scheme: &str) -> Counters {
    let devices = devices();
    let Some(device) = devices.get(scheme) else {
        return Counters::default();
    };
    let mut sum = device.retired;
    for tally in device.live.iter().filter_map(Weak::upgrade) {
        sum.add(tally.counters());
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_never_decrease() {
        let (one, two) = (enlist("counted"), enlist("counted"));
        one.sent(10);
        one.sent(5);
        two.received(7);
        let sum = device_counters("counted");
        assert_eq!((sum.messages_sent, sum.bytes_sent), (2, 15));
        assert_eq!((sum.messages_received, sum.bytes_received), (1, 7));
        retire("counted", &one);
        retire("counted", &one);
        drop(one);
        assert_eq!(device_counters("counted"), sum);
        assert_eq!(device_counters("unheard of"), Counters::default());
    }
}
