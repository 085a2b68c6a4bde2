//! The receive half.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use jstream::buffer::{BufferWriter, MessageBuffer, Pool};

use super::broken::Broken;
use super::copy::{PREFETCHED, copy_out, get_words, prefetch, uninit, words_out};
use super::line::{HalfEvent, ShmConnection};
use super::mapping::Control;
use super::outgoing::LOOKS;
use super::ranges::Ranges;
use super::remote::Remote;
use super::ring::{Consumer, HEADER_WORDS, Kind, SlotMark, malformed};
use super::trusted::TrustedInbox;
use crate::connection::{Armed, Fault, Incoming, Interest, Payload, Whole};
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use jstream_base::Header;
use jstream_base::HeaderError;

/// The receive half of a connection.
pub(super) struct ShmIncoming {
    line: Arc<ShmConnection>,
    ring: Consumer,
    /// The peer's outbox, if the peer leaves messages in place.
    inbox: Option<TrustedInbox>,
    pool: Pool,
    max_message: u64,
    message: Option<BegunMessage>,
    ranges: Ranges,
    broken: Option<Broken>,
    looks: u32,
    /// True if the peer's process has ended or has closed its sockets of the connection.
    hung_up: bool,
}

/// Result of checking the ring for a short message.
enum RingCheck {
    /// A valid message of a single piece.
    Short(SlotMark),
    Nothing,
    /// A message of another form, an invalid message, or the end.
    Other,
}

/// A message whose header was returned.
#[derive(Debug, Clone, Copy)]
struct BegunMessage {
    header: Header,
    length: usize,
    /// A published slot of the message that was not copied yet.
    mark: Option<SlotMark>,
    received: usize,
}

impl ShmIncoming {
    pub(super) fn new(
        line: Arc<ShmConnection>,
        ring: Consumer,
        remote: Option<Remote>,
        pool: Pool,
        max_message: u64,
    ) -> Self {
        Self {
            line,
            ring,
            inbox: None,
            pool,
            max_message,
            message: None,
            ranges: Ranges::new(remote),
            broken: None,
            looks: 0,
            hung_up: false,
        }
    }

    /// Adds the peer's outbox, in which it may leave messages.
    pub(super) fn with_inbox(mut self, inbox: Option<TrustedInbox>) -> Self {
        self.inbox = inbox;
        self
    }

    #[cold]
    fn fail<T>(&mut self, broken: impl Into<Broken>) -> Result<T, Fault> {
        let broken = broken.into();
        self.broken = Some(broken);
        Err(broken.fault())
    }

    #[inline]
    fn standing(&self) -> Result<(), Fault> {
        if self.line.is_closed() {
            return Err(Fault::ClosedLocally);
        }
        match self.broken {
            Some(broken) => Err(broken.fault()),
            None => Ok(()),
        }
    }

    fn is_set(&self, word: Control) -> bool {
        self.ring.lane().control(word).load(Ordering::Acquire) != 0
    }

    /// Returns the mark of the next published slot. After many calls without result, checks whether
    /// the peer is still there.
    #[inline]
    fn next(&mut self) -> Result<Option<SlotMark>, Fault> {
        match self.ring.next() {
            Ok(Some(mark)) => Ok(Some(mark)),
            Ok(None) => self.nothing(),
            Err(error) => self.fail(error),
        }
    }

    #[inline]
    fn nothing(&mut self) -> Result<Option<SlotMark>, Fault> {
        self.looks = self.looks.wrapping_add(1);
        let ended = self.is_set(Control::Ended) || self.is_set(Control::Abandoned);
        if !ended && !self.hung_up && self.looks % LOOKS != 0 {
            return Ok(None);
        }
        self.check_end(ended)
    }

