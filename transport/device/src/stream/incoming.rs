//! The receive half of a stream connection.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::{BufferWriter, MessageBuffer};

use super::assembly::Assembly;
use super::broken::Broken;
use super::line::StreamSocket;
use super::{Patience, Wire};
use crate::connection::{Armed, Fault, Incoming, Interest, Payload, Whole};
use crate::deadline::Deadline;
use jstream_base::Header;
use jstream_base::Options;
use jstream_sync::watcher::Watcher;

pub(crate) struct StreamIncoming<W: Wire> {
    line: Arc<StreamSocket<W>>,
    patience: Patience,
    assembly: Assembly,
    /// The reason why nothing can be received any more.
    broken: Option<Broken>,
}

impl<W: Wire> StreamIncoming<W> {
    pub(crate) fn new(line: Arc<StreamSocket<W>>, options: &Options) -> Self {
        Self {
            line,
            patience: Patience::default(),
            assembly: Assembly::new(options.pool.clone(), options.max_message),
            broken: None,
        }
    }

    fn check(&self) -> Result<(), Fault> {
        if self.line.is_closed() {
            return Err(Fault::ClosedLocally);
        }
        self.broken.as_ref().map_or(Ok(()), |why| Err(why.fault()))
    }

    /// Records a permanent fault.
    fn remember(&mut self, fault: Fault) -> Fault {
        if self.line.is_closed() {
            return Fault::ClosedLocally;
        }
        if let Some(why) = Broken::from_fault(&fault) {
            self.broken = Some(why);
        }
        fault
    }

    /// Receives available bytes. If `until` is a deadline, blocks for the first byte until then.
    /// Returns true if bytes were received.
    fn read(
        &mut self,
        into: &mut Option<BufferWriter>,
        until: Option<Deadline>,
    ) -> Result<bool, Fault> {
        let wire = &self.line.wire;
        let patience = &mut self.patience;
        let spare = self.assembly.spare(into);
        // SAFETY: the contract of `Wire` is that it has initialised as many bytes as it returns.
        let received = unsafe {
            spare.fill(|slices| match until {
                None => wire.try_read(slices),
                Some(deadline) => wire.read(patience, deadline, slices),
            })
        };
        match received {
            Ok(Some(0)) => Err(self.remember(Fault::Lost(io::ErrorKind::UnexpectedEof.into()))),
            Ok(received) => Ok(received.is_some()),
            Err(error) => Err(self.remember(Fault::Lost(error))),
        }
    }
}

impl<W: Wire> Incoming for StreamIncoming<W> {
    fn header(&mut self) -> Result<Option<Header>, Fault> {
        self.check()?;
        let header = self.assembly.header();
        match header.map_err(|fault| self.remember(fault))? {
            None => {}
            header => return Ok(header),
        }
        if !self.read(&mut None, None)? {
            return Ok(None);
        }
        let header = self.assembly.header();
        header.map_err(|fault| self.remember(fault))
    }

    fn first_buffer(&self, length: u64) -> u64 {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.assembly.first_buffer(length) as u64
    }

    fn payload(&mut self, into: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        self.check()?;
        self.assembly.enlarge(into)?;
        if let Some(payload) = self.assembly.payload(into)? {
            return Ok(Some(Payload::Bytes(payload)));
        }
        if !self.read(into, None)? {
            return Ok(None);
        }
        Ok(self.assembly.payload(into)?.map(Payload::Bytes))
    }

    fn discard(&mut self, _: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        self.check()?;
        let nothing = || Payload::Bytes(MessageBuffer::nothing());
        if self.assembly.discard() {
            return Ok(Some(nothing()));
        }
        if !self.read(&mut None, None)? {
            return Ok(None);
        }
        Ok(self.assembly.discard().then(nothing))
    }

    fn lift_limit(&mut self) {
        self.assembly.lift_limit();
    }

    #[inline]
    fn receive(
        &mut self,
        header: &mut Header,
        payload: &mut MessageBuffer,
    ) -> Result<Whole, Fault> {
        self.check()?;
        if self.assembly.has_none() && !self.read(&mut None, None)? {
            return Ok(Whole::Nothing);
        }
        if self.assembly.take_whole(header, payload) {
            return Ok(Whole::Here);
        }
        Ok(Whole::Other)
    }

    #[inline]
    fn receive_into(
        &mut self,
        memory: &mut [u8],
        header: &mut Header,
        wants: &dyn Fn(&Header) -> bool,
    ) -> Result<Whole, Fault> {
        self.check()?;
        if self.assembly.has_none() && !self.read(&mut None, None)? {
            return Ok(Whole::Nothing);
        }
        if self.assembly.take_into(memory, header, wants) {
            return Ok(Whole::Here);
        }
        Ok(Whole::Other)
    }

    fn has_whole(&self) -> bool {
        self.broken.is_none() && self.assembly.has_whole()
    }

    fn receives_asleep(&self) -> bool {
        self.broken.is_none() && self.assembly.has_none() && self.line.wire.reads_asleep()
    }

    fn begun(&self) -> u64 {
        self.assembly.begun()
    }

    fn arm(&mut self, waker: Option<&Waker>) -> Armed {
        if self.broken.is_some() || self.line.is_closed() || self.assembly.is_ready() {
            return Armed::Ready;
        }
        self.line.wire.arm(Interest::Readable, waker)
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.line.wire.source(Interest::Readable).0
    }

    fn watch(&mut self, waker: &Waker, watcher: &Arc<Watcher>) -> io::Result<bool> {
        self.line.wire.watch(waker, watcher)
    }

    fn wait(&mut self, into: &mut Option<BufferWriter>, deadline: Deadline) -> Result<(), Fault> {
        self.check()?;
        if self.assembly.is_ready() {
            return Ok(());
        }
        if self.assembly.can_receive(into.is_some()) {
            self.read(into, Some(deadline))?;
            return Ok(());
        }
        let slept = self.line.wire.sleep(Interest::Readable, deadline);
        slept.map_err(|error| self.remember(Fault::Lost(error)))?;
        Ok(())
    }
}
