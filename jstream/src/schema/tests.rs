//! Tests of schemas that are made by hand, because no type of a program has them.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::collections::HashSet;

use super::*;

fn info(name: &str, size: usize, align: usize, kind: Kind) -> TypeInfo {
    TypeInfo {
        name: name.to_owned(),
        size,
        align,
        kind,
    }
}

fn schema(types: Vec<TypeInfo>) -> Schema {
    Schema {
        types: types.into_iter().map(Some).collect(),
        ..Schema::default()
    }
}

fn field(name: &'static str, offset: usize, of: u32) -> FieldInfo {
    FieldInfo::new(name, offset, TypeIndex(of))
}

const ROOT: TypeIndex = TypeIndex(0);

/// A struct and an enum that together have every kind.
fn every_kind() -> Schema {
    let variants = vec![
        VariantInfo::new("Empty", i128::MIN, Vec::new()),
        VariantInfo::new("Full", -1, vec![field("0", 8, 0), field("text", 16, 3)]),
        VariantInfo::new("Last", i128::MAX, Vec::new()),
    ];
    schema(vec![
        info(
            "Root",
            96,
            8,
            Kind::Struct(vec![
                field("name", 0, 3),
                field("next", 16, 5),
                field("all", 24, 6),
                field("many", 40, 7),
                field("either", 64, 8),
                field("pair", 72, 9),
            ]),
        ),
        info("Choice", 32, 8, Kind::Enum { tag: 16, variants }),
        info("str", 1, 1, Kind::Text),
        info("&", 16, 8, Kind::Slice(TypeIndex(2))),
        info("&", 8, 8, Kind::Reference(ROOT)),
        info("Option", 8, 8, Kind::Optional(TypeIndex(4))),
        info("&", 16, 8, Kind::Slice(TypeIndex(1))),
        info("[]", 24, 8, Kind::Array(TypeIndex(5), 3)),
        info("Result", 8, 4, Kind::Outcome(TypeIndex(10), TypeIndex(10))),
        info("()", 4, 4, Kind::Struct(vec![field("0", 0, 10)])),
        info("u32", 4, 4, Kind::Leaf),
    ])
}

#[test]
fn bytes_give_the_schema_back() {
    let schema = every_kind();
    let bytes = schema.to_bytes(ROOT);
    let (decoded, root) = Schema::from_bytes(&bytes).unwrap();
    assert_eq!(decoded.to_bytes(root), bytes);
    assert_eq!(decoded.types.len(), schema.types.len());
    assert_eq!(decoded.descriptor(root), schema.descriptor(ROOT));
    assert_eq!(schema.difference(ROOT, &decoded, root), None);
    assert_eq!(decoded.to_string(), schema.to_string());
}

#[test]
fn a_schema_is_shown_much_as_rust_spells_it() {
    let shown = "\
struct Root { // 96 bytes, aligned to 8
    name: &str, // at 0
    next: Option<&Root>, // at 16
    all: &[Choice], // at 24
    many: [Option<&Root>; 3], // at 40
    either: Result<u32, u32>, // at 64
    pair: (u32,), // at 72
}

tuple (u32,) { // 4 bytes, aligned to 4
    0: u32, // at 0
}

enum Choice { // 32 bytes, aligned to 8, tag of 16 bytes
    Empty = -170141183460469231731687303715884105728,
    Full = -1 {
        0: Root, // at 8
        text: &str, // at 16
    },
    Last = 170141183460469231731687303715884105727,
}";
    assert_eq!(every_kind().to_string(), shown);
    let (pointer, root) = Schema::of::<&[u64]>();
    assert_eq!(
        pointer.display(root).to_string(),
        "&[u64] // 16 bytes, aligned to 8"
    );
}

#[test]
#[cfg_attr(miri, ignore = "takes hours, and no unsafe code is in it")]
fn every_prefix_and_every_damaged_byte_is_an_error_or_a_schema() {
    let whole = every_kind().to_bytes(ROOT);
    for len in 0..whole.len() {
        assert!(Schema::from_bytes(&whole[..len]).is_err(), "{len}");
    }
    let mut seen = HashSet::from([whole.clone()]);
    for at in 0..whole.len() {
        for flip in 1..=255u8 {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let Ok((damaged, root)) = Schema::from_bytes(&bytes) else {
                continue;
            };
            assert!(!damaged.to_string().is_empty());
            let canonical = damaged.to_bytes(root);
            let (again, root) = Schema::from_bytes(&canonical).unwrap();
            assert_eq!(again.to_bytes(root), canonical);
            // Parts that are no longer reachable may have been damaged, too.
            let is_new = seen.insert(canonical);
            let found = every_kind().difference(ROOT, &again, root);
            assert_eq!(found.is_none(), again.to_bytes(root) == whole, "{at}");
            if let Some(found) = found {
                assert!(is_new || !found.path.is_empty());
                assert!(!found.details.is_empty() && found.to_string().starts_with("Root"));
            }
        }
    }
}

