//! The send half of a stream connection.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::slice;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool};

use super::Wire;
use super::broken::Broken;
use super::gathered::Gathered;
use super::lent::Lent;
use super::line::StreamSocket;
use crate::connection::{Armed, Body, Fault, Interest, Outbound, Outgoing, Push};
use crate::deadline::Deadline;
use jstream_base::Header;
use jstream_base::Options;

/// Maximum number of slices in one call for a message with few segments, and with many. Every
/// system allows at least the latter.
const FEW: usize = 8;
const MANY: usize = 256;

/// The longest message that is copied behind its header, in bytes with header. The copy costs less
/// than the system call's handling of a list of slices.
const COPIED: usize = (8 << 10) + Header::WIRE_LENGTH;

/// Maximum number of bytes of messages that are gathered for one call.
const GATHERED: usize = 2 * COPIED;

pub(crate) struct StreamOutgoing<W: Wire> {
    line: Arc<StreamSocket<W>>,
    send_timeout: Duration,
    /// The message that is being sent, if it is small, after the gathered messages.
    gathered: Gathered,
    /// Position in the segments of the current message: the number of segments sent, and the number
    /// of bytes sent of the next one.
    at: (usize, usize),
    /// The buffer of the current message, if the wire is a second owner of it.
    lent: Option<Lent>,
    /// Source of memory for copies of lent buffers that can't be taken back.
    pool: Pool,
    /// The reason why nothing can be sent any more.
    broken: Option<Broken>,
}

impl<W: Wire> StreamOutgoing<W> {
    pub(crate) fn new(line: Arc<StreamSocket<W>>, options: &Options) -> Self {
        Self {
            line,
            send_timeout: options.send_timeout,
            gathered: Gathered::new(GATHERED),
            at: (0, 0),
            lent: None,
            pool: options.pool.clone(),
            broken: None,
        }
    }

    fn fault(&self) -> Fault {
        if self.line.is_closed() {
            return Fault::ClosedLocally;
        }
        self.broken.as_ref().map_or_else(
            || Fault::Lost(io::ErrorKind::BrokenPipe.into()),
            Broken::fault,
        )
    }

    fn failed(&mut self, error: io::Error, taken: u64) -> Fault {
        if self.line.is_closed() {
            return Fault::ClosedLocally;
        }
        let fault = if taken == 0 && error.kind() == io::ErrorKind::BrokenPipe {
            Fault::Ended
        } else {
            Fault::Lost(error)
        };
        self.broken = Broken::from_fault(&fault);
        fault
    }

