//! Peers between two threads: rtrb, and the channel of crossbeam.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::case::{Case, LARGE, Pattern};
use super::pair::Waiting;
use super::raw::spin;
use super::side::{Channel, FILL, Over, Side, sum};
use crate::Failure;

/// Capacity of a ring or channel in messages.
const ROOM: usize = 64;

/// Sides that the connecting thread has not taken yet, by their addresses.
static WAITING: Mutex<Option<HashMap<String, Box<dyn Side + Send>>>> = Mutex::new(None);

/// Creates both sides at once, and keeps one of them for [`join`].
pub(super) fn serve(case: &Case, subject: &str) -> Result<Waiting, Failure> {
    let address = format!("{}/{subject}", case.name);
    let [here, there] = match (case.pattern, subject) {
        (Pattern::Large, "rtrb") => rtrb(|| vec![FILL; LARGE]),
        (Pattern::Large, _) => crossbeam(|| vec![FILL; LARGE]),
        (_, "rtrb") => rtrb(|| u64::from_le_bytes([FILL; 8])),
        _ => crossbeam(|| u64::from_le_bytes([FILL; 8])),
    };
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    waiting
        .get_or_insert_default()
        .insert(address.clone(), there);
    Ok(Waiting::new(address, move || Ok(here)))
}

pub(super) fn join(address: &str) -> Result<Box<dyn Side>, Failure> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let side = waiting.as_mut().and_then(|sides| sides.remove(address));
    match side {
        Some(side) => Ok(side),
        None => Err(format!("no side waits at {address}").into()),
    }
}

/// A value that the channels carry: a word, or memory whose ownership moves.
trait Message: Send + 'static {
    fn sum(&self) -> u64;
}

impl Message for u64 {
    fn sum(&self) -> u64 {
        *self
    }
}

impl Message for Vec<u8> {
    fn sum(&self) -> u64 {
        sum(self)
    }
}

fn rtrb<M: Message>(mut message: impl FnMut() -> M) -> [Box<dyn Side + Send>; 2] {
    let (out, there) = rtrb::RingBuffer::new(ROOM);
    let (back, here) = rtrb::RingBuffer::new(ROOM);
    [(out, here), (back, there)].map(|(out, back)| -> Box<dyn Side + Send> {
        let message = Some(message());
        Box::new(Over::new(Rtrb { out, back, message }))
    })
}

struct Rtrb<M> {
    out: rtrb::Producer<M>,
    back: rtrb::Consumer<M>,
    /// Message to send next: the first one, and then the last one received.
    message: Option<M>,
}

impl<M: Message> Channel for Rtrb<M> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        let message = self.message.take().ok_or("nothing to send")?;
        let sent = self.out.push(message);
        sent.map_err(|_| "the ring is full".into())
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let message = spin(|| Ok(self.back.pop().ok()))?;
        let sum = if look { message.sum() } else { 0 };
        self.message = Some(message);
        Ok(sum)
    }
}

fn crossbeam<M: Message>(mut message: impl FnMut() -> M) -> [Box<dyn Side + Send>; 2] {
    let (out, there) = crossbeam_channel::bounded(ROOM);
    let (back, here) = crossbeam_channel::bounded(ROOM);
    [(out, here), (back, there)].map(|(out, back)| -> Box<dyn Side + Send> {
        let message = Some(message());
        Box::new(Over::new(Crossbeam { out, back, message }))
    })
}

struct Crossbeam<M> {
    out: crossbeam_channel::Sender<M>,
    back: crossbeam_channel::Receiver<M>,
    message: Option<M>,
}

impl<M: Message> Channel for Crossbeam<M> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        let message = self.message.take().ok_or("nothing to send")?;
        let sent = self.out.send(message);
        sent.map_err(|_| "the other side has ended".into())
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let message = spin(|| Ok(self.back.try_recv().ok()))?;
        let sum = if look { message.sum() } else { 0 };
        self.message = Some(message);
        Ok(sum)
    }
}
