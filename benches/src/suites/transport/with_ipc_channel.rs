//! The ipc-channel crate, one channel in each direction.

use std::hint::black_box;

use ipc_channel::ipc::{self, IpcOneShotServer, IpcReceiver, IpcSender};
use serde::{Deserialize, Serialize};

use super::case::RECORDS;
use super::pair::Waiting;
use super::side::{Channel, Over, Side};
use crate::Failure;

/// A record as jstream's has it.
#[derive(Serialize, Deserialize)]
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

/// What whoever waits is given by the other side.
type Ends = (IpcSender<Vec<Record>>, IpcReceiver<Vec<Record>>);

pub(super) fn serve() -> Result<Waiting, Failure> {
    let (server, name) = IpcOneShotServer::<Ends>::new()?;
    Ok(Waiting::new(name, move || {
        let (_, ends) = server.accept()?;
        Ok(side(ends))
    }))
}

pub(super) fn join(address: &str) -> Result<Box<dyn Side>, Failure> {
    let (out, theirs) = ipc::channel()?;
    let (back, ours) = ipc::channel()?;
    let there: IpcSender<Ends> = IpcSender::connect(address.to_owned())?;
    there.send((back, theirs))?;
    Ok(side((out, ours)))
}

fn side((out, back): Ends) -> Box<dyn Side> {
    let value = records();
    Box::new(Over::new(Typed { out, back, value }))
}

struct Typed {
    out: IpcSender<Vec<Record>>,
    back: IpcReceiver<Vec<Record>>,
    value: Vec<Record>,
}

impl Channel for Typed {
    fn send(&mut self, _fill: Option<u8>) -> Result<(), Failure> {
        // It takes what it sends, so it is made anew, as whoever has it no longer would.
        let value = self.value.iter().map(|record| Record {
            id: record.id,
            name: record.name.clone(),
            scores: record.scores.clone(),
        });
        Ok(self.out.send(value.collect())?)
    }

    fn recv(&mut self, _look: bool) -> Result<u64, Failure> {
        let received = self.back.recv()?;
        Ok(black_box(&received).len() as u64)
    }
}
