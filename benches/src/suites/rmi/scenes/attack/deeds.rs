//! Attacks and the actions that the attackers repeat.

use std::cell::OnceCell;
use std::thread;
use std::time::Duration;

use jstream_transport::Header;

use super::peer::{
    CANCEL, HELLO, OBJECT, Peer, REPLY, REQUEST, SEND, lookup, message, table, word,
};
use super::raw::{Raw, frame, greeting};
use super::target::{ADD, CHAIN, Chain, GIVE, KEEP, Square, VALUES, Values, WAIT};
use super::{Aim, BACKLOG};
use crate::Failure;

/// Action that an attacker repeats.
pub(super) type Attacker = Box<dyn FnMut() -> Result<(), Failure>>;

/// An attack: its name, and the function that prepares its attacker.
#[derive(Clone, Copy)]
pub(super) struct Deed {
    pub(super) name: &'static str,
    pub(super) begin: fn(&Aim) -> Result<Attacker, Failure>,
    /// Bytes that the server may keep for each connection in addition to the bytes that it has
    /// received, such as unread answers.
    pub(super) kept: usize,
}

const fn deed(name: &'static str, begin: fn(&Aim) -> Result<Attacker, Failure>) -> Deed {
    Deed {
        name,
        begin,
        kept: 0,
    }
}

/// All attacks.
pub(super) const DEEDS: [Deed; 14] = [
    deed("tcp/attack/lengths", lengths),
    deed("tcp/attack/trickle", trickle),
    Deed {
        name: "tcp/attack/unread",
        begin: unread,
        // The limit, and beyond it the answer that exceeds it, the one being sent, and the one
        // being created.
        kept: BACKLOG + (3 << 20),
    },
    deed("tcp/attack/kept", kept),
    deed("tcp/attack/cancels", cancels),
    deed("tcp/attack/errors", errors),
    deed("tcp/attack/numbers", numbers),
    deed("tcp/attack/values", values),
    deed("tcp/attack/depth", depth),
    deed("tcp/attack/forged", forged),
    deed("tcp/attack/cleans", cleans),
    deed("tcp/attack/lookups", lookups),
    deed("tcp/attack/broken", broken),
    deed("tcp/attack/greetings", greetings),
];

/// Returns an attacker that has completed its attack and only keeps its connections open.
fn stay<T: 'static>(peers: T) -> Attacker {
    Box::new(move || {
        let _ = &peers;
        thread::sleep(Duration::from_millis(1));
        Ok(())
    })
}

/// Sends headers of the largest message, and then no payload.
fn lengths(aim: &Aim) -> Result<Attacker, Failure> {
    let mut silent = Vec::new();
    for _ in 0..32 {
        let mut raw = Raw::joined(aim)?;
        raw.send(&frame(REQUEST, [1, OBJECT, 0], 64 << 20))?;
        silent.push(raw);
    }
    Ok(stay(silent))
}

/// Sends large messages one byte at a time.
fn trickle(aim: &Aim) -> Result<Attacker, Failure> {
    let mut slow = Vec::new();
    for _ in 0..32 {
        let mut raw = Raw::joined(aim)?;
        raw.send(&frame(REQUEST, [1, OBJECT, 0], 1 << 20))?;
        slow.push(raw);
    }
    Ok(Box::new(move || {
        for raw in &mut slow {
            raw.send(&[0])?;
        }
        thread::sleep(Duration::from_millis(1));
        Ok(())
    }))
}

/// Requests long answers without reading them.
fn unread(aim: &Aim) -> Result<Attacker, Failure> {
    let peers = Peer::many(aim, 4)?;
    let much = message(&(1u64 << 20,))?;
    for number in 0..200 {
        for peer in &peers {
            peer.request(number, word(GIVE), &much)?;
        }
    }
    Ok(stay(peers))
}

/// Fills the window with calls that keep their arguments.
fn kept(aim: &Aim) -> Result<Attacker, Failure> {
    let peers = Peer::many(aim, 8)?;
    let much = message(&vec![1u8; 1 << 20])?;
    for peer in &peers {
        for number in 0..15 {
            peer.request(number, word(KEEP), &much)?;
        }
    }
    Ok(stay(peers))
}

/// Makes calls that wait and cancels them at once, together with calls that do not exist.
fn cancels(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let nothing = message(&())?;
    Ok(Box::new(move || {
        for number in 0..20 {
            peer.request(number, word(WAIT), &nothing)?;
        }
        for number in 0..20 {
            peer.send(Header::new(CANCEL, [number, 0, 0]), &[])?;
            peer.send(Header::new(CANCEL, [number + 1000, 0, 0]), &[])?;
        }
        peer.answers(20)
    }))
}

/// Calls unknown objects and methods, and existing methods with wrong arguments.
fn errors(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let text = message(&("what it says",))?;
    Ok(Box::new(move || {
        for number in 0..64u64 {
            let unknown = [77, word(99), word(ADD), word(VALUES)];
            let unknown = unknown.get(number as usize % 4).copied();
            peer.request(number, unknown.unwrap_or_default(), &text)?;
        }
        peer.answers(64)
    }))
}