    /// Checks the ring once more after it is known whether the peer has `ended` or is gone.
    #[cold]
    fn check_end(&mut self, ended: bool) -> Result<Option<SlotMark>, Fault> {
        if !ended && !self.hung_up {
            self.hung_up = !self.line.drain(HalfEvent::Published);
            if !self.hung_up {
                return Ok(None);
            }
        }
        // Messages that were published before the end are still received.
        match self.ring.next() {
            Ok(Some(mark)) => Ok(Some(mark)),
            Ok(None) => {
                let abandoned = self.is_set(Control::Abandoned);
                let broken = match &self.message {
                    _ if abandoned => Broken::Lost(io::ErrorKind::UnexpectedEof),
                    _ if !self.is_set(Control::Ended) => {
                        Broken::Lost(io::ErrorKind::ConnectionReset)
                    }
                    None => Broken::Ended,
                    Some(_) => Broken::Lost(io::ErrorKind::UnexpectedEof),
                };
                self.fail(broken)
            }
            Err(error) => self.fail(error),
        }
    }

    /// Prefetches the data that is copied next.
    #[inline]
    fn expect(&self, mark: SlotMark) {
        if mark.kind == Kind::Data && mark.n <= PREFETCHED {
            let data = self.ring.lane().data(self.ring.data_at(mark), mark.n);
            data.into_iter().for_each(prefetch);
        }
    }

    /// Reads the header in the current slot.
    #[inline]
    fn peek(&self) -> Result<Header, HeaderError> {
        let words = self.ring.slot().get(HEADER_WORDS);
        let words: [u64; Header::WIRE_LENGTH / 8] = get_words(words.unwrap_or_default());
        Header::from_bytes(&zerocopy::transmute!(words))
    }

    /// Reads and checks the header of a message.
    #[inline]
    fn begin(&mut self, mark: SlotMark) -> Result<Header, Fault> {
        self.expect(mark);
        let header = match self.peek() {
            Ok(header) => header,
            Err(error) => return self.fail(error),
        };
        let length = match usize::try_from(header.length) {
            Ok(length) if header.length <= self.max_message => length,
            _ => {
                return self.fail(Broken::TooLarge {
                    length: header.length,
                });
            }
        };
        let fits = match mark.kind {
            Kind::Inline => mark.n == length,
            Kind::Data => mark.n <= length && mark.n > 0,
            Kind::More => false,
            Kind::Placed => mark.n == 0 && self.inbox.is_some(),
            Kind::Ranges | Kind::List => {
                if let Err(error) = self.ranges.list(&self.ring, mark, length) {
                    return self.fail(error);
                }
                true
            }
        };
        if !fits {
            return self.fail(malformed("count of bytes", mark.n as u64));
        }
        self.message = Some(BegunMessage {
            header,
            length,
            mark: Some(mark),
            received: 0,
        });
        Ok(header)
    }

    /// Reads the header of the next message if it is a valid message of a single piece with at most
    /// `longest` bytes. For all other messages, the caller falls back to
    /// [`header`](Incoming::header). The header is written to the destination directly: if it were
    /// returned, it would be copied by loads that stall on the stores just before them.
    #[inline]
    fn short(&mut self, longest: usize, header: &mut Header) -> RingCheck {
        if self.message.is_some() || self.line.is_closed() || self.broken.is_some() {
            return RingCheck::Other;
        }
        let mark = match self.ring.next() {
            Ok(Some(mark)) => mark,
            Ok(None) => {
                return match self.nothing() {
                    Ok(None) => RingCheck::Nothing,
                    Ok(Some(_)) | Err(_) => RingCheck::Other,
                };
            }
            Err(_) => return RingCheck::Other,
        };
        if !matches!(mark.kind, Kind::Inline | Kind::Data) || mark.n > longest {
            return RingCheck::Other;
        }
        self.expect(mark);
        let length = mark.n as u64;
        match self.peek() {
            Ok(found) => *header = found,
            Err(_) => return RingCheck::Other,
        }
        let is_whole = header.op() == 0 && header.length == length && length <= self.max_message;
        let is_empty = mark.kind == Kind::Data && mark.n == 0;
        if is_whole && !is_empty {
            RingCheck::Short(mark)
        } else {
            RingCheck::Other
        }
    }

    /// Copies the payload bytes of a slot or of its data, as far as `to` has room. Returns their
    /// number.
    #[inline]
    fn copy(&self, mark: SlotMark, to: &mut [MaybeUninit<u8>]) -> usize {
        let to = to.get_mut(..mark.n).unwrap_or_default();
        if mark.kind != Kind::Inline {
            return self.copy_data(mark, to);
        }
        let words = self.ring.slot().get(HEADER_WORDS.end..);
        words_out(to, words.unwrap_or_default())
    }

