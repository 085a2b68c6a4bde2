//! The half that receives.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use jstream::buffer::{Filled, Filling, Pool};

use super::copy::{PREFETCHED, copy_out, get_words, prefetch, words_out};
use super::line::{Bell, Line};
use super::mapping::Control;
use super::outgoing::{Broken, LOOKS};
use super::remote::{MOST_RANGES, Range, Remote};
use super::ring::{Consumer, HEADER_WORDS, INLINE, Kind, Mark, SLOT_RANGES, malformed};
use super::signal;
use super::trusted::Inbox;
use crate::device::connection::{Armed, Fault, Incoming, Interest, Payload};
use crate::device::deadline::Deadline;
use crate::device::poll::sleep_on;
use crate::header::Header;

/// How many bytes are copied out of the peer's memory in one call: about a millisecond.
const MOST_AT_ONCE: usize = 16 << 20;

/// The half of a connection that receives.
pub(super) struct ShmIncoming {
    line: Arc<Line>,
    ring: Consumer,
    /// The peer, where its memory can be read.
    remote: Option<Remote>,
    /// Where the peer leaves messages.
    inbox: Option<Inbox>,
    pool: Pool,
    max_message: u64,
    message: Option<Begun>,
    ranges: Ranges,
    broken: Option<Broken>,
    looks: u32,
    /// Whether the peer's process has ended, or all that it has of the connection.
    hung_up: bool,
}

/// A message whose header was given.
#[derive(Debug, Clone, Copy)]
struct Begun {
    header: Header,
    length: usize,
    /// What is published of it and was not copied yet.
    mark: Option<Mark>,
    received: usize,
}

/// What is left to be read of the peer's memory. Each was checked.
#[derive(Debug, Default)]
struct Ranges {
    all: Vec<Range>,
    /// How many were read wholly.
    done: usize,
    /// For one call.
    now: Vec<Range>,
}

impl ShmIncoming {
    pub(super) fn new(
        line: Arc<Line>,
        ring: Consumer,
        remote: Option<Remote>,
        pool: Pool,
        max_message: u64,
    ) -> Self {
        Self {
            line,
            ring,
            remote,
            inbox: None,
            pool,
            max_message,
            message: None,
            ranges: Ranges::default(),
            broken: None,
            looks: 0,
            hung_up: false,
        }
    }