#[test]
fn bytes_that_lie_are_refused() {
    let malformed = |bytes: &[u8]| {
        let refused = Schema::from_bytes(bytes).unwrap_err();
        assert!(
            matches!(refused, SchemaError::Malformed { .. }),
            "{refused}"
        );
    };
    malformed(&[]);
    malformed(&[1]);
    malformed(&[1, 0]);
    // A number with a superfluous byte, and one without an end.
    malformed(&[1, 0x81, 0x00]);
    malformed(&[
        1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ]);
    malformed(&[&[1][..], &[0x80; 40]].concat());
    // Counts of types, fields and bytes of a name that exceed the input.
    malformed(&[1, 0xff, 0xff, 0x03, 0, 0, 1, 0]);
    malformed(&[1, 1, 0, 0, 1, 2, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0]);
    malformed(&[1, 1, 0xff, 0xff, 0x03, b'a']);
    // A type index out of range, an unknown kind, text that is not UTF-8, trailing bytes.
    malformed(&[1, 1, 0, 0, 1, 4, 1]);
    malformed(&[1, 1, 0, 0, 1, 99]);
    malformed(&[1, 1, 1, 0xff, 0, 1, 0]);
    malformed(&[1, 1, 1, 0x1b, 0, 1, 0]);
    malformed(&[1, 1, 1, b'a', 0, 1, 0, 0]);
    assert_eq!(
        Schema::from_bytes(&[2]),
        Err(SchemaError::Version { found: 2 })
    );
    let long = vec![0; Schema::MAX_BYTES + 1];
    assert!(matches!(
        Schema::from_bytes(&long),
        Err(SchemaError::TooLong { .. })
    ));
}

/// Chains, rings and ladders of many types must cause neither superlinear work nor deep recursion.
#[test]
#[cfg_attr(miri, ignore = "takes hours, and no unsafe code is in it")]
fn hostile_graphs_cost_no_more_than_their_length() {
    let count = 4_000u32;
    let all = |kind: &dyn Fn(u32) -> Kind| {
        let types = (0..count).map(|i| info("T", 8, 8, kind(i))).collect();
        let bytes = schema(types).to_bytes(ROOT);
        Schema::from_bytes(&bytes).unwrap()
    };
    let next = |i: u32| TypeIndex((i + 1) % count);
    let chain = all(&|i| match i + 1 {
        last if last == count => Kind::Leaf,
        next => Kind::Reference(TypeIndex(next)),
    });
    assert_eq!(chain.0.types.len(), count as usize);
    let ring = all(&|i| Kind::Optional(next(i)));
    assert_eq!(ring.0.types.len(), 1, "all are the same structure");
    // Each type reaches the next one twice, so that there are 2^4000 paths.
    let ladder = all(&|i| match i + 1 {
        last if last == count => Kind::Leaf,
        next => Kind::Outcome(TypeIndex(next), TypeIndex(next)),
    });
    let tuples = all(&|i| match i + 1 {
        last if last == count => Kind::Leaf,
        next => Kind::Struct(vec![field("0", 0, next); 3]),
    });
    let shapes = [chain, ring, ladder, tuples];
    for (a, root) in &shapes {
        assert!(a.to_string().len() < 4 << 20);
        for (b, other) in &shapes {
            let found = a.difference(*root, b, *other);
            assert_eq!(found.is_none(), std::ptr::eq(a, b));
            assert!(found.is_none_or(|found| found.to_string().len() < 1000));
        }
    }
}

#[test]
fn equal_structures_count_once() {
    // A single list, and three lists that refer to one another in a cycle.
    let one = schema(vec![
        info("List", 8, 8, Kind::Struct(vec![field("next", 0, 1)])),
        info("&", 8, 8, Kind::Reference(ROOT)),
    ]);
    let three = schema(vec![
        info("List", 8, 8, Kind::Struct(vec![field("next", 0, 1)])),
        info("&", 8, 8, Kind::Reference(TypeIndex(2))),
        info("List", 8, 8, Kind::Struct(vec![field("next", 0, 3)])),
        info("&", 8, 8, Kind::Reference(TypeIndex(4))),
        info("List", 8, 8, Kind::Struct(vec![field("next", 0, 5)])),
        info("&", 8, 8, Kind::Reference(ROOT)),
    ]);
    assert_eq!(one.to_bytes(ROOT), three.to_bytes(ROOT));
    assert_eq!(one.to_bytes(ROOT), three.to_bytes(TypeIndex(4)));
    assert_eq!(one.difference(ROOT, &three, TypeIndex(2)), None);
    let mut other = three.clone();
    if let Some(Some(last)) = other.types.last_mut() {
        last.size = 16;
    }
    assert_ne!(other.to_bytes(ROOT), three.to_bytes(ROOT));
    let found = one.difference(ROOT, &other, ROOT).unwrap();
    assert_eq!(
        found.to_string(),
        "List.next.next.next: 8 bytes here, 16 bytes there"
    );
}