    #[inline(never)]
    fn copy_data(&self, mark: SlotMark, to: &mut [MaybeUninit<u8>]) -> usize {
        let [from, at_front] = self.ring.lane().data(self.ring.data_at(mark), mark.n);
        let n = copy_out(to, from);
        let rest = to.get_mut(n..).unwrap_or_default();
        n.wrapping_add(copy_out(rest, at_front))
    }

    #[inline]
    fn release(&mut self, mark: SlotMark) {
        if self.ring.release(mark) {
            self.line.ring(HalfEvent::Consumed);
        }
    }

    /// Copies the published pieces of a message, or drops them if there is no buffer. Returns true
    /// if the message is complete.
    fn receive_more(
        &mut self,
        begun: &mut BegunMessage,
        mut filling: Option<&mut BufferWriter>,
    ) -> Result<bool, Fault> {
        loop {
            let mark = match begun.mark {
                Some(mark) => mark,
                None => match self.next()? {
                    None => return Ok(false),
                    Some(mark) => {
                        let rest = begun.length.wrapping_sub(begun.received);
                        if mark.kind != Kind::More || mark.n == 0 || mark.n > rest {
                            return self.fail(malformed("count of bytes", mark.n as u64));
                        }
                        mark
                    }
                },
            };
            begun.mark = Some(mark);
            match (mark.kind, filling.as_deref_mut()) {
                (Kind::Inline | Kind::Data | Kind::More, filling) => {
                    if let Some(filling) = filling {
                        let n = self.copy(mark, filling.rest_mut());
                        // SAFETY: `copy` initialised the first `n` free bytes.
                        unsafe { filling.advance(n) };
                    }
                    begun.received = begun.received.wrapping_add(mark.n);
                }
                // `receive_placed` has received such a message; this slot is unexpected here.
                (Kind::Placed, _) => return self.fail(malformed("slot", mark.n as u64)),
                // The payload stays in the peer's memory.
                (Kind::Ranges | Kind::List, None) => begun.received = begun.length,
                (Kind::Ranges | Kind::List, Some(filling)) => {
                    let n = match self.ranges.read(self.ring.lane(), filling) {
                        Ok(n) => n,
                        Err(kind) => return self.fail(Broken::Lost(kind)),
                    };
                    begun.received = begun.received.wrapping_add(n);
                    if begun.received < begun.length {
                        return Ok(false);
                    }
                }
            }
            begun.mark = None;
            self.release(mark);
            if begun.received >= begun.length {
                return Ok(true);
            }
        }
    }

    /// Receives a message in place, in the peer's outbox.
    #[inline]
    fn receive_placed(
        &mut self,
        begun: &BegunMessage,
        mark: SlotMark,
    ) -> Result<MessageBuffer, Fault> {
        let words = self.ring.slot().get(HEADER_WORDS.end..);
        let spot = get_words(words.unwrap_or_default());
        let message = match &self.inbox {
            Some(inbox) => inbox.message(spot, begun.length),
            None => Err(malformed("slot", mark.n as u64)),
        };
        match message {
            Ok(message) => {
                self.release(mark);
                self.message = None;
                Ok(message)
            }
            Err(error) => self.fail(error),
        }
    }
}

impl Incoming for ShmIncoming {
    #[inline]
    fn header(&mut self) -> Result<Option<Header>, Fault> {
        self.standing()?;
        if let Some(begun) = &self.message {
            return Ok(Some(begun.header));
        }
        match self.next()? {
            Some(mark) => self.begin(mark).map(Some),
            None => Ok(None),
        }
    }

    fn payload(&mut self, into: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        self.standing()?;
        let Some(mut begun) = self.message else {
            return Ok(None);
        };
        if let Some(mark) = begun.mark.filter(|mark| mark.kind == Kind::Placed) {
            let message = self.receive_placed(&begun, mark)?;
            *into = None;
            return Ok(Some(Payload::Bytes(message)));
        }
        let mut filling = match into.take() {
            Some(filling) => filling,
            None => match self.pool.take(begun.length) {
                Ok(empty) => empty.writer(),
                Err(source) => {
                    return Err(Fault::NoBuffer {
                        length: begun.header.length,
                        source,
                    });
                }
            },
        };
        match self.receive_more(&mut begun, Some(&mut filling)) {
            Ok(true) => {
                self.message = None;
                Ok(Some(Payload::Bytes(filling.finish())))
            }
            unfinished => {
                self.message = Some(begun);
                *into = Some(filling);
                unfinished.map(|_| None)
            }
        }
    }

