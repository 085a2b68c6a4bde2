//! Messages from the fuzzer's bytes: with a matching header, or with typical damage.

use std::sync::LazyLock;

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::model::Node;

/// The first four bytes of a message: `jst` and the version of the format.
const MAGIC: [u8; 4] = *b"jst\x01";
/// The length of the header.
const HEADER: usize = 40;

/// The lengths of the segments in a message header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    pub objects_end: u64,
    pub bulk: u64,
    pub text: u64,
}

impl Lengths {
    /// Reads the lengths from the header of a message.
    pub fn of(message: &[u8]) -> Self {
        let word = |at: usize| {
            let bytes = message[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        Self {
            objects_end: word(16),
            bulk: word(24),
            text: word(32),
        }
    }
}

fn header(bulk_align: u32, lengths: Lengths) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(&MAGIC);
    header[4..8].copy_from_slice(&bulk_align.to_le_bytes());
    static DESCRIPTOR: LazyLock<u64> = LazyLock::new(jstream::descriptor::<Node<'static>>);
    header[8..16].copy_from_slice(&DESCRIPTOR.to_le_bytes());
    header[16..24].copy_from_slice(&lengths.objects_end.to_le_bytes());
    header[24..32].copy_from_slice(&lengths.bulk.to_le_bytes());
    header[32..].copy_from_slice(&lengths.text.to_le_bytes());
    header
}

/// Number of bytes that [`framed`] takes from the front of its input.
const FRAME: usize = 5;
/// Flag that makes the text ASCII. Random bytes are rarely valid UTF-8.
pub const ASCII: u8 = 0b1000;

/// Makes a message whose header fits its segments, so that only their structure can be wrong.
///
/// The first byte of the input contains the binary logarithm of the bulk segment's alignment,
/// modulo 8, and the flag [`ASCII`]. Then follow the lengths of bulk and text, two bytes each, and
/// the three segments without padding. The objects segment is extended to hold at least the root.
pub fn framed(input: &[u8]) -> Vec<u8> {
    let mut frame = [0; FRAME];
    let (taken, body) = input.split_at(input.len().min(FRAME));
    frame[..taken.len()].copy_from_slice(taken);
    let [flags, b0, b1, t0, t1] = frame;
    let bulk_align = 1usize << (flags % 8);
    let text_len = usize::from(u16::from_le_bytes([t0, t1])).min(body.len());
    let (body, text) = body.split_at(body.len() - text_len);
    let bulk_len = usize::from(u16::from_le_bytes([b0, b1])).min(body.len());
    let (objects, bulk) = body.split_at(body.len() - bulk_len);

    let root_end = HEADER.next_multiple_of(align_of::<Node<'_>>()) + size_of::<Node<'_>>();
    let objects_end = (HEADER + objects.len()).max(root_end);
    let lengths = Lengths {
        objects_end: objects_end as u64,
        bulk: bulk_len as u64,
        text: text_len as u64,
    };
    let mut message = header(bulk_align as u32, lengths).to_vec();
    message.extend(objects);
    message.resize(objects_end.next_multiple_of(bulk_align), 0);
    message.extend(bulk);
    let ascii = if flags & ASCII != 0 { 0x7f } else { 0xff };
    message.extend(text.iter().map(|byte| byte & ascii));
    message
}

/// Returns the input from which [`framed`] makes `message`.
pub fn unframed(message: &[u8]) -> Vec<u8> {
    let Lengths {
        objects_end,
        bulk,
        text,
    } = Lengths::of(message);
    let short = |n: u64| u16::try_from(n).expect("a small message").to_le_bytes();
    let mut input = vec![message[4].trailing_zeros() as u8];
    input.extend(short(bulk));
    input.extend(short(text));
    input.extend(&message[HEADER..objects_end as usize]);
    input.extend(&message[message.len() - (bulk + text) as usize..]);
    input
}

/// A change to a message. Offsets are taken modulo its length.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Damage {
    /// Flips bits of one byte.
    Flip { at: u16, bits: u8 },
    /// Replaces a word by a small number, as offsets and lengths are.
    Small { word: u16, value: u16 },
    /// Replaces a word by a number close to the maximum.
    Large { word: u16, less: u8 },
    /// Adds a small number to a word.
    Shift { word: u16, by: i8 },
    /// Replaces a word by another one, so that two pointers lead to one target.
    Alias { word: u16, from: u16 },
    /// Truncates the message.
    Truncate { len: u16 },
}

/// Chooses up to three changes.
pub fn damage(input: &mut Unstructured<'_>) -> Result<Vec<Damage>> {
    let count = u8::arbitrary(input)? % 4;
    (0..count).map(|_| Damage::arbitrary(input)).collect()
}

impl Damage {
    /// Applies the change. The magic number and the descriptor stay intact, because every reader
    /// checks them first.
    pub fn apply(self, message: &mut Vec<u8>) {
        let first = 16;
        let words = (message.len().saturating_sub(first)) / 8;
        if words == 0 {
            return;
        }
        let place = |word: u16| first + usize::from(word) % words * 8;
        let mut replace = |word: u16, with: &dyn Fn(u64) -> u64| {
            let slot = &mut message[place(word)..][..8];
            let old = u64::from_le_bytes((&*slot).try_into().expect("eight bytes"));
            slot.copy_from_slice(&with(old).to_le_bytes());
        };
        match self {
            Self::Small { word, value } => replace(word, &|_| value.into()),
            Self::Large { word, less } => replace(word, &|_| u64::MAX - u64::from(less)),
            Self::Shift { word, by } => replace(word, &|old| old.wrapping_add_signed(by.into())),
            Self::Alias { word, from } => {
                let from = place(from);
                message.copy_within(from..from + 8, place(word));
            }
            Self::Flip { at, bits } => {
                let at = first + usize::from(at) % (message.len() - first);
                message[at] ^= bits;
            }
            Self::Truncate { len } => message.truncate(usize::from(len) % message.len()),
        }
    }
}
