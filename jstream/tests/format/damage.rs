//! Damaged vectors, and the errors with which a reader must refuse them.

use jstream::ReadError;

/// A function that makes a damaged message from a sound one.
type Damage = dyn Fn(&[u8]) -> Vec<u8>;

/// A damaged vector.
pub struct Damaged {
    pub name: &'static str,
    /// The vector from which it was made.
    pub of: &'static str,
    pub kind: &'static str,
    pub offset: Option<usize>,
    pub damage: Box<Damage>,
}

impl Damaged {
    pub fn expected(&self) -> String {
        let Self {
            of, kind, offset, ..
        } = self;
        let offset = offset.map_or("null".to_owned(), |offset| offset.to_string());
        format!(r#"{{"of": "{of}", "kind": "{kind}", "offset": {offset}}}"#)
    }
}

/// Returns the kind of a refusal, by its name in `FORMAT.md`.
pub fn kind_of(error: &ReadError) -> &'static str {
    let what = match error {
        ReadError::Short { .. } => return "short",
        ReadError::Magic { .. } => return "magic",
        ReadError::TooLong { .. } => return "too long",
        ReadError::Lengths { .. } => return "lengths",
        ReadError::Descriptor { .. } => return "descriptor",
        ReadError::NotUtf8 { .. } => return "not utf-8",
        ReadError::Unused { .. } => return "unused",
        ReadError::Value { details, .. } => details,
        _ => return "another",
    };
    let known = [
        ("is neither 0 nor 1", "tag"),
        ("does not point to the next free place", "misplaced"),
        ("reaches past the end", "past the end"),
        ("inside a UTF-8 character", "split character"),
        ("elements without size", "zero-sized"),
        ("names a shared object", "not shared"),
        ("is reached from itself", "circle"),
        ("is no registered implementation", "class"),
        ("leads deeper than", "depth"),
        (" not a", "invalid"),
    ];
    let found = known.iter().find(|(words, _)| what.contains(words));
    found.map_or("another", |(_, kind)| kind)
}

pub fn offset_of(error: &ReadError) -> Option<usize> {
    match error {
        ReadError::NotUtf8 { offset } | ReadError::Value { offset, .. } => Some(*offset),
        _ => None,
    }
}

/// A vector with other bytes at the given offsets.
fn patch(
    (name, of): (&'static str, &'static str),
    (kind, offset): (&'static str, Option<usize>),
    patches: &'static [(usize, &'static [u8])],
) -> Damaged {
    Damaged {
        name,
        of,
        kind,
        offset,
        damage: Box::new(move |message| {
            let mut message = message.to_vec();
            for (at, bytes) in patches {
                message[*at..*at + bytes.len()].copy_from_slice(bytes);
            }
            message
        }),
    }
}