    fn discard(&mut self, _: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        self.standing()?;
        let Some(mut begun) = self.message else {
            return Ok(None);
        };
        if let Some(mark) = begun.mark.filter(|mark| mark.kind == Kind::Placed) {
            let message = self.receive_placed(&begun, mark)?;
            return Ok(Some(Payload::Bytes(message)));
        }
        let received = self.receive_more(&mut begun, None);
        let is_whole = matches!(received, Ok(true));
        self.message = Some(begun).filter(|_| !is_whole);
        received.map(|is_whole| is_whole.then(|| Payload::Bytes(MessageBuffer::nothing())))
    }

    fn lift_limit(&mut self) {
        self.max_message = u64::MAX;
    }

    #[inline]
    fn receive(
        &mut self,
        header: &mut Header,
        payload: &mut MessageBuffer,
    ) -> Result<Whole, Fault> {
        let mark = match self.short(usize::MAX, header) {
            RingCheck::Short(mark) => mark,
            RingCheck::Nothing => return Ok(Whole::Nothing),
            RingCheck::Other => return Ok(Whole::Other),
        };
        // An empty payload needs no buffer.
        if mark.n == 0 {
            *payload = MessageBuffer::nothing();
        } else {
            let Ok(empty) = self.pool.take(mark.n) else {
                return Ok(Whole::Other);
            };
            let mut filling = empty.writer();
            let n = self.copy(mark, filling.rest_mut());
            // SAFETY: `copy` initialised the first `n` free bytes.
            unsafe { filling.advance(n) };
            *payload = filling.finish();
        }
        self.release(mark);
        Ok(Whole::Here)
    }

    #[inline]
    fn receive_into(
        &mut self,
        memory: &mut [u8],
        header: &mut Header,
        wants: &dyn Fn(&Header) -> bool,
    ) -> Result<Whole, Fault> {
        let mark = match self.short(memory.len(), header) {
            RingCheck::Short(mark) if wants(header) => mark,
            RingCheck::Nothing => return Ok(Whole::Nothing),
            RingCheck::Short(_) | RingCheck::Other => return Ok(Whole::Other),
        };
        // SAFETY: `copy` writes only initialised bytes, which were read from shared memory.
        let memory = unsafe { uninit(memory) };
        self.copy(mark, memory);
        self.release(mark);
        Ok(Whole::Here)
    }

    fn begun(&self) -> u64 {
        let header = Header::WIRE_LENGTH as u64;
        let received = self.message.as_ref().map(|begun| begun.received as u64);
        received.map_or(0, |received| received.saturating_add(header))
    }

    fn arm(&mut self, _: Option<&Waker>) -> Armed {
        if self.standing().is_err() || self.message.is_some_and(|begun| begun.mark.is_some()) {
            return Armed::Ready;
        }
        if !self.line.drain(HalfEvent::Published) {
            self.hung_up = true;
            return Armed::Ready;
        }
        if self.ring.arm() || self.is_set(Control::Ended) || self.is_set(Control::Abandoned) {
            return Armed::Ready;
        }
        Armed::Source
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.line.source(HalfEvent::Published)
    }

    fn wait(&mut self, _: &mut Option<BufferWriter>, deadline: Deadline) -> Result<(), Fault> {
        if self.arm(None) == Armed::Source {
            let source = (self.source(), Interest::Readable);
            if let Err(error) = sleep_on([source], deadline) {
                return self.fail(Broken::Lost(error.kind()));
            }
        }
        Ok(())
    }
}

impl Drop for ShmIncoming {
    fn drop(&mut self) {
        let gone = self.ring.lane().control(Control::Gone);
        gone.store(1, Ordering::Release);
        self.line.ring(HalfEvent::Consumed);
    }
}
