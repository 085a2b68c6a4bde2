//! Kinds of damage to a message.

use std::fmt;

use super::places::{Meaning, Place, Places};
use crate::wire::{HEADER_LEN, ORIGIN, SHARED};

/// Returns the replacements for a byte.
pub(super) fn bytes_instead_of(byte: u8) -> impl Iterator<Item = u8> {
    let mut all = [
        0,
        1,
        2,
        0x7f,
        0xff,
        byte ^ 1,
        byte ^ 0x80,
        byte.wrapping_add(1),
        byte.wrapping_sub(1),
        byte.wrapping_mul(2),
    ];
    all.sort_unstable();
    let mut last = byte;
    all.into_iter().filter(move |one| {
        let is_new = *one != byte && *one != last;
        last = *one;
        is_new
    })
}

/// Sizes of elements for which a length may overflow.
const SIZES: [u64; 8] = [1, 2, 4, 8, 16, 24, 32, 48];

/// Maximum number of other places of the same kind whose values are substituted.
const OTHERS: usize = 12;

/// The replacement values for each place of a message.
pub(super) struct Boundary<'m> {
    message: &'m [u8],
    places: &'m [Place],
}

impl<'m> Boundary<'m> {
    pub(super) fn new(message: &'m [u8], places: &'m Places) -> Self {
        Self {
            message,
            places: &places.all,
        }
    }

    fn bytes(&self, place: &Place) -> &'m [u8] {
        self.message.get(place.at.clone()).unwrap_or_default()
    }

    fn number(&self, place: &Place) -> u64 {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(self.bytes(place)) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    }

    fn others(&self, meaning: Meaning) -> impl Iterator<Item = u64> {
        let all = self
            .places
            .iter()
            .filter(move |place| place.meaning == meaning);
        all.take(OTHERS).map(|place| self.number(place))
    }

    /// Returns the replacement values for a place.
    pub(super) fn values(&self, place: &Place) -> Vec<u64> {
        let own = self.number(place);
        let mut values = Vec::new();
        match place.meaning {
            Meaning::Tag if place.at.len() == 1 => values.extend(0..=0xff),
            Meaning::Tag => values.extend((0..=16).chain([own | 0x80, own | 0x100, own << 8])),
            Meaning::Value if place.at.len() < 8 => values.extend(SMALL),
            Meaning::Value => values.extend(LARGE),
            meaning => {
                values.extend(WORDS);
                let len = self.message.len() as u64;
                values.extend([len, len.wrapping_sub(1), len.wrapping_add(1)]);
                values.extend([HEADER_LEN as u64, ORIGIN as u64, own.wrapping_mul(2)]);
                values.extend([!own, !own.wrapping_sub(1), own | SHARED, own & !SHARED]);
                values.extend([own | 1 << 32, own | 1 << 62]);
                for by in [1, 4, 8, 16, 128] {
                    values.extend([own.wrapping_add(by), own.wrapping_sub(by)]);
                }
                values.extend(self.others(meaning));
                match meaning {
                    Meaning::Length => {
                        for max in [u64::MAX, u64::MAX >> 1, u64::from(u32::MAX)] {
                            let most = SIZES.iter().filter_map(|size| max.checked_div(*size));
                            values.extend(most.flat_map(|most| [most, most.wrapping_add(1)]));
                        }
                    }
                    Meaning::Number | Meaning::Offset => {
                        let numbers = self.others(Meaning::Number).chain(0..=16);
                        values.extend(numbers.map(|number| number | SHARED));
                        values.extend([u64::MAX >> 1, u64::from(u32::MAX)].map(|n| n | SHARED));
                    }
                    Meaning::Class => {
                        // The root's descriptor is a valid number of a class, too.
                        let root = self.places.iter().find(|place| place.at == (8..16));
                        values.extend(root.map(|root| self.number(root)));
                    }
                    _ => {}
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Writes a value to a place; returns true if that changed the message.
    pub(super) fn put(&self, into: &mut [u8], place: &Place, value: u64) -> bool {
        let Some(to) = into.get_mut(place.at.clone()) else {
            return false;
        };
        // Bytes beyond the width of the value are filled with ones for -1, and with zeroes
        // otherwise.
        let fill = if value == u64::MAX { 0xff } else { 0 };
        for (i, to) in to.iter_mut().enumerate() {
            *to = value.to_le_bytes().get(i).copied().unwrap_or(fill);
        }
        *to != *self.bytes(place)
    }

    /// Returns the ranges of pointers with two words.
    fn wide_pointers(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.places
            .windows(2)
            .filter_map(|pair| match pair {
                [first, second] if matches!(second.meaning, Meaning::Length | Meaning::Class) => {
                    Some(first.at.start..second.at.end)
                }
                _ => None,
            })
            .take(OTHERS)
    }

    /// Replaces pointers by other pointers, and swaps pairs of them.
    pub(super) fn aliases<E>(&self, mut with: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let narrow = self.places.iter();
        let narrow =
            narrow.filter(|place| matches!(place.meaning, Meaning::Offset | Meaning::Number));
        let narrow = narrow.take(OTHERS).map(|place| place.at.clone());
        let pointers: Vec<_> = self.wide_pointers().chain(narrow).collect();
        let mut bytes = self.message.to_vec();
        for a in &pointers {
            for b in &pointers {
                let both = (self.message.get(a.clone()), self.message.get(b.clone()));
                let (Some(at_a), Some(at_b)) = both else {
                    continue;
                };
                if at_a.len() != at_b.len() || at_a == at_b {
                    continue;
                }
                copy(&mut bytes, a.start, at_b);
                with(&bytes)?;
                copy(&mut bytes, b.start, at_a);
                with(&bytes)?;
                copy(&mut bytes, a.start, at_a);
                copy(&mut bytes, b.start, at_b);
            }
        }
        Ok(())
    }
}

fn copy(into: &mut [u8], at: usize, bytes: &[u8]) {
    let to = into.iter_mut().skip(at);
    to.zip(bytes).for_each(|(to, from)| *to = *from);
}

/// Boundary values of a word.
const WORDS: [u64; 24] = [
    0,
    1,
    2,
    7,
    8,
    0x7f,
    0x80,
    0xff,
    0x100,
    0xffff,
    u32::MAX as u64 - 1,
    u32::MAX as u64,
    u32::MAX as u64 + 1,
    1 << 60,
    1 << 61,
    1 << 62,
    (1 << 63) - 8,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 127,
    u64::MAX - 7,
    u64::MAX - 1,
    u64::MAX,
];

/// Boundary values of up to seven bytes: invalid bools and chars, zero, NaN.
const SMALL: [u64; 15] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0xd7ff,
    0xd800,
    0xdfff,
    0xe000,
    0x10_ffff,
    0x11_0000,
    0x7f80_0001,
    0x7fc0_0000,
    u64::MAX,
];

/// Boundary values of eight bytes and more.
const LARGE: [u64; 9] = [
    0,
    1,
    2,
    1 << 63,
    (1 << 63) - 1,
    0x7ff0_0000_0000_0001,
    0x7ff8_0000_0000_0000,
    0x3b9a_ca00_0000_0000,
    u64::MAX,
];

/// Damage encoded in bytes, four for each step: the operation, the position (two bytes), and an
/// operand. All byte strings are valid.
#[derive(Clone, PartialEq, Eq)]
pub struct Script(pub Vec<u8>);

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Script({:02x?})", self.0)
    }
}