    /// Sends as much of a message as the wire accepts.
    fn send(
        &mut self,
        header: Header,
        segments: &[IoSlice<'_>],
        taken: &mut u64,
    ) -> io::Result<()> {
        let head = header.to_bytes();
        let whole = usize::try_from(header.length)
            .unwrap_or(usize::MAX)
            .saturating_add(head.len());
        if whole <= COPIED {
            return self.send_small(&head, segments, taken);
        }
        if *taken == 0 && !self.send_before()? {
            return Ok(());
        }
        if segments.len() < FEW {
            self.send_slices::<FEW>(&head, segments, taken)
        } else {
            self.send_slices::<MANY>(&head, segments, taken)
        }
    }

    fn send_small(
        &mut self,
        head: &[u8],
        segments: &[IoSlice<'_>],
        taken: &mut u64,
    ) -> io::Result<()> {
        if *taken == 0 && !self.gathered.append(head, segments) {
            if !self.send_before()? {
                return Ok(());
            }
            let fits = self.gathered.append(head, segments);
            debug_assert!(fits, "there is room for more than one");
        }
        let sent = self.send_gathered();
        *taken = self.gathered.end_message();
        sent
    }

    /// Sends the gathered messages, including the current one if it is small.
    fn send_gathered(&mut self) -> io::Result<()> {
        let rest = self.gathered.rest();
        if !rest.is_empty() {
            let sent = self.line.wire.try_write(&[IoSlice::new(rest)])?;
            self.gathered.advance(sent.unwrap_or(0));
        }
        Ok(())
    }

    /// Sends the gathered messages before another message. Returns true if all of them were sent.
    fn send_before(&mut self) -> io::Result<bool> {
        let sent = self.send_gathered();
        self.gathered.end_message();
        sent?;
        Ok(self.gathered.rest().is_empty())
    }

    /// Continues to send the gathered messages as one message.
    fn push_rest(&mut self, rest: &mut Outbound<'_>) -> Result<Push, Fault> {
        if self.broken.is_some() || !(self.gathered.is_begun() || self.line.begin()) {
            return Err(self.fault());
        }
        let sent = self.send_before();
        rest.taken = self.gathered.sent();
        match sent {
            Ok(is_done) if is_done || rest.taken == 0 => {
                self.line.end_message();
                Ok(if is_done { Push::Done } else { Push::Untouched })
            }
            Ok(_) => Ok(Push::Begun),
            Err(error) => Err(self.failed(error, rest.taken)),
        }
    }

    /// Returns true if a buffer is to be lent. `taken` is the number of bytes sent, with header.
    fn is_lent(&self, jbuf: &MessageBuffer, taken: u64) -> bool {
        taken < Header::WIRE_LENGTH as u64 && self.line.wire.lends(jbuf.len())
    }

    /// Sends a message whose buffer is lent to the wire once its header was sent.
    fn send_lent(
        &mut self,
        header: Header,
        body: &mut Body<'_>,
        taken: &mut u64,
    ) -> io::Result<()> {
        if *taken == 0 && !self.send_before()? {
            return Ok(());
        }
        let wire = &self.line.wire;
        let head = header.to_bytes();
        let unsent = usize::try_from(*taken).ok().and_then(|n| head.get(n..));
        if let Some(unsent) = unsent.filter(|unsent| !unsent.is_empty()) {
            let sent = wire.try_write_more(unsent)?.unwrap_or(0);
            *taken = taken.saturating_add(sent as u64);
            if sent < unsent.len() {
                return Ok(());
            }
        }
        if let Body::Owned(jbuf) = body {
            self.lent = Some(wire.lend(std::mem::replace(jbuf, MessageBuffer::nothing())));
            *body = Body::Taken;
        }
        let Some(lent) = &self.lent else {
            unreachable!("the buffer is lent until all of it was sent")
        };
        loop {
            let at = taken.saturating_sub(head.len() as u64);
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            if at >= lent.bytes().len() {
                break;
            }
            match wire.try_write_lent(lent, at)? {
                Some(n) => *taken = taken.saturating_add(n as u64),
                None => return Ok(()),
            }
        }
        if let Some(lent) = self.lent.take() {
            wire.end_lending(lent);
        }
        Ok(())
    }

    /// Gives a failed message its buffer back, or a copy if the kernel may still read the buffer.
    fn take_back(&mut self, message: &mut Outbound<'_>) {
        let Some(mut lent) = self.lent.take() else {
            return;
        };
        let jbuf = lent.take_buffer().unwrap_or_else(|| {
            let bytes = lent.bytes();
            let empty = self.pool.take(bytes.len());
            let empty = empty.unwrap_or_else(|_| EmptyBuffer::heap(bytes.len()));
            let mut copy = empty.writer();
            let fits = copy.extend(bytes);
            debug_assert!(fits, "there is room for all of it");
            copy.finish()
        });
        self.line.wire.end_lending(lent);
        message.body = Body::Owned(jbuf);
    }

    /// Sends the segments with at most `N` slices per call.
    fn send_slices<const N: usize>(
        &mut self,
        head: &[u8],
        segments: &[IoSlice<'_>],
        taken: &mut u64,
    ) -> io::Result<()> {
        loop {
            let mut batch = [IoSlice::new(&[]); N];
            let unsent = usize::try_from(*taken).ok().and_then(|n| head.get(n..));
            let (index, offset) = self.at;
            let segments = segments.get(index..).unwrap_or_default();
            let first = segments.first().and_then(|segment| segment.get(offset..));
            let slices = unsent
                .into_iter()
                .chain(first)
                .chain(segments.iter().skip(1).map(|segment| &**segment))
                .filter(|slice| !slice.is_empty());
            let mut count = 0usize;
            let mut wanted = 0usize;
            for (place, slice) in batch.iter_mut().zip(slices) {
                *place = IoSlice::new(slice);
                count = count.saturating_add(1);
                wanted = wanted.saturating_add(slice.len());
            }
            if count == 0 {
                return Ok(());
            }
            let batch = batch.get(..count).unwrap_or_default();
            let sent = self.line.wire.try_write(batch)?.unwrap_or(0);
            *taken = taken.saturating_add(sent as u64);
            self.advance(segments, sent.saturating_sub(unsent.map_or(0, <[u8]>::len)));
            // If not everything was accepted, the wire has no more room.
            if sent < wanted {
                return Ok(());
            }
        }
    }

    /// Counts `n` more bytes of the segments as sent. `segments` begins with the next one.
    fn advance(&mut self, segments: &[IoSlice<'_>], mut n: usize) {
        for segment in segments {
            let left = segment.len().saturating_sub(self.at.1);
            if n < left {
                self.at.1 = self.at.1.saturating_add(n);
                return;
            }
            n = n.saturating_sub(left);
            self.at = (self.at.0.saturating_add(1), 0);
        }
    }
}

// SAFETY: The wire reads borrowed memory only during a call. Buffers that the kernel reads later
// are owned by `lent` meanwhile.
unsafe impl<W: Wire> Outgoing for StreamOutgoing<W> {
    fn push(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault> {
        if self.broken.is_some() {
            return Err(self.fault());
        }
        if let (Body::Taken, None) = (&message.body, &self.lent) {
            return self.push_rest(message);
        }
        if message.taken == 0 {
            if !self.gathered.is_begun() && !self.line.begin() {
                return Err(self.fault());
            }
            self.at = (0, 0);
        }
        let Outbound {
            header,
            body,
            taken,
            ..
        } = message;
        let sent = match body {
            Body::Owned(jbuf) if self.is_lent(jbuf, *taken) => self.send_lent(*header, body, taken),
            Body::Taken if self.lent.is_some() => self.send_lent(*header, body, taken),
            Body::Borrowed(segments) => self.send(*header, segments, taken),
            Body::Owned(filled) => {
                // The message may have had several segments when it was begun.
                let taken_of_it = taken.saturating_sub(Header::WIRE_LENGTH as u64);
                self.at = (0, usize::try_from(taken_of_it).unwrap_or(usize::MAX));
                let segment = IoSlice::new(filled.as_bytes());
                self.send(*header, slice::from_ref(&segment), taken)
            }
            Body::Object(_) | Body::Taken => {
                unreachable!("only devices that move objects get objects")
            }
        };
        if let Err(error) = sent {
            self.take_back(message);
            return Err(self.failed(error, message.taken));
        }
        let whole = (Header::WIRE_LENGTH as u64).saturating_add(message.header.length);
        Ok(if message.taken >= whole {
            self.line.end_message();
            Push::Done
        } else if message.taken > 0 {
            Push::Begun
        } else {
            if !self.gathered.is_begun() {
                self.line.end_message();
            }
            Push::Untouched
        })
    }

    fn gathers(&self) -> bool {
        true
    }

    fn gather(&mut self, header: Header, segments: &[IoSlice<'_>]) -> bool {
        let is_open = self.broken.is_none() && !self.line.is_closed();
        let is_small = header.length <= (COPIED - Header::WIRE_LENGTH) as u64;
        is_open && is_small && self.gathered.keep(&header.to_bytes(), segments)
    }

    fn flush(&mut self) -> Result<Option<Outbound<'static>>, Fault> {
        if self.gathered.rest().is_empty() {
            return Ok(None);
        }
        let mut rest = Outbound {
            header: Header::default(),
            body: Body::Taken,
            is_exchange: false,
            taken: 0,
        };
        let length = self.gathered.len().saturating_sub(Header::WIRE_LENGTH);
        rest.header.length = length as u64;
        let pushed = self.push_rest(&mut rest)?;
        Ok((pushed != Push::Done).then_some(rest))
    }

    fn abandon(&mut self, message: &mut Outbound<'_>) {
        // A buffer that the kernel has not copied belongs to the wire.
        self.take_back(message);
        if message.taken > 0 && self.broken.is_none() {
            self.broken = Some(Broken::Lost(io::ErrorKind::ConnectionAborted));
            self.line.wire.end_sending();
        }
    }

    fn finish(&mut self, deadline: Deadline) -> bool {
        self.line.finish_sending(deadline)
    }

    fn arm(&mut self, waker: Option<&Waker>) -> Armed {
        if self.broken.is_some() || self.line.is_closed() {
            return Armed::Ready;
        }
        self.line.wire.arm(Interest::Writable, waker)
    }

    fn source(&self) -> (BorrowedFd<'_>, Interest) {
        self.line.wire.source(Interest::Writable)
    }

    fn wait(&mut self, deadline: Deadline) -> Result<(), Fault> {
        if self.broken.is_some() || self.line.is_closed() {
            return Ok(());
        }
        let slept = self.line.wire.sleep(Interest::Writable, deadline);
        slept.map_err(|error| self.failed(error, 1))?;
        Ok(())
    }
}

impl<W: Wire> Drop for StreamOutgoing<W> {
    fn drop(&mut self) {
        let _ = self.flush();
        self.line.end_sending(self.send_timeout);
    }
}
