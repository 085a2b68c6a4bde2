//! Tests of snapshots of schemas and rules that are made by hand.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use super::*;
use crate::schema::kind::Kind;

const ROOT: TypeIndex = TypeIndex(0);

fn info(name: &str, kind: Kind) -> TypeInfo {
    TypeInfo {
        name: name.to_owned(),
        size: 16,
        align: 8,
        kind,
    }
}

fn schema(types: Vec<TypeInfo>) -> Schema {
    Schema {
        types: types.into_iter().map(Some).collect(),
        ..Schema::default()
    }
}

fn field(name: &'static str, of: u32) -> FieldInfo {
    FieldInfo::new(name, 0, TypeIndex(of))
}

fn named(names: &[&'static str]) -> Vec<OlderName> {
    names.iter().map(|name| Cow::Borrowed(*name)).collect()
}

fn message(bytes: &[u8]) -> Option<DefaultValue> {
    Some(DefaultValue::Message(Arc::from(bytes)))
}

/// A struct with two fields, an enum with two variants, and a number.
fn every_kind() -> Schema {
    let variants = vec![
        VariantInfo::new("Unknown", 0, Vec::new()),
        VariantInfo::new("Full", 1, vec![field("0", 2), field("1", 0)]),
    ];
    let fields = vec![field("a", 1), field("b", 2)];
    schema(vec![
        info("Root", Kind::Struct(fields)),
        info("Choice", Kind::Enum { tag: 1, variants }),
        info("u32", Kind::Leaf),
    ])
}

/// Rules of every kind for the types of `every_kind`.
fn every_rule() -> [TypeRules; 3] {
    let renamed = FieldRules {
        names: named(&["old", "older"]),
        narrow: true,
        ..FieldRules::default()
    };
    let filled = FieldRules {
        default: message(&[7; 20]),
        must_understand: true,
        ..FieldRules::default()
    };
    let empty = FieldRules {
        default: message(&[]),
        ..FieldRules::default()
    };
    let root = TypeRules {
        names: named(&["Wurzel", ""]),
        fields: vec![(0, renamed.clone()), (1, filled)],
        variants: Vec::new(),
    };
    let unknown = VariantRules {
        names: named(&["Gone"]),
        other: true,
        fields: Vec::new(),
    };
    let full = VariantRules {
        names: Vec::new(),
        other: false,
        fields: vec![(0, renamed), (1, empty)],
    };
    let choice = TypeRules {
        names: Vec::new(),
        fields: Vec::new(),
        variants: vec![(0, unknown), (1, full)],
    };
    let number = TypeRules {
        names: named(&["Zahl"]),
        ..TypeRules::default()
    };
    [root, choice, number]
}

fn with_rules() -> Schema {
    let mut schema = every_kind();
    for (number, rules) in every_rule().into_iter().enumerate() {
        schema.set_rules(TypeIndex(u32::try_from(number).unwrap()), rules);
    }
    schema
}

/// Makes the snapshot of a root with these rules.
fn snapshot_with(rules: TypeRules) -> Result<Vec<u8>, SnapshotError> {
    let mut schema = every_kind();
    schema.set_rules(ROOT, rules);
    schema.to_snapshot(ROOT)
}

/// Returns the schema of `every_kind`, a record, and a check that matches them.
fn sealed(record: &[u8]) -> Vec<u8> {
    let mut bytes = every_kind().to_bytes(ROOT);
    bytes.extend_from_slice(record);
    let check = checksum(&bytes);
    bytes.extend_from_slice(&check.to_le_bytes());
    bytes
}

#[test]
fn a_schema_without_rules_is_its_own_snapshot() {
    let schema = every_kind();
    let bytes = schema.to_snapshot(ROOT).unwrap();
    assert_eq!(bytes, schema.to_bytes(ROOT));
    let (decoded, root) = Schema::from_snapshot(&bytes).unwrap();
    assert_eq!(decoded, schema);
    assert!(decoded.rules.is_empty());
    assert_eq!(root, ROOT);
    // Rules without effect are not encoded either.
    let empty = TypeRules {
        fields: vec![(1, FieldRules::default())],
        ..TypeRules::default()
    };
    assert_eq!(snapshot_with(empty).unwrap(), bytes);
}

#[test]
fn a_snapshot_gives_the_rules_back() {
    let schema = with_rules();
    let bytes = schema.to_snapshot(ROOT).unwrap();
    assert!(bytes.starts_with(&schema.to_bytes(ROOT)));
    let (decoded, root) = Schema::from_snapshot(&bytes).unwrap();
    assert_eq!(decoded, schema);
    assert_eq!(decoded.rules, schema.rules);
    assert_eq!(decoded.to_snapshot(root).unwrap(), bytes);
    // Rules do not affect the descriptor.
    assert_eq!(decoded.descriptor(root), every_kind().descriptor(ROOT));
    // A schema alone must not have a record behind it.
    assert!(Schema::from_bytes(&bytes).is_err());
}

#[test]
fn the_encoding_is_the_specified_one() {
    let rules = TypeRules {
        names: named(&["R"]),
        fields: vec![(
            1,
            FieldRules {
                names: named(&["c"]),
                default: message(&[9, 8]),
                ..FieldRules::default()
            },
        )],
        variants: Vec::new(),
    };
    let record = [
        1, // version
        1, // types
        0, 1, 1, b'R', // number, names
        1, 1, 1, 1, b'c', 1, 2, 9, 8, // fields: number, names, flags, default
        0, // variants
    ];
    assert_eq!(snapshot_with(rules).unwrap(), sealed(&record));
}

#[test]
fn rules_of_equal_structures_are_united() {
    let of_pair = |rules: [FieldRules; 2]| {
        let fields = vec![field("x", 1), field("y", 2)];
        let part = || info("Part", Kind::Struct(vec![field("n", 3)]));
        let mut schema = schema(vec![
            info("Pair", Kind::Struct(fields)),
            part(),
            part(),
            info("u8", Kind::Leaf),
        ]);
        for (index, rules) in [1, 2].into_iter().zip(rules) {
            let rules = TypeRules {
                fields: vec![(0, rules)],
                ..TypeRules::default()
            };
            schema.set_rules(TypeIndex(index), rules);
        }
        schema.to_snapshot(ROOT)
    };
    let of_first = FieldRules {
        names: named(&["a", "b"]),
        narrow: true,
        ..FieldRules::default()
    };
    let of_second = FieldRules {
        names: named(&["b", "c"]),
        default: message(&[1]),
        must_understand: true,
        ..FieldRules::default()
    };
    let bytes = of_pair([of_first.clone(), of_second.clone()]).unwrap();
    let (united, _) = Schema::from_snapshot(&bytes).unwrap();
    assert_eq!(united.types.len(), 3);
    let expected = FieldRules {
        names: named(&["a", "b", "c"]),
        default: message(&[1]),
        narrow: true,
        must_understand: true,
    };
    assert_eq!(united.rules(TypeIndex(1)).unwrap().fields, [(0, expected)]);
    // Equal defaults are one default, and different ones are ambiguous.
    let again = of_pair([of_second.clone(), of_second.clone()]).unwrap();
    assert!(Schema::from_snapshot(&again).is_ok());
    let other = FieldRules {
        default: message(&[2]),
        ..FieldRules::default()
    };
    let refused = of_pair([of_second, other]).unwrap_err();
    assert_eq!(
        refused,
        SnapshotError::Ambiguous {
            field: "Part.n".to_owned()
        }
    );
    assert!(refused.to_string().starts_with("Part.n has two different"));
}

#[test]
fn the_numbering_is_that_of_the_canonical_schema() {
    let of_root = every_rule()[0].clone();
    // The same structure with other indices, and with types that the root does not reach.
    let variants = vec![
        VariantInfo::new("Unknown", 0, Vec::new()),
        VariantInfo::new("Full", 1, vec![field("0", 1), field("1", 3)]),
    ];
    let mut moved = schema(vec![
        info("unreachable", Kind::Leaf),
        info("u32", Kind::Leaf),
        info("Choice", Kind::Enum { tag: 1, variants }),
        info("Root", Kind::Struct(vec![field("a", 2), field("b", 1)])),
    ]);
    let [root, choice, number] = every_rule();
    moved.set_rules(ROOT, of_root);
    moved.set_rules(TypeIndex(3), root);
    moved.set_rules(TypeIndex(2), choice);
    moved.set_rules(TypeIndex(1), number);
    assert_eq!(
        moved.to_snapshot(TypeIndex(3)),
        with_rules().to_snapshot(ROOT)
    );
}

#[test]
fn rules_that_do_not_fit_their_type_are_refused() {
    let of_field = |number, rules| TypeRules {
        fields: vec![(number, rules)],
        ..TypeRules::default()
    };
    let narrow = FieldRules {
        narrow: true,
        ..FieldRules::default()
    };
    let misfit = |schema: &Schema| {
        let refused = schema.to_snapshot(ROOT).unwrap_err();
        assert!(matches!(refused, SnapshotError::Misfit { .. }), "{refused}");
    };
    let mut schema = every_kind();
    schema.set_rules(ROOT, of_field(2, narrow.clone()));
    misfit(&schema);
    schema.set_rules(ROOT, TypeRules::default());
    assert!(schema.to_snapshot(ROOT).is_ok());
    schema.set_rules(TypeIndex(1), of_field(0, narrow));
    misfit(&schema);
    for number in [1, 2] {
        let other = VariantRules {
            other: true,
            ..VariantRules::default()
        };
        let rules = TypeRules {
            variants: vec![(number, other)],
            ..TypeRules::default()
        };
        schema.set_rules(TypeIndex(1), rules);
        misfit(&schema);
    }
    let named = TypeRules {
        names: named(&["a\u{1b}"]),
        ..TypeRules::default()
    };
    schema.set_rules(TypeIndex(1), named);
    misfit(&schema);
}

#[test]
fn a_default_that_can_not_be_written_is_an_error_with_its_field() {
    let refused = |write: fn() -> Result<Vec<u8>, String>| {
        let rules = FieldRules {
            default: Some(DefaultValue::Function(write)),
            ..FieldRules::default()
        };
        let rules = TypeRules {
            fields: vec![(1, rules)],
            ..TypeRules::default()
        };
        snapshot_with(rules).unwrap_err().to_string()
    };
    let start = "the default of Root.b can't be written: ";
    assert_eq!(
        refused(|| Err("no reason".to_owned())),
        format!("{start}no reason")
    );
    assert_eq!(
        refused(|| std::panic::panic_any(PanicsInDrop)),
        format!("{start}the expression panicked")
    );
    for len in [0, 15, 48] {
        let write: fn() -> _ = match len {
            0 => || Ok(Vec::new()),
            15 => || Ok(vec![0; 15]),
            _ => || Ok(vec![0; 48]),
        };
        assert_eq!(
            refused(write),
            format!("{start}it is not a message of the field's type")
        );
    }
}

/// A payload of a panic that panics again when it is dropped.
struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn a_snapshot_is_limited_in_both_directions() {
    let of_length = |len| {
        let rules = FieldRules {
            default: message(&vec![0; len]),
            ..FieldRules::default()
        };
        snapshot_with(TypeRules {
            fields: vec![(1, rules)],
            ..TypeRules::default()
        })
    };
    let rest = of_length(1 << 19).unwrap().len() - (1 << 19);
    let longest = of_length(Schema::MAX_BYTES - rest).unwrap();
    assert_eq!(longest.len(), Schema::MAX_BYTES);
    assert!(Schema::from_snapshot(&longest).is_ok());
    assert_eq!(
        of_length(Schema::MAX_BYTES - rest + 1),
        Err(SnapshotError::TooLong {
            len: Schema::MAX_BYTES + 1,
            limit: Schema::MAX_BYTES
        })
    );
    let long = vec![0; Schema::MAX_BYTES + 1];
    assert!(matches!(
        Schema::from_snapshot(&long),
        Err(SchemaError::TooLong { .. })
    ));
}

#[test]
fn records_that_lie_are_refused() {
    let refused = |record: &[u8], why: &str| {
        let refused = Schema::from_snapshot(&sealed(record)).unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    };
    refused(&[], "unexpected end");
    refused(&[2, 1, 0, 1, 0, 0, 0], "another version");
    refused(&[1, 0], "without rules");
    refused(&[1, 1, 0, 0, 0, 0], "without effect");
    refused(&[1, 1, 3, 1, 0, 0, 0], "does not exist");
    refused(
        &[1, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0, 0, 0],
        "unexpected end",
    );
    refused(&[1, 2, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0], "ascending");
    refused(&[1, 1, 0, 1, 0, 0, 0, 0], "trailing bytes");
    refused(&[1, 1, 0, 0xff, 0x7f], "unexpected end");
    refused(&[1, 1, 0, 1, 1, 0x1b, 0, 0], "control characters");
    // Fields: unknown flags, no effect, too many, in another order, a default that is too long.
    for unknown in [8, 9, 16] {
        refused(&[1, 1, 0, 0, 1, 0, 0, unknown, 0], "unknown flags");
    }
    refused(&[1, 1, 0, 0, 1, 0, 0, 0, 0], "without effect");
    refused(&[1, 1, 0, 0, 1, 2, 0, 2, 0], "does not exist");
    refused(&[1, 1, 0, 0, 2, 1, 0, 2, 1, 0, 2, 0], "ascending");
    refused(&[1, 1, 0, 0, 1, 0, 0, 1, 9, 0], "beyond the end");
    // Fields of an enum, variants of a struct.
    refused(&[1, 1, 1, 0, 1, 0, 0, 2, 0], "does not exist");
    refused(&[1, 1, 0, 0, 0, 1, 0, 0, 1, 0], "does not exist");
    // Variants: unknown flags, no effect, `other` with fields, a field too many.
    refused(&[1, 1, 1, 0, 0, 1, 0, 0, 2, 0], "unknown flags");
    refused(&[1, 1, 1, 0, 0, 1, 0, 0, 0, 0], "without effect");
    refused(&[1, 1, 1, 0, 0, 1, 1, 0, 1, 0], "that has fields");
    refused(&[1, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 2], "does not exist");
    assert!(Schema::from_snapshot(&sealed(&[1, 1, 1, 0, 0, 1, 0, 0, 1, 0])).is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "takes hours, and no unsafe code is in it")]
fn every_prefix_and_every_damaged_byte_is_an_error_or_a_snapshot() {
    let whole = with_rules().to_snapshot(ROOT).unwrap();
    let schema = every_kind().to_bytes(ROOT).len();
    for len in 0..whole.len() {
        let decoded = Schema::from_snapshot(&whole[..len]);
        assert_eq!(decoded.is_ok(), len == schema, "{len}");
    }
    let checked = whole.len() - CHECK;
    for at in 0..whole.len() {
        for flip in 1..=255u8 {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            assert!(Schema::from_snapshot(&bytes).is_err(), "{at}");
            // With a check that matches, the damage is an error, or a snapshot of something else.
            let check = checksum(&bytes[..checked]);
            bytes[checked..].copy_from_slice(&check.to_le_bytes());
            let Ok((damaged, root)) = Schema::from_snapshot(&bytes) else {
                continue;
            };
            if let Ok(canonical) = damaged.to_snapshot(root) {
                let (again, root) = Schema::from_snapshot(&canonical).unwrap();
                assert_eq!(again.to_snapshot(root).unwrap(), canonical, "{at}");
            }
        }
    }
}

/// Random schemas with random rules, some of which are those of merged structures.
#[test]
#[cfg_attr(miri, ignore = "takes hours, and no unsafe code is in it")]
fn snapshots_are_canonical() {
    const NAMES: [&str; 4] = ["a", "b", "c", ""];
    let mut state = 1u64;
    let mut draw = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut merged, mut with_record) = (0, 0);
    for _ in 0..2_000 {
        let count = 2 + draw(6);
        let mut types = Vec::new();
        for _ in 0..count {
            let fields = |draw: &mut dyn FnMut(usize) -> usize| -> Vec<FieldInfo> {
                let of = |draw: &mut dyn FnMut(usize) -> usize| u32::try_from(draw(count)).unwrap();
                let all = 0..draw(3);
                all.map(|_| field(NAMES[draw(2)], of(draw))).collect()
            };
            types.push(info(
                NAMES[draw(2)],
                match draw(3) {
                    0 => Kind::Leaf,
                    1 => Kind::Struct(fields(&mut draw)),
                    _ => Kind::Enum {
                        tag: 1,
                        variants: vec![
                            VariantInfo::new("None", 0, Vec::new()),
                            VariantInfo::new("Some", 1, fields(&mut draw)),
                        ],
                    },
                },
            ));
        }
        let mut schema = schema(types);
        for number in 0..count {
            let index = TypeIndex(u32::try_from(number).unwrap());
            let names = |draw: &mut dyn FnMut(usize) -> usize| -> Vec<OlderName> {
                let all = 0..draw(3);
                all.map(|_| Cow::Borrowed(NAMES[draw(4)])).collect()
            };
            let fields = |draw: &mut dyn FnMut(usize) -> usize, of: &[FieldInfo]| {
                let mut all = Vec::new();
                for number in 0..of.len() {
                    if draw(2) == 0 {
                        let rules = FieldRules {
                            names: names(draw),
                            default: message(&[1; 3]).filter(|_| draw(2) == 0),
                            narrow: draw(2) == 0,
                            must_understand: draw(2) == 0,
                        };
                        all.push((number, rules));
                    }
                }
                all
            };
            let kind = schema.get(index).unwrap().kind.clone();
            let rules = match kind {
                Kind::Struct(of) => TypeRules {
                    names: names(&mut draw),
                    fields: fields(&mut draw, &of),
                    variants: Vec::new(),
                },
                Kind::Enum { variants, .. } => {
                    let of = |(number, of): (usize, &VariantInfo)| {
                        let rules = VariantRules {
                            names: names(&mut draw),
                            other: of.fields.is_empty() && draw(2) == 0,
                            fields: fields(&mut draw, &of.fields),
                        };
                        (number, rules)
                    };
                    TypeRules {
                        variants: variants.iter().enumerate().map(of).collect(),
                        ..TypeRules::default()
                    }
                }
                _ => TypeRules::default(),
            };
            schema.set_rules(index, rules);
        }
        let bytes = schema.to_snapshot(ROOT).unwrap();
        let (decoded, root) = Schema::from_snapshot(&bytes).unwrap();
        assert_eq!(decoded.to_snapshot(root).unwrap(), bytes);
        assert_eq!(decoded.descriptor(root), schema.descriptor(ROOT));
        let (plain, _) = Schema::from_bytes(&schema.to_bytes(ROOT)).unwrap();
        assert_eq!(decoded, plain);
        merged += usize::from(decoded.types.len() < count);
        with_record += usize::from(!decoded.rules.is_empty());
    }
    assert!(
        merged > 500 && with_record > 1_000,
        "{merged} {with_record}"
    );
}

/// A record of the longest snapshot costs work and memory in proportion to its length.
#[test]
#[cfg_attr(miri, ignore = "takes hours, and no unsafe code is in it")]
fn long_records_are_decoded_and_encoded_again() {
    let fields = (0..30_000).map(|_| field("f", 1)).collect();
    let mut long = schema(vec![
        info("Root", Kind::Struct(fields)),
        info("u32", Kind::Leaf),
    ]);
    let all = (0..30_000).map(|number| {
        let rules = FieldRules {
            names: named(&["g"]),
            default: message(&[0; 4]),
            ..FieldRules::default()
        };
        (number, rules)
    });
    let distinct = (0..20_000).map(|number| Cow::Owned(format!("{number}")));
    long.set_rules(
        ROOT,
        TypeRules {
            names: distinct.collect(),
            fields: all.collect(),
            variants: Vec::new(),
        },
    );
    let bytes = long.to_snapshot(ROOT).unwrap();
    let (decoded, root) = Schema::from_snapshot(&bytes).unwrap();
    assert_eq!(decoded.rules, long.rules);
    assert_eq!(decoded.to_snapshot(root).unwrap(), bytes);
}
