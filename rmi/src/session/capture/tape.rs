//! The capture file of one connection, filled from its messages.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jstream::capture;
use jstream::capture::{Direction, Kind, Message, Method, Record, Start, encode, encode_message};
use jstream_active::{Tap, Tapped, TappedKind};

use crate::frame::{CALLS, CallHeader};
use crate::interface::Interface;
use crate::session::capture::capturing::{Capturing, MOST_METHODS};
use crate::support::lock;

/// Files of a capture.
impl Capturing {
    /// Creates the file of a connection.
    pub(crate) fn tape(&self, peer: String) -> Arc<Tape> {
        Arc::new(Tape::new(self.clone(), peer))
    }
}

/// Writer of the capture file of one connection.
pub(crate) struct Tape {
    to: Capturing,
    /// Number of the file.
    file: u64,
    began: Instant,
    /// Index of the handler of calls at this side and at the other side.
    calls: OnceLock<[Option<u16>; 2]>,
    /// Interface ids of the methods that are already described.
    described: Mutex<BTreeMap<(bool, u32, u16), u64>>,
}

impl Tape {
    pub(super) fn new(to: Capturing, peer: String) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = since.map_or(0, |since| since.as_nanos());
        let mut bytes = capture::start();
        let start = Start {
            by_client: to.by_client,
            unix_nanos: u64::try_from(nanos).unwrap_or(u64::MAX),
            peer,
        };
        encode(&Record::Start(start), &mut bytes);
        let file = to.shared().open(bytes);
        Self {
            to,
            file,
            began: Instant::now(),
            calls: OnceLock::new(),
            described: Mutex::default(),
        }
    }

    /// Describes a method of an object of this side that the other side calls.
    pub(crate) fn called(&self, object: u32, place: u16, interface: &'static Interface) {
        self.describe(Direction::Inward, (object, place), interface);
    }

    /// Writes the description of a method, once.
    fn describe(
        &self,
        direction: Direction,
        (object, place): (u32, u16),
        interface: &'static Interface,
    ) {
        let key = (direction == Direction::Inward, object, place);
        let mut described = lock(&self.described);
        let is_new = described.get(&key) != Some(&interface.id());
        if !is_new || described.len() >= MOST_METHODS {
            return;
        }
        let Some(method) = interface.methods().get(usize::from(place)) else {
            return;
        };
        described.insert(key, interface.id());
        // Schemas of large types take a while, and other calls of the connection ask for this lock.
        drop(described);
        let [arguments, result] = method.schemas();
        let record = Record::Method(Method {
            direction,
            object,
            place,
            interface: interface.name().to_owned(),
            name: method.name().to_owned(),
            signature: method.signature().to_owned(),
            arguments,
            result,
            one_way: method.is_one_way(),
            streams: method.has_streams(),
        });
        let mut bytes = Vec::new();
        encode(&record, &mut bytes);
        self.to.shared().write(self.file, bytes);
    }

    /// Returns the object and method of a message, if it is a call.
    fn call(&self, tapped: &Tapped<'_>) -> Option<(u32, u16)> {
        let (TappedKind::Request { handler, .. } | TappedKind::OneWay { handler }) = tapped.kind
        else {
            return None;
        };
        let [ours, theirs] = *self.calls.get()?;
        let calls = if tapped.sent { theirs } else { ours };
        let word = CallHeader::from_word(tapped.word);
        (calls == Some(handler)).then_some((word.object, word.method))
    }
}

fn direction(sent: bool) -> Direction {
    if sent {
        Direction::Outward
    } else {
        Direction::Inward
    }
}

impl Tap for Tape {
    fn joined(&self, ours: &[&str], theirs: &[&str]) {
        let place = |names: &[&str]| {
            let place = names.iter().position(|name| *name == CALLS)?;
            u16::try_from(place).ok()
        };
        // A connection exchanges its tables once, so there is nothing here yet.
        let _ = self.calls.set([place(ours), place(theirs)]);
        for (sent, names) in [(true, ours), (false, theirs)] {
            let mut bytes = Vec::new();
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let direction = direction(sent);
            encode(&Record::Handlers { direction, names }, &mut bytes);
            self.to.shared().write(self.file, bytes);
        }
    }

    fn message(&self, tapped: &Tapped<'_>) {
        let (kind, number, code, text) = match tapped.kind {
            TappedKind::Request { number, handler } => (Kind::Request, number, handler, 0),
            TappedKind::OneWay { handler } => (Kind::OneWay, 0, handler, 0),
            TappedKind::Reply { number } => (Kind::Reply, number, 0, 0),
            TappedKind::Return {
                number,
                reason,
                text,
            } => (Kind::Return, number, reason, text),
            TappedKind::Bounce { reason, text } => (Kind::Bounce, 0, reason, text),
            TappedKind::Cancel { number } => (Kind::Cancel, number, 0, 0),
            _ => return,
        };
        let parts: Vec<&[u8]> = tapped.payload.iter().map(|part| &**part).collect();
        let length = parts.iter().map(|part| part.len() as u64).sum();
        let shared = self.to.shared();
        // Before the bytes are copied: without it, a slow disk would cost each message a copy in
        // vain.
        if !shared.may_have_room(length) {
            return shared.lose(self.file, length);
        }
        let mut message = Message::new(direction(tapped.sent), kind);
        message.nanos = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        message.number = number;
        message.code = code;
        message.text = text;
        message.word = tapped.word;
        message.call = self.call(tapped);
        if let (true, Some((object, place))) = (tapped.sent, message.call) {
            if let Some(interface) = self.to.noted(object, place) {
                self.describe(Direction::Outward, (object, place), interface);
            }
        }
        let mut bytes = Vec::new();
        encode_message(&message, &parts, &mut bytes);
        shared.write(self.file, bytes);
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.to.shared().close(self.file);
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("file", &self.file).finish()
    }
}