    /// The same, where the peer may leave messages.
    pub(super) fn with_inbox(mut self, inbox: Option<Inbox>) -> Self {
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

    /// What is published next. Looks now and then whether the peer is still there.
    #[inline]
    fn next(&mut self) -> Result<Option<Mark>, Fault> {
        match self.ring.next() {
            Ok(Some(mark)) => Ok(Some(mark)),
            Ok(None) => self.nothing(),
            Err(error) => self.fail(error),
        }
    }

    fn nothing(&mut self) -> Result<Option<Mark>, Fault> {
        self.looks = self.looks.wrapping_add(1);
        let ended = self.is_set(Control::Ended) || self.is_set(Control::Abandoned);
        if !ended && !self.hung_up {
            if self.looks % LOOKS != 0 {
                return Ok(None);
            }
            self.hung_up = !self.line.drain(Bell::Published);
            if !self.hung_up {
                return Ok(None);
            }
        }
        // What was published before that is still received.
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

    #[inline]
    fn begin(&mut self, mark: Mark) -> Result<Header, Fault> {
        if mark.kind == Kind::Data && mark.n <= PREFETCHED {
            let data = self.ring.lane().data(self.ring.data_at(mark), mark.n);
            data.into_iter().for_each(prefetch);
        }
        let words = self.ring.slot().get(HEADER_WORDS);
        let words: [u64; Header::WIRE_LENGTH / 8] = get_words(words.unwrap_or_default());
        let header = match Header::from_bytes(&zerocopy::transmute!(words)) {
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
                if let Err(error) = self.list(mark, length) {
                    return self.fail(error);
                }
                true
            }
        };
        if !fits {
            return self.fail(malformed("count of bytes", mark.n as u64));
        }
        self.message = Some(Begun {
            header,
            length,
            mark: Some(mark),
            received: 0,
        });
        Ok(header)
    }

    /// Copies the list of ranges, and checks it.
    fn list(&mut self, mark: Mark, length: usize) -> Result<(), crate::error::HeaderError> {
        let Ranges { all, done, .. } = &mut self.ranges;
        (*done, _) = (0, all.clear());
        let inside = mark.kind == Kind::Ranges;
        let most = if inside { SLOT_RANGES } else { MOST_RANGES };
        if self.remote.is_none() || mark.n == 0 || mark.n > most {
            return Err(malformed("count of ranges", mark.n as u64));
        }
        let mut total = 0_u64;
        let mut words = [MaybeUninit::<u8>::uninit(); INLINE];
        let slot = self.ring.slot().get(HEADER_WORDS.end..);
        if inside {
            words_out(&mut words, slot.unwrap_or_default());
        }
        for number in 0..mark.n {
            let mut range = [MaybeUninit::new(0_u8); 16];
            let at = number.wrapping_mul(16);
            if inside {
                let from = words.get(at..at.wrapping_add(16)).unwrap_or_default();
                for (to, from) in range.iter_mut().zip(from) {
                    *to = *from;
                }
            } else {
                let place = self.ring.data_at(mark).wrapping_add(at as u64);
                let [from, _] = self.ring.lane().data(place, 16);
                copy_out(&mut range, from);
            }
            // SAFETY: it was initialised at first, and then overwritten by bytes that were copied.
            let range = range.map(|byte| unsafe { byte.assume_init() });
            let word = |at: usize| {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(range.get(at..at.wrapping_add(8)).unwrap_or(&[0; 8]));
                u64::from_ne_bytes(bytes)
            };
            let (address, bytes) = (word(0), word(8));
            total = match total.checked_add(bytes) {
                Some(total) if bytes > 0 => total,
                _ => return Err(malformed("length of a range", bytes)),
            };
            all.push((address, bytes));
        }
        if total != length as u64 {
            return Err(malformed("length of all ranges", total));
        }
        Ok(())
    }

    #[inline]
    fn release(&mut self, mark: Mark) {
        if self.ring.release(mark) {
            self.line.ring(Bell::Consumed);
        }
    }

    /// Copies what is published. Whether the message is complete.
    fn receive(&mut self, begun: &mut Begun, filling: &mut Filling) -> Result<bool, Fault> {
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
            match mark.kind {
                Kind::Inline => {
                    let rest = filling.rest_mut().get_mut(..mark.n).unwrap_or_default();
                    let words = self.ring.slot().get(HEADER_WORDS.end..);
                    let n = words_out(rest, words.unwrap_or_default());
                    // SAFETY: so many bytes of what is free were initialised.
                    unsafe { filling.advance(n) };
                    begun.received = begun.received.wrapping_add(mark.n);
                }
                Kind::Data | Kind::More => {
                    for from in self.ring.lane().data(self.ring.data_at(mark), mark.n) {
                        let n = copy_out(filling.rest_mut(), from);
                        // SAFETY: so many bytes of what is free were initialised.
                        unsafe { filling.advance(n) };
                    }
                    begun.received = begun.received.wrapping_add(mark.n);
                }
                // It was received as it is.
                Kind::Placed => return self.fail(malformed("slot", mark.n as u64)),
                Kind::Ranges | Kind::List => {
                    if !self.receive_remote(begun, filling)? {
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

    /// Takes a message as it stands in the peer's outbox.
    #[inline]
    fn receive_placed(&mut self, begun: &Begun, mark: Mark) -> Result<Filled, Fault> {
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

    /// Copies the next part out of the peer's memory. Whether that was the last.
    fn receive_remote(&mut self, begun: &mut Begun, filling: &mut Filling) -> Result<bool, Fault> {
        let n = self.ranges.take(MOST_AT_ONCE);
        let copied = match (&mut self.remote, filling.rest_mut().get_mut(..n)) {
            (Some(remote), Some(to)) => {
                let lane = self.ring.lane();
                let copying = lane.control(Control::Copying);
                let abandoned = lane.control(Control::Abandoned);
                let read = || remote.read(&self.ranges.now, to);
                match signal::borrow(copying, abandoned, read) {
                    None => Err(io::ErrorKind::UnexpectedEof),
                    // It has gone, and its memory with it.
                    Some(Err(error)) if error.raw_os_error() == Some(libc::ESRCH) => {
                        Err(io::ErrorKind::ConnectionReset)
                    }
                    Some(copied) => copied.map_err(|error| error.kind()),
                }
            }
            _ => Err(io::ErrorKind::InvalidInput),
        };
        if let Err(kind) = copied {
            return self.fail(Broken::Lost(kind));
        }
        // SAFETY: the peer's memory was copied to all of the first `n` bytes that were free.
        unsafe { filling.advance(n) };
        begun.received = begun.received.wrapping_add(n);
        Ok(begun.received >= begun.length)
    }
}

impl Ranges {
    /// Chooses what is read next, at most about so many bytes of it; how many these are.
    fn take(&mut self, most: usize) -> usize {
        self.now.clear();
        let mut left = most as u64;
        while let Some((address, length)) = self.all.get_mut(self.done) {
            let n = (*length).min(left);
            if n == 0 {
                break;
            }
            self.now.push((*address, n));
            left = left.wrapping_sub(n);
            *address = address.wrapping_add(n);
            *length = length.wrapping_sub(n);
            if *length > 0 {
                break;
            }
            self.done = self.done.wrapping_add(1);
        }
        most.wrapping_sub(usize::try_from(left).unwrap_or_default())
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

    fn payload(&mut self, into: &mut Option<Filling>) -> Result<Option<Payload>, Fault> {
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
                Ok(spent) => spent.filling(),
                Err(source) => {
                    return Err(Fault::NoBuffer {
                        length: begun.header.length,
                        source,
                    });
                }
            },
        };
        match self.receive(&mut begun, &mut filling) {
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

    fn begun(&self) -> u64 {
        let header = Header::WIRE_LENGTH as u64;
        let received = self.message.as_ref().map(|begun| begun.received as u64);
        received.map_or(0, |received| received.saturating_add(header))
    }

    fn arm(&mut self, _: Option<&Waker>) -> Armed {
        if self.standing().is_err() || self.message.is_some_and(|begun| begun.mark.is_some()) {
            return Armed::Ready;
        }
        if !self.line.drain(Bell::Published) {
            self.hung_up = true;
            return Armed::Ready;
        }
        if self.ring.arm() || self.is_set(Control::Ended) || self.is_set(Control::Abandoned) {
            return Armed::Ready;
        }
        Armed::Source
    }

    fn source(&self) -> BorrowedFd<'_> {
        self.line.source(Bell::Published)
    }

    fn wait(&mut self, _: &mut Option<Filling>, deadline: Deadline) -> Result<(), Fault> {
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
        self.line.ring(Bell::Consumed);
    }
}