/// A vector resized by `by` bytes, whose length field at offset `field` of the header is changed by
/// the same amount.
fn resized(
    (name, of): (&'static str, &'static str),
    (kind, offset): (&'static str, Option<usize>),
    field: usize,
    by: i64,
) -> Damaged {
    Damaged {
        name,
        of,
        kind,
        offset,
        damage: Box::new(move |message| {
            let mut message = message.to_vec();
            let word = message[field..field + 8].try_into().unwrap();
            let changed = u64::from_le_bytes(word).wrapping_add_signed(by);
            message[field..field + 8].copy_from_slice(&changed.to_le_bytes());
            let len = usize::try_from(message.len() as i64 + by).unwrap();
            message.resize(len, 0);
            message
        }),
    }
}

fn cut((name, of): (&'static str, &'static str), kind: &'static str, len: usize) -> Damaged {
    Damaged {
        name,
        of,
        kind,
        offset: None,
        damage: Box::new(move |message| message[..len].to_vec()),
    }
}

/// Offsets of the header fields: end of the objects segment, length of bulk, length of text.
const OBJECTS: usize = 16;
const BULK: usize = 24;
const TEXT: usize = 32;

/// All damaged vectors.
pub fn all() -> Vec<Damaged> {
    let mut all = headers();
    all.extend(places());
    all.extend(values());
    all.extend(graphs());
    all
}

fn headers() -> Vec<Damaged> {
    let at = |offset| ("lengths", offset);
    let none = None;
    vec![
        cut(("short", "order"), "short", 39),
        cut(("cut", "order"), "lengths", 228),
        patch(("magic", "order"), ("magic", none), &[(3, &[2])]),
        patch(("no_alignment", "order"), at(none), &[(4, &[0])]),
        patch(("no_power_of_two", "order"), at(none), &[(4, &[3])]),
        patch(("alignment", "order"), at(none), &[(4, &[0, 1])]),
        patch(
            ("no_room_for_the_root", "order"),
            at(none),
            &[(OBJECTS, &[40]), (BULK, &[176])],
        ),
        patch(
            ("objects_past_the_end", "order"),
            at(none),
            &[(OBJECTS + 7, &[0x80])],
        ),
        patch(
            ("text_past_the_end", "order"),
            at(none),
            &[(TEXT + 7, &[0xff])],
        ),
        patch(("descriptor", "order"), ("descriptor", none), &[(8, &[0])]),
        patch(
            ("not_utf8", "order"),
            ("not utf-8", Some(0xd8)),
            &[(0xd8, &[0xff])],
        ),
        patch(
            ("surrogate", "order"),
            ("not utf-8", Some(0xd8)),
            &[(0xd8, &[0xed, 0xa0, 0x80])],
        ),
        resized(("unused_text", "order"), ("unused", none), TEXT, 1),
        resized(("unused_bulk", "slice"), ("unused", none), BULK, 1),
        resized(("unused_objects", "number"), ("unused", none), OBJECTS, 8),
    ]
}

fn places() -> Vec<Damaged> {
    let misplaced = |offset| ("misplaced", Some(offset));
    let past_end = |offset| ("past the end", Some(offset));
    vec![
        patch(
            ("text_one_on", "order"),
            misplaced(0x30),
            &[(0x30, &[0x81])],
        ),
        patch(("no_reference", "order"), misplaced(0x40), &[(0x40, &[0])]),
        patch(
            ("object_one_on", "order"),
            misplaced(0x50),
            &[(0x50, &[0x78])],
        ),
        patch(
            ("empty_one_back", "order"),
            misplaced(0x88),
            &[(0x88, &[0x98])],
        ),
        patch(
            ("object_in_the_header", "node"),
            misplaced(0x28),
            &[(0x28, &[8])],
        ),
        patch(
            ("text_too_long", "order"),
            past_end(0x60),
            &[(0x68, &[0x20])],
        ),
        patch(("slice_too_long", "order"), past_end(0x40), &[(0x48, &[3])]),
        patch(
            ("slice_without_end", "order"),
            past_end(0x40),
            &[(0x4f, &[0x10])],
        ),
        // 2^60 elements of 16 bytes are 2^64 bytes, which wraps to 0.
        patch(
            ("slice_that_wraps", "order"),
            past_end(0x40),
            &[(0x48, &[0, 0, 0, 0, 0, 0, 0, 0x10])],
        ),
        patch(("bulk_aligned_less", "order"), past_end(0x40), &[(4, &[4])]),
        patch(
            ("split", "order"),
            ("split character", Some(0x30)),
            &[(0x38, &[1])],
        ),
        patch(
            ("too_many_units", "references"),
            ("zero-sized", Some(0x38)),
            &[(0x40, &[1, 0, 2])],
        ),
        resized(("no_tag_left", "options"), past_end(0x118), TEXT, -1),
    ]
}

fn values() -> Vec<Damaged> {
    let invalid = |offset| ("invalid", Some(offset));
    vec![
        patch(("bool", "order"), invalid(0x58), &[(0x58, &[2])]),
        patch(("side", "order"), invalid(0xd4), &[(0xd4, &[5])]),
        patch(("side_of_a_slice", "enums"), invalid(0x54), &[(0x54, &[6])]),
        patch(
            ("color_of_a_slice", "enums"),
            invalid(0x52),
            &[(0x52, &[3])],
        ),
        patch(("wide", "enums"), invalid(0x2a), &[(0x2a, &[1])]),
        patch(("signed", "enums"), invalid(0x2c), &[(0x2c, &[1])]),
        patch(("char", "scalars"), invalid(0x34), &[(0x34, &[0, 0xd8])]),
        patch(("non_zero", "scalars"), invalid(0x38), &[(0x38, &[0])]),
        patch(("ordering", "scalars"), invalid(0x51), &[(0x51, &[2])]),
        patch(("tag_of_an_enum", "shapes"), invalid(0x28), &[(0x28, &[8])]),
        patch(
            ("tag_in_the_text", "options"),
            ("tag", Some(0x94)),
            &[(0x139, &[2])],
        ),
        patch(
            ("option_of_one_byte", "options"),
            invalid(0x90),
            &[(0x90, &[3])],
        ),
        patch(
            ("tag_in_the_slot", "tagged"),
            invalid(0x28),
            &[(0x2c, &[2])],
        ),
        patch(
            ("nanoseconds", "times"),
            invalid(0x28),
            &[(0x30, &[0, 0xca, 0x9a, 0x3b])],
        ),
        patch(
            ("before_by_nothing", "times"),
            invalid(0x78),
            &[(0x78, &[0]), (0x80, &[0, 0])],
        ),
        patch(
            ("ip_of_version_5", "addresses"),
            invalid(0x3c),
            &[(0x4c, &[5])],
        ),
        patch(("bound", "ranges"), invalid(0x64), &[(0x68, &[0, 0xd8])]),
        patch(
            ("text_in_an_option", "tagged"),
            ("misplaced", Some(0x48)),
            &[(0x50, &[0x80])],
        ),
        patch(
            ("ip_with_more", "addresses"),
            invalid(0x3c),
            &[(0x44, &[1])],
        ),
    ]
}

fn graphs() -> Vec<Damaged> {
    let not_shared = |offset| ("not shared", Some(offset));
    let mut circle = patch(("circle", "node"), ("circle", Some(0x28)), &[]);
    circle.damage = Box::new(|message| {
        let mut message = message[..0x38].to_vec();
        message[OBJECTS] = 0x38;
        // A further pointer to target 0, which is the root itself.
        message[0x28..0x30].copy_from_slice(&(1u64 << 63).to_le_bytes());
        message
    });
    vec![
        circle,
        patch(
            ("not_met_before", "node"),
            not_shared(0x28),
            &[(0x28, &[1]), (0x2f, &[0x80])],
        ),
        patch(
            ("shared_by_no_number", "node"),
            not_shared(0x28),
            &[(0x2e, &[1, 0x80])],
        ),
        patch(
            ("shared_of_another_length", "team"),
            not_shared(0x58),
            &[(0x60, &[1])],
        ),
        patch(
            ("shared_of_another_type", "team"),
            not_shared(0x58),
            &[(0x58, &[1])],
        ),
        patch(
            ("first_twice", "ring"),
            ("misplaced", Some(0x58)),
            &[(0x58, &[0x28]), (0x5f, &[0])],
        ),
        patch(("class", "drawing"), ("class", Some(0x78)), &[(0x80, &[0])]),
    ]
}