/// Sends request numbers that are in use, answers to requests that were never made, and unknown
/// frames. Each ends the connection.
fn numbers(aim: &Aim) -> Result<Attacker, Failure> {
    let aim = aim.clone();
    let nothing = message(&())?;
    let mut turn = 0;
    Ok(Box::new(move || {
        let all = [
            Header::new(REQUEST, [1, word(WAIT), 0]),
            Header::new(REPLY, [1, 0, 0]),
            Header::new(REPLY, [0xffff_ffff, 0, 0]),
            Header::new(u32::MAX, [u64::MAX; 3]),
        ];
        turn = (turn + 1) % all.len();
        let peer = Peer::new(&aim)?;
        peer.request(1, word(WAIT), &nothing)?;
        peer.send(all.get(turn).copied().unwrap_or_default(), &nothing)?;
        peer.ended();
        Ok(())
    }))
}

/// Sends arguments in which one word is replaced by a forged length or position.
fn values(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let whole = message(&(&Values {
        flag: true,
        letter: 'ß',
        maybe: Some(3),
        text: "größer",
        numbers: &[1.5, f64::NAN],
        shape: &Square { side: 2.0 },
    },))?;
    let mut turn = 0;
    Ok(Box::new(move || {
        let forged = [1 << 60, u64::MAX, 1 << 32, 1 << 63, whole.len() as u64];
        for number in 0..32 {
            turn += 1;
            let mut bytes = whole.clone();
            let at = turn % (bytes.len() / 8) * 8;
            let word = forged.get(turn % forged.len()).copied();
            for (to, from) in bytes
                .iter_mut()
                .skip(at)
                .zip(word.unwrap_or(0).to_le_bytes())
            {
                *to = from;
            }
            peer.request(number, super::peer::word(VALUES), &bytes)?;
        }
        peer.answers(32)
    }))
}

/// Sends an object graph that exceeds the depth limit.
fn depth(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let bytes = chain(100_000)?;
    Ok(Box::new(move || {
        peer.request(1, word(CHAIN), &bytes)?;
        peer.answers(1)
    }))
}

/// Returns the message of a chain with `length` links, as arguments.
fn chain(length: usize) -> Result<Vec<u8>, Failure> {
    let links: Vec<OnceCell<Chain<'_>>> = (0..length).map(|_| OnceCell::new()).collect();
    let mut next = None;
    for link in &links {
        next = Some(link.get_or_init(|| Chain { next }));
    }
    let first = next.ok_or("a chain needs at least one link")?;
    message(&(first,))
}

/// Calls objects with numbers that the server never exported.
fn forged(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let arguments = message(&(1u64, 2u64))?;
    let mut turn = 0;
    Ok(Box::new(move || {
        for number in 0..64 {
            turn = turn % 100_000 + 1;
            peer.request(number, (OBJECT + turn) | (ADD << 32), &arguments)?;
        }
        peer.answers(64)
    }))
}

/// Number of the handler for references, and the word of a message that releases references.
const REFERENCES: u64 = 2;
const CLEAN: u64 = 2;

/// Releases many references at once that the server never exported.
fn cleans(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let mut many = Vec::new();
    for number in 2..10_000u32 {
        many.extend(number.to_le_bytes());
        many.extend(1u64.to_le_bytes());
    }
    let arguments = message(&(1u64, 2u64))?;
    Ok(Box::new(move || {
        peer.send(Header::new(SEND, [REFERENCES << 32, CLEAN, 0]), &many)?;
        peer.request(1, word(ADD), &arguments)?;
        peer.answers(1)
    }))
}

/// Looks up the same name again and again without releasing the references.
fn lookups(aim: &Aim) -> Result<Attacker, Failure> {
    let peer = Peer::new(aim)?;
    let lookup = lookup()?;
    Ok(Box::new(move || {
        for number in 0..64 {
            peer.request(number, 0, &lookup)?;
        }
        peer.answers(64)
    }))
}

/// Opens connections that end within a message.
fn broken(aim: &Aim) -> Result<Attacker, Failure> {
    let aim = aim.clone();
    let mut turn = 0;
    Ok(Box::new(move || {
        turn += 1;
        let mut raw = Raw::joined(&aim)?;
        let request = frame(REQUEST, [1, OBJECT, 0], 1 << 20);
        raw.send(request.get(..turn % request.len()).unwrap_or_default())
    }))
}

/// Sends greetings of another version, and invalid hello messages.
fn greetings(aim: &Aim) -> Result<Attacker, Failure> {
    let aim = aim.clone();
    let table = table()?;
    let mut turn = 0;
    Ok(Box::new(move || {
        turn += 1;
        let mut raw = Raw::new(&aim)?;
        let mut hello = greeting();
        let places = [0, 7, 8, 12, 13, 14];
        if let (true, Some(place)) = (turn % 2 == 0, places.get(turn / 2 % places.len())) {
            if let Some(byte) = hello.get_mut(*place) {
                *byte ^= 0x55;
            }
            raw.send(&hello)?;
        } else {
            raw.send(&hello)?;
            raw.send(&frame(HELLO, [9, 1000, 1 << 30], table.len() as u64))?;
            raw.send(&table)?;
        }
        raw.ended()
    }))
}
