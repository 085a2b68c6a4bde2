//! Many sockets, which one side serves with epoll as they become readable.

use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use super::spin;
use super::stream::{Stream, prepared};
use crate::Failure;
use crate::measure::since;
use crate::suites::transport::case::{Case, Pattern, Work};
use crate::suites::transport::pair::Waiting;
use crate::suites::transport::side::{Channel, Samples, Side};

/// Listens, and accepts all connections of the case.
pub(crate) fn serve(case: &Case) -> Result<Waiting, Failure> {
    let case = *case;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    Ok(Waiting::new(address, move || {
        Ok(Box::new(Many::new(&case, || Ok(listener.accept()?.0))?))
    }))
}

/// Opens all connections of the case.
pub(crate) fn join(case: &Case, address: &str) -> Result<Many, Failure> {
    Many::new(case, || Ok(TcpStream::connect(address)?))
}

/// One side of many connections.
pub(crate) struct Many {
    streams: Vec<Stream<TcpStream>>,
    epoll: std::os::fd::OwnedFd,
    ready: Vec<epoll::Event>,
    /// True if the side spins and never sleeps.
    spins: bool,
    samples: Samples,
}

impl Many {
    fn new(
        case: &Case,
        mut socket: impl FnMut() -> Result<TcpStream, Failure>,
    ) -> Result<Self, Failure> {
        let Pattern::Connections(count) = case.pattern else {
            return Err(format!("{} has one connection", case.name).into());
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut streams = Vec::with_capacity(count);
        for i in 0..count {
            let socket = prepared(case, socket()?)?;
            let place = epoll::EventData::new_u64(i as u64);
            epoll::add(&epoll, &socket, place, epoll::EventFlags::IN)?;
            streams.push(Stream::new(socket, case.bytes));
        }
        Ok(Self {
            streams,
            epoll,
            ready: Vec::with_capacity(count),
            spins: case.spins,
            samples: Samples::default(),
        })
    }

    /// Waits for readable streams and puts their events into `ready`.
    fn wait(&mut self) -> Result<(), Failure> {
        let at_once = self.spins.then(Timespec::default);
        spin(|| {
            self.ready.clear();
            epoll::wait(
                &self.epoll,
                spare_capacity(&mut self.ready),
                at_once.as_ref(),
            )?;
            Ok((!self.ready.is_empty()).then_some(()))
        })
    }

    /// Receives from `count` streams in the order in which they become readable, and answers each
    /// if `answer`.
    fn serve(&mut self, count: usize, answer: bool) -> Result<(), Failure> {
        let mut served = 0;
        while served < count {
            self.wait()?;
            for event in &self.ready {
                let index = event.data.u64() as usize;
                let stream = self.streams.get_mut(index).ok_or("no such connection")?;
                stream.recv(true)?;
                if answer {
                    stream.send(None)?;
                }
                served += 1;
            }
        }
        Ok(())
    }
}

impl Side for Many {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        self.samples.begin(work.batches + 1);
        for _ in 0..=work.batches {
            let start = Instant::now();
            for _ in 0..work.batch {
                for stream in &mut self.streams {
                    stream.send(None)?;
                }
                self.serve(self.streams.len(), false)?;
            }
            self.samples.push(since(start, work.batch * work.share()));
        }
        Ok(self.samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        self.serve(work.exchanges() * self.streams.len(), true)
    }
}