#[test]
fn layout_alone_makes_a_difference() {
    let of = |offset, size, align, leaf| {
        schema(vec![
            info("Outer", 32, 8, Kind::Struct(vec![field("inner", 8, 1)])),
            info(
                "Inner",
                size,
                align,
                Kind::Struct(vec![field("at", offset, 2)]),
            ),
            info("u64", leaf, 8, Kind::Leaf),
        ])
    };
    let all = [
        of(0, 16, 8, 8),
        of(8, 16, 8, 8),
        of(0, 24, 8, 8),
        of(0, 16, 16, 8),
        of(0, 16, 8, 4),
    ];
    let descriptors: HashSet<_> = all.iter().map(|of| of.descriptor(ROOT)).collect();
    assert_eq!(descriptors.len(), all.len());
    let found = all.iter().map(|other| {
        let found = all[0].difference(ROOT, other, ROOT);
        found.map_or_else(String::new, |found| found.to_string())
    });
    let expected = [
        "",
        "Outer.inner.at: offset 0 here, 8 there",
        "Outer.inner: 16 bytes here, 24 bytes there",
        "Outer.inner: alignment 8 here, 16 there",
        "Outer.inner.at: 8 bytes here, 4 bytes there",
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_not_described_is_unknown() {
    let (mut schema, root) = Schema::of::<u8>();
    let mut within = 0;
    schema.define(Schema::key_of::<u16>(), "u16", &mut |schema| {
        within = schema.descriptor(TypeIndex(1));
        Kind::Leaf
    });
    assert_ne!(within, schema.descriptor(root));
    assert_eq!(within, schema.descriptor(TypeIndex(99)));
    assert!(schema.get(TypeIndex(99)).is_none());
}

/// Returns a distinct structure for each number: a struct of two fields with varying names and
/// offsets, a type that wraps the struct itself or a leaf, and the leaf.
fn numbered(mut rest: usize) -> Schema {
    const NAMES: [&str; 8] = ["", "a", "b", "ab", "ba", "aa", "bb", "aba"];
    const LEAVES: [&str; 8] = ["u8", "u16", "u32", "u64", "i8", "f32", "f64", "char"];
    let mut choose = |count: usize| {
        let chosen = rest % count;
        rest /= count;
        chosen
    };
    let target = TypeIndex([0, 2][choose(2)]);
    let between = match choose(8) {
        0 => Kind::Reference(target),
        1 => Kind::Slice(target),
        2 => Kind::Optional(target),
        3 => Kind::Outcome(target, TypeIndex(2)),
        4 => Kind::Struct(vec![FieldInfo::new("", 0, target)]),
        len => Kind::Array(target, len),
    };
    let [first, second] = [[1, 2], [2, 1]][choose(2)];
    let fields = vec![
        field(NAMES[choose(8)], choose(8), first),
        field(NAMES[choose(8)], choose(8), second),
    ];
    let root = info("T", choose(8), 8, Kind::Struct(fields));
    let leaf = info(LEAVES[choose(8)], 8, 8, Kind::Leaf);
    assert_eq!(rest, 0, "the number is too large");
    schema(vec![root, info("E", 8, 8, between), leaf])
}

/// Distinct encodings have distinct descriptors.
#[test]
#[cfg_attr(miri, ignore = "takes hours, and no unsafe code is in it")]
fn a_million_structures_have_a_million_descriptors() {
    const COUNT: usize = 1 << 20;
    let of = |range: std::ops::Range<usize>| -> Vec<u64> {
        // Multiplying by an odd factor permutes the numbers of 23 bits.
        let spread = |i: usize| i.wrapping_mul(0x9e37_79b1) % (1 << 23);
        range
            .map(|i| numbered(spread(i)).descriptor(ROOT))
            .collect()
    };
    let mut descriptors = std::thread::scope(|scope| {
        let half = scope.spawn(|| of(0..COUNT / 2));
        [of(COUNT / 2..COUNT), half.join().unwrap()].concat()
    });
    descriptors.sort_unstable();
    descriptors.dedup();
    assert_eq!(descriptors.len(), COUNT);
}

#[allow(dead_code, reason = "only their structure is of interest")]
mod same {
    use crate as jstream;
    use jstream::Transportable;

    include!("../../tests/common/order.rs");
}

/// One definition is compiled in this crate and in the crates of the tests.
#[test]
fn a_type_of_this_crate_has_the_descriptor_that_it_has_in_others() {
    assert_eq!(descriptor::<same::Order<'_>>(), same::DESCRIPTOR);
}