impl Script {
    /// Applies the script to a message.
    pub(super) fn apply(&self, sound: &[u8], places: &Places) -> Vec<u8> {
        let boundary = Boundary::new(sound, places);
        let mut message = sound.to_vec();
        for step in self.0.chunks_exact(4) {
            if let [details, low, high, with] = *step {
                let at = usize::from(u16::from_le_bytes([low, high]));
                step_of(&boundary, &mut message, (details, at, with));
            }
        }
        message
    }
}

/// Maximum number of bytes that a script adds in one step.
const EXTENSION: usize = 32;

fn step_of(boundary: &Boundary<'_>, message: &mut Vec<u8>, (details, at, with): (u8, usize, u8)) {
    let any = |at: usize| {
        let at = at.checked_rem(boundary.places.len())?;
        boundary.places.get(at)
    };
    let Some(place) = any(at) else {
        return;
    };
    match details % 8 {
        0 | 1 => {
            let values = boundary.values(place);
            let value = usize::from(with).checked_rem(values.len());
            if let Some(value) = value.and_then(|at| values.get(at)) {
                boundary.put(message, place, *value);
            }
        }
        2 => {
            boundary.put(message, place, with.into());
        }
        3 => {
            let by = i64::from(i8::from_le_bytes([with]));
            let value = boundary.number(place).wrapping_add_signed(by);
            boundary.put(message, place, value);
        }
        4 => {
            if let Some(other) = any(usize::from(with)) {
                let len = place.at.len().min(other.at.len());
                let bytes = boundary.bytes(other).get(..len).unwrap_or_default();
                copy(message, place.at.start, bytes);
            }
        }
        5 => {
            if let Some(byte) = message.get_mut(at) {
                *byte ^= with;
            }
        }
        6 => message.truncate(at),
        _ => {
            let more = usize::from(with) % EXTENSION;
            message.resize(message.len().saturating_add(more), with);
        }
    }
}

/// Returns a message whose header is consistent with its length, so that only the structure can be
/// wrong.
///
/// The first byte of the input is the binary logarithm of the bulk segment's alignment, modulo 8.
/// Then come the lengths of bulk and text, two bytes each, and the three segments without padding.
/// The objects segment is extended to at least `root` bytes.
pub(super) fn framed(input: &[u8], descriptor: u64, root: usize) -> Vec<u8> {
    const FRAME: usize = 5;
    let (taken, body) = input.split_at(input.len().min(FRAME));
    let mut frame = [0; FRAME];
    copy(&mut frame, 0, taken);
    let [align, b0, b1, t0, t1] = frame;
    let align = 1u32 << (align % 8);
    let text = usize::from(u16::from_le_bytes([t0, t1])).min(body.len());
    let (body, text) = body.split_at(body.len().saturating_sub(text));
    let bulk = usize::from(u16::from_le_bytes([b0, b1])).min(body.len());
    let (objects, bulk) = body.split_at(body.len().saturating_sub(bulk));

    let end = HEADER_LEN.saturating_add(objects.len().max(root));
    let mut message = b"jst\x01".to_vec();
    message.extend(align.to_le_bytes());
    message.extend(descriptor.to_le_bytes());
    for len in [end, bulk.len(), text.len()] {
        message.extend((len as u64).to_le_bytes());
    }
    message.extend(objects);
    message.resize(crate::wire::align_up(end, align as usize), 0);
    message.extend(bulk);
    message.extend(text);
    message
}
