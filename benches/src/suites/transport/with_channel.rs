//! Typed channels of jstream, one in each direction.

use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jstream::Received;
use jstream_transport::channel::{Receiver, Sender};
use jstream_transport::{Options, channel};

use super::case::{Case, LARGE, Pattern, Way};
use super::pair::Waiting;
use super::side::{Channel, FILL, Over, Side};
use super::with_jstream::{Record, records};
use crate::Failure;

/// Opens the channel to this side, and then the channel back.
pub(super) fn serve(case: &Case, subject: &str) -> Result<Waiting, Failure> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let scheme = match case.way {
        Way::Inproc => "inproc",
        _ => "shm",
    };
    let address = format!("{scheme}://jstream-channels-{}-{count}", process::id());
    Ok(match (case.pattern, subject) {
        (Pattern::Large, "jstream-owned") => waiting_owned(address, || vec![7u64; LARGE / 8])?,
        (_, "jstream-owned") => waiting_owned(address, || u64::from_le_bytes([FILL; 8]))?,
        (Pattern::Records, _) => waiting(address, records)?,
        (Pattern::Large, "jstream-8") => waiting(address, || vec![7u64])?,
        (Pattern::Large, _) => waiting(address, || vec![7u64; LARGE / 8])?,
        _ => waiting(address, || u64::from_le_bytes([FILL; 8]))?,
    })
}

pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Side>, Failure> {
    match (case.pattern, subject) {
        (Pattern::Large, "jstream-owned") => joined_owned(address, || vec![7u64; LARGE / 8]),
        (_, "jstream-owned") => joined_owned(address, || u64::from_le_bytes([FILL; 8])),
        (Pattern::Records, _) => joined(address, records),
        (Pattern::Large, "jstream-8") => joined(address, || vec![7u64]),
        (Pattern::Large, _) => joined(address, || vec![7u64; LARGE / 8]),
        _ => joined(address, || u64::from_le_bytes([FILL; 8])),
    }
}

fn options() -> Options {
    let mut options = Options::default();
    options.max_message = 2 * LARGE as u64;
    options.queue_bytes = options.max_message;
    options.spin = Duration::MAX;
    options
}

fn back(address: &str) -> String {
    format!("{address}-back")
}

fn waiting<T: Subject>(address: String, first: fn() -> T) -> Result<Waiting, Failure>
where
    Typed<T>: Channel,
{
    let receiver = channel(&address).options(options()).receiver()?;
    Ok(Waiting::new(address.clone(), move || {
        let sender = channel(&back(&address)).options(options()).sender()?;
        Ok(Box::new(Over::new(Typed::new(sender, receiver, first()))))
    }))
}

fn joined<T: Subject>(address: &str, first: fn() -> T) -> Result<Box<dyn Side>, Failure>
where
    Typed<T>: Channel,
{
    let receiver = channel(&back(address)).options(options()).receiver()?;
    let sender = channel(address).options(options()).sender()?;
    Ok(Box::new(Over::new(Typed::new(sender, receiver, first()))))
}

fn waiting_owned<T: Owner>(address: String, first: fn() -> T) -> Result<Waiting, Failure> {
    let receiver = channel(&address).options(options()).receiver()?;
    Ok(Waiting::new(address.clone(), move || {
        let sender = channel(&back(&address)).options(options()).sender()?;
        Ok(Box::new(Over::new(Owned::new(sender, receiver, first()))))
    }))
}

fn joined_owned<T: Owner>(address: &str, first: fn() -> T) -> Result<Box<dyn Side>, Failure> {
    let receiver = channel(&back(address)).options(options()).receiver()?;
    let sender = channel(address).options(options()).sender()?;
    Ok(Box::new(Over::new(Owned::new(sender, receiver, first()))))
}

trait Subject: jstream::Transportable + 'static {}

impl<T: jstream::Transportable + 'static> Subject for T {}

struct Typed<T: Subject> {
    sender: Sender<T>,
    receiver: Receiver<T>,
    first: T,
    /// Last object received, if it is sent on.
    kept: Option<Received<T>>,
}

impl<T: Subject> Typed<T> {
    fn new(sender: Sender<T>, receiver: Receiver<T>, first: T) -> Self {
        Self {
            sender,
            receiver,
            first,
            kept: None,
        }
    }
}

impl Channel for Typed<u64> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        Ok(self.sender.send(&self.first)?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        Ok(*self.receiver.recv()?.get())
    }
}

impl Channel for Typed<Vec<Record>> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        Ok(self.sender.send(&self.first)?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        let received = self.receiver.recv()?;
        Ok(std::hint::black_box(&received).get().len() as u64)
    }
}

impl Channel for Typed<Vec<u64>> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        match self.kept.take() {
            Some(kept) => self.sender.send_received(kept).map_err(|e| e.error)?,
            None => self.sender.send(&self.first)?,
        }
        Ok(())
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        let kept = self.receiver.recv()?;
        let length = kept.get().len() as u64;
        self.kept = Some(kept);
        Ok(length)
    }
}

/// A value whose ownership is passed to the other side and comes back.
trait Owner: jstream::Restore + Send + 'static {
    fn sum(&self) -> u64;
}

impl Owner for u64 {
    fn sum(&self) -> u64 {
        *self
    }
}

impl Owner for Vec<u64> {
    fn sum(&self) -> u64 {
        self.len() as u64
    }
}

struct Owned<T: Owner> {
    sender: Sender<T>,
    receiver: Receiver<T>,
    /// Object to send next: the first one, and then the last one received.
    object: Option<T>,
}

impl<T: Owner> Owned<T> {
    fn new(sender: Sender<T>, receiver: Receiver<T>, first: T) -> Self {
        Self {
            sender,
            receiver,
            object: Some(first),
        }
    }
}

impl<T: Owner> Channel for Owned<T> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        let object = self.object.take().ok_or("nothing to send")?;
        self.sender
            .send_owned(object)
            .map_err(|refused| refused.error)?;
        Ok(())
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let object = self.receiver.recv_owned()?;
        let sum = if look { object.sum() } else { 0 };
        self.object = Some(object);
        Ok(sum)
    }
}
