//! Channels of the ipc-channel crate, one in each direction.

use std::hint::black_box;

use ipc_channel::ipc::{self, IpcOneShotServer, IpcReceiver, IpcSender};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::case::{Case, Pattern, RECORDS};
use super::pair::Waiting;
use super::side::{Channel, FILL, Over, Side};
use crate::Failure;

/// A record with the same fields as in the jstream subject.
#[derive(Clone, Serialize, Deserialize)]
struct Record {
    id: u64,
    name: String,
    scores: Vec<f32>,
}

fn records() -> Vec<Record> {
    let record = |i: usize| Record {
        id: i as u64,
        name: format!("record number {i}"),
        scores: vec![i as f32; 16],
    };
    (0..RECORDS).map(record).collect()
}

/// Channel ends that the connecting side sends to the waiting side.
type Ends<M> = (IpcSender<M>, IpcReceiver<M>);

pub(super) fn serve(case: &Case) -> Result<Waiting, Failure> {
    match case.pattern {
        Pattern::Records => waiting(records),
        _ => waiting(word),
    }
}

pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Side>, Failure> {
    match case.pattern {
        Pattern::Records => joined(address, records),
        _ => joined(address, word),
    }
}

/// A value that the channels carry.
trait Message: Serialize + DeserializeOwned + Clone + 'static {
    fn sum(&self) -> u64;
}

impl Message for u64 {
    fn sum(&self) -> u64 {
        *self
    }
}

impl Message for Vec<Record> {
    fn sum(&self) -> u64 {
        black_box(self).len() as u64
    }
}

fn word() -> u64 {
    u64::from_le_bytes([FILL; 8])
}

fn waiting<M: Message>(value: fn() -> M) -> Result<Waiting, Failure> {
    let (server, name) = IpcOneShotServer::<Ends<M>>::new()?;
    Ok(Waiting::new(name, move || {
        let (_, ends) = server.accept()?;
        Ok(side(ends, value()))
    }))
}

fn joined<M: Message>(address: &str, value: fn() -> M) -> Result<Box<dyn Side>, Failure> {
    let (out, theirs) = ipc::channel()?;
    let (back, ours) = ipc::channel()?;
    let there: IpcSender<Ends<M>> = IpcSender::connect(address.to_owned())?;
    there.send((back, theirs))?;
    Ok(side((out, ours), value()))
}

fn side<M: Message>((out, back): Ends<M>, value: M) -> Box<dyn Side> {
    Box::new(Over::new(Typed { out, back, value }))
}

struct Typed<M> {
    out: IpcSender<M>,
    back: IpcReceiver<M>,
    value: M,
}

impl<M: Message> Channel for Typed<M> {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        // The sender takes ownership of the value.
        Ok(self.out.send(self.value.clone())?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        Ok(self.back.recv()?.sum())
    }
}
