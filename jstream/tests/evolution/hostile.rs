//! Schemas, rules and messages that are made to do harm.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{convert, convert_bytes, refusal};
use jstream::evolve::{Compatibility, Effect, InvalidSchema, compatibility};
use jstream::schema::{DefaultValue, FieldRules, Kind, Schema, TypeIndex, TypeRules};
use jstream::{EmptyBuffer, Limits, ReadError, Reader, Transportable, to_vec};

/// A type of a schema that is made by hand. Types refer to others by their numbers.
#[derive(Clone)]
struct Ty {
    name: String,
    size: u64,
    align: u64,
    kind: Shape,
}

#[derive(Clone)]
enum Shape {
    Leaf,
    Text,
    Struct(Vec<Field>),
    Enum(u64, Vec<(String, i128, Vec<Field>)>),
    Optional(usize),
    Array(usize, u64),
    Reference(usize),
    Slice(usize),
    Outcome(usize, usize),
    Shared(usize),
    Cell(usize),
    Dynamic,
}

type Field = (String, u64, usize);

fn ty(name: &str, (size, align): (u64, u64), kind: Shape) -> Ty {
    Ty {
        name: name.to_owned(),
        size,
        align,
        kind,
    }
}

fn field(name: &str, offset: u64, of: usize) -> Field {
    (name.to_owned(), offset, of)
}

fn u32_() -> Ty {
    ty("u32", (4, 4), Shape::Leaf)
}

fn u64_() -> Ty {
    ty("u64", (8, 8), Shape::Leaf)
}

fn nothing() -> Ty {
    ty("()", (0, 1), Shape::Leaf)
}

fn put(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn put_name(bytes: &mut Vec<u8>, name: &str) {
    put(bytes, name.len() as u128);
    bytes.extend_from_slice(name.as_bytes());
}

fn put_fields(bytes: &mut Vec<u8>, fields: &[Field]) {
    put(bytes, fields.len() as u128);
    for (name, offset, of) in fields {
        put_name(bytes, name);
        put(bytes, u128::from(*offset));
        put(bytes, *of as u128);
    }
}

/// Encodes types as section 7 of the format prescribes. The first one is the root.
fn encode(types: &[Ty]) -> Vec<u8> {
    let mut bytes = vec![1];
    put(&mut bytes, types.len() as u128);
    for of in types {
        put_name(&mut bytes, &of.name);
        put(&mut bytes, u128::from(of.size));
        put(&mut bytes, u128::from(of.align));
        let (kind, parts): (u8, &[u128]) = match &of.kind {
            Shape::Leaf => (0, &[]),
            Shape::Text => (1, &[]),
            Shape::Struct(fields) => {
                bytes.push(2);
                put_fields(&mut bytes, fields);
                continue;
            }
            Shape::Enum(tag, variants) => {
                bytes.push(3);
                put(&mut bytes, u128::from(*tag));
                put(&mut bytes, variants.len() as u128);
                for (name, discriminant, fields) in variants {
                    put_name(&mut bytes, name);
                    let value = *discriminant;
                    put(&mut bytes, ((value << 1) ^ (value >> 127)) as u128);
                    put_fields(&mut bytes, fields);
                }
                continue;
            }
            Shape::Optional(of) => (4, &[*of as u128]),
            Shape::Array(of, len) => (5, &[*of as u128, u128::from(*len)]),
            Shape::Reference(of) => (6, &[*of as u128]),
            Shape::Slice(of) => (7, &[*of as u128]),
            Shape::Outcome(ok, err) => (8, &[*ok as u128, *err as u128]),
            Shape::Shared(of) => (9, &[*of as u128]),
            Shape::Cell(of) => (10, &[*of as u128]),
            Shape::Dynamic => (11, &[]),
        };
        bytes.push(kind);
        for part in parts {
            put(&mut bytes, *part);
        }
    }
    bytes
}

fn decoded(types: &[Ty]) -> (Schema, TypeIndex) {
    let bytes = encode(types);
    assert!(bytes.len() <= Schema::MAX_BYTES, "{} bytes", bytes.len());
    Schema::from_bytes(&bytes).unwrap()
}

fn compared(old: &[Ty], new: &[Ty]) -> Result<Compatibility, InvalidSchema> {
    let ((old, old_root), (new, new_root)) = (decoded(old), decoded(new));
    compatibility((&old, old_root), (&new, new_root))
}

/// The error of a schema that can't be used.
#[track_caller]
fn invalid(types: &[Ty]) -> &'static str {
    match compared(types, types) {
        Ok(found) => panic!("the schema was accepted: {found}"),
        Err(error) => error.details,
    }
}

/// A message of this type: a header, and these segments.
fn message(descriptor: u64, objects: &[u8], (bulk, align): (&[u8], u32), text: &[u8]) -> Vec<u8> {
    let vector = to_vec(&0u8).unwrap();
    let mut bytes = vector[..4].to_vec();
    let objects_end = 40 + objects.len();
    bytes.extend(align.to_le_bytes());
    bytes.extend(descriptor.to_le_bytes());
    for len in [objects_end, bulk.len(), text.len()] {
        bytes.extend((len as u64).to_le_bytes());
    }
    bytes.extend(objects);
    while bytes.len() % align as usize > 0 {
        bytes.push(0);
    }
    bytes.extend(bulk);
    bytes.extend(text);
    bytes
}

fn read<New>(reader: &mut Reader, bytes: &[u8]) -> Result<jstream::Received<New>, ReadError>
where
    New: Transportable + 'static,
{
    let message = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    reader.read::<New>(message).map_err(|failure| failure.error)
}

#[test]
fn inconsistent_schemas_are_refused() {
    let root = |size, align, fields| ty("S", (size, align), Shape::Struct(fields));
    // A type that contains itself, directly and by another.
    assert!(invalid(&[root(4, 4, vec![field("a", 0, 0)])]).contains("itself"));
    let cycle = [
        root(4, 4, vec![field("a", 0, 1)]),
        ty("Option", (4, 4), Shape::Optional(2)),
        ty("[]", (4, 4), Shape::Array(0, 1)),
    ];
    assert!(invalid(&cycle).contains("itself"));
    let overlap = vec![field("a", 0, 1), field("b", 4, 2)];
    let types = [root(16, 8, overlap), u64_(), u32_()];
    assert!(invalid(&types).contains("overlap"));
    let beyond = vec![field("a", 8, 1)];
    assert!(invalid(&[root(8, 8, beyond), u64_()]).contains("outside"));
    let beyond = vec![field("a", u64::MAX - 7, 1)];
    assert!(invalid(&[root(8, 8, beyond), u64_()]).contains("outside"));
    let askew = vec![field("a", 4, 1)];
    assert!(invalid(&[root(16, 8, askew), u64_()]).contains("aligned"));
    for (size, align) in [
        (8, 3),
        (8, 0),
        (512, 256),
        (12, 8),
        (1 << 63, 8),
        (u64::MAX, 1),
    ] {
        let details = invalid(&[root(size, align, Vec::new())]);
        assert!(details.contains("size or alignment"), "{details}");
    }
    let lying = [ty("[]", (8, 4), Shape::Array(1, 1 << 62)), u32_()];
    assert!(invalid(&lying).contains("array"));
    let lying = [ty("&", (16, 8), Shape::Reference(1)), u32_()];
    assert!(invalid(&lying).contains("pointer"));
    let unsized_root = [ty("str", (1, 1), Shape::Text)];
    assert!(invalid(&unsized_root).contains("unsized"));
    let inline = [
        root(1, 1, vec![field("a", 0, 1)]),
        ty("str", (1, 1), Shape::Text),
    ];
    assert!(invalid(&inline).contains("inline"));
    let inline = [
        ty("Result", (16, 8), Shape::Outcome(1, 2)),
        u64_(),
        ty("Trait", (0, 1), Shape::Dynamic),
    ];
    assert!(invalid(&inline).contains("inline"));
    let shared = [ty("Shared", (8, 8), Shape::Shared(1)), u64_()];
    assert!(invalid(&shared).contains("not a pointer"));
    let cell = [
        ty("Cell", (8, 8), Shape::Cell(1)),
        ty("&", (8, 8), Shape::Reference(2)),
        u64_(),
    ];
    assert!(invalid(&cell).contains("cell"));
}

#[test]
fn deep_nesting_is_refused_and_its_limit_is_not() {
    let nested = |depth: usize, leaf: Ty| {
        let wrap = |next| {
            ty(
                "W",
                (leaf.size, leaf.align),
                Shape::Struct(vec![field("a", 0, next)]),
            )
        };
        let mut types: Vec<Ty> = (1..depth).map(wrap).collect();
        types.push(leaf.clone());
        types
    };
    assert!(invalid(&nested(129, u32_())).contains("nested"));
    assert!(invalid(&nested(10_000, u32_())).contains("nested"));
    let found = compared(&nested(128, u32_()), &nested(128, u64_())).unwrap();
    assert_eq!(found.effect(), Effect::Converted);
    assert_eq!(found.findings().len(), 1, "{found}");
    assert!(found.findings()[0].path.starts_with('…'), "{found}");
}

#[test]
fn two_variants_do_not_share_a_tag() {
    let of = |tags: &[i128]| {
        let variants = tags.iter().zip('A'..);
        let variants = variants.map(|(tag, name)| (name.to_string(), *tag, Vec::new()));
        [ty("E", (1, 1), Shape::Enum(1, variants.collect()))]
    };
    assert!(invalid(&of(&[0, 1, 1])).contains("same tag"));
    // The tag has the low bits of the discriminant.
    assert!(invalid(&of(&[0, 256])).contains("same tag"));
    assert!(invalid(&of(&[-1, 255])).contains("same tag"));
    assert!(compared(&of(&[-1, 254]), &of(&[-1, 254])).is_ok());
    assert!(compared(&of(&[i128::MIN, i128::MAX]), &of(&[3, 7])).is_ok());
}

#[test]
fn enums_with_many_variants_are_compared() {
    let of = |first: i128| {
        let variants = (0..1 << 16).map(|index: i128| {
            let name = format!("{index:x}");
            (name, first + index, Vec::new())
        });
        [ty("E", (8, 8), Shape::Enum(8, variants.collect()))]
    };
    let found = compared(&of(0), &of(-1)).unwrap();
    assert_eq!(found.effect(), Effect::Converted, "{found}");
}

#[test]
fn names_that_occur_twice_are_refused() {
    let twice = [
        ty(
            "S",
            (8, 4),
            Shape::Struct(vec![field("a", 0, 1), field("a", 4, 1)]),
        ),
        u32_(),
    ];
    let found = compared(&twice, &twice).unwrap();
    assert_eq!(found.effect(), Effect::Refused);
    assert!(found.to_string().contains("two fields `a`"), "{found}");
    let variant = |tag| ("A".to_owned(), tag, Vec::new());
    let twice = [ty(
        "E",
        (1, 1),
        Shape::Enum(1, vec![variant(0), variant(1)]),
    )];
    let found = compared(&twice, &twice).unwrap();
    assert_eq!(found.effect(), Effect::Refused);
    assert!(found.to_string().contains("two variants `A`"), "{found}");
}

#[test]
fn long_names_are_cut_in_findings() {
    let long = "x".repeat(1 << 17);
    let of = |leaf: &str| {
        let fields = (0..2000).map(|index| field(&format!("f{index}"), index * 4, 1));
        [
            ty("S", (8000, 4), Shape::Struct(fields.collect())),
            ty(leaf, (4, 4), Shape::Leaf),
        ]
    };
    let found = compared(&of(&long), &of(&format!("{long}y"))).unwrap();
    assert_eq!(found.effect(), Effect::Refused);
    assert!(found.to_string().len() < 10_000);
}

/// A chain of `len` structs, each of which refers to the next one, and the last to the first. Each
/// has `extra` parts.
fn chain(len: usize, size: u64, extra: &dyn Fn(usize) -> Vec<Field>) -> Vec<Ty> {
    let link = |index: usize| {
        let mut fields = vec![field("n", 0, len + index)];
        fields.extend(extra(index));
        ty("L", (size, 8), Shape::Struct(fields))
    };
    let pointer = |index: usize| ty("&", (8, 8), Shape::Reference((index + 1) % len));
    (0..len).map(link).chain((0..len).map(pointer)).collect()
}

#[test]
fn many_types_against_a_recursive_one_take_bounded_time() {
    let one = chain(1, 8, &|_| Vec::new());
    let many = chain(40_000, 8, &|_| Vec::new());
    assert_eq!(compared(&many, &one).unwrap().effect(), Effect::Converted);
    // Lengths without a common divisor, whose product is the number of pairs.
    for (old, new) in [(40_000, 39_999), (257, 256), (1001, 1000), (40_000, 7)] {
        let old = chain(old, 8, &|_| Vec::new());
        let found = compared(&old, &chain(new, 8, &|_| Vec::new())).unwrap();
        let details = found.to_string();
        assert!(
            found.effect() == Effect::Converted || details.contains("too many parts"),
            "{details}"
        );
    }
}

#[test]
fn wide_parts_of_many_wholes_take_bounded_memory() {
    // Each link holds a struct of 120 fields, whose conversion has 120 steps.
    const LEN: usize = 20_000;
    let types = |len: usize, leaf: Ty| {
        let wide = (0..120).map(|index| field(&format!("{index}"), index * leaf.size, 2 * len + 1));
        let wide = ty(
            "P",
            (120 * leaf.size, leaf.align),
            Shape::Struct(wide.collect()),
        );
        let size = 8 + 120 * leaf.size;
        let mut types = chain(len, size, &|_| vec![field("p", 8, 2 * len)]);
        types.extend([wide, leaf]);
        types
    };
    let found = compared(&types(LEN, u32_()), &types(1, u64_())).unwrap();
    assert_eq!(found.effect(), Effect::Converted);
}

#[test]
fn all_pairs_of_inline_types_take_bounded_time() {
    // Chains of structs of 100 levels, whose pairs are all deep.
    let of = |len: usize, leaf: Ty| {
        let start = 2 * len;
        let mut types = chain(len, 8 + leaf.size, &|index| {
            vec![field("p", 8, start + (index % 90))]
        });
        for level in 0..100 {
            let (next, size) = (start + level + 1, (leaf.size, leaf.align));
            let variants = vec![("V".to_owned(), 0, vec![]), ("W".to_owned(), 1, vec![])];
            types.push(match level {
                99 => ty("E", size, Shape::Enum(leaf.size, variants)),
                _ => ty("D", size, Shape::Struct(vec![field("d", 0, next)])),
            });
        }
        types
    };
    let found = compared(&of(250, u64_()), &of(249, u64_())).unwrap();
    // Some of these pairs are a struct and an enum.
    assert_eq!(found.effect(), Effect::Refused);
}

#[test]
fn dropped_parts_with_obligations_take_bounded_time() {
    // Each of the dropped fields has a type with many fields.
    let mut fields: Vec<Field> = (0..40_000)
        .map(|index| field(&format!("{index}"), 0, 1))
        .collect();
    fields.push(field("kept", 0, 3));
    let inner = (0..60_000).map(|index| field(&format!("{index}"), 0, 2));
    let old = [
        ty("S", (4, 4), Shape::Struct(fields)),
        ty("Inner", (0, 1), Shape::Struct(inner.collect())),
        nothing(),
        ty("Kept", (4, 4), Shape::Struct(vec![field("a", 0, 4)])),
        u32_(),
    ];
    let new = [
        ty("S", (4, 4), Shape::Struct(vec![field("kept", 0, 1)])),
        ty("Kept", (4, 4), Shape::Struct(vec![field("a", 0, 2)])),
        u32_(),
    ];
    let (mut old, root) = decoded(&old);
    let mut must = FieldRules::default();
    must.must_understand = true;
    let mut rules = TypeRules::default();
    rules.fields = vec![(0, must)];
    // The type `Kept` has an obligation, which the new version fulfils.
    let snapshot = {
        let kept = match &old.get(root).unwrap().kind {
            Kind::Struct(fields) => fields.last().unwrap().of,
            other => panic!("{other:?}"),
        };
        old.set_rules(kept, rules);
        old.to_snapshot(root).unwrap()
    };
    let (old, root) = Schema::from_snapshot(&snapshot).unwrap();
    let (new, new_root) = decoded(&new);
    let found = compatibility((&old, root), (&new, new_root)).unwrap();
    assert_eq!(found.effect(), Effect::Converted, "{found}");
}

#[test]
fn recursive_keys_are_compared_once() {
    // A set of slices of such slices, whose comparison must end.
    let of = |added: bool| {
        let mut fields = vec![field("set", 0, 1)];
        if added {
            fields.push(field("added", 16, 4));
        }
        let size = if added { 24 } else { 16 };
        [
            ty("S", (size, 8), Shape::Struct(fields)),
            ty(
                "SortedSet",
                (16, 8),
                Shape::Struct(vec![field("elements", 0, 2)]),
            ),
            ty("&", (16, 8), Shape::Slice(3)),
            ty("K", (16, 8), Shape::Struct(vec![field("0", 0, 2)])),
            ty("Option", (8, 4), Shape::Optional(5)),
            u32_(),
        ]
    };
    let found = compared(&of(false), &of(true)).unwrap();
    assert_eq!(found.effect(), Effect::Converted, "{found}");
    let slices = |added: bool| {
        let mut types = of(added).to_vec();
        types[3] = ty("&", (16, 8), Shape::Slice(3));
        types[2] = ty("&", (16, 8), Shape::Slice(3));
        types
    };
    let found = compared(&slices(false), &slices(true)).unwrap();
    assert_eq!(found.effect(), Effect::Converted, "{found}");
}

#[test]
fn many_defaults_are_planned_in_bounded_time() {
    // Each default belongs to one of many types of a large schema.
    const FIELDS: u64 = 12_000;
    let types = |added: bool| {
        let fields = (0..if added { FIELDS } else { 0 }).map(|index| {
            let of = usize::try_from(index).unwrap() + 2;
            field(&format!("{index}"), 4 * (index + 1), of)
        });
        let fields = [field("kept", 0, 1)].into_iter().chain(fields);
        let size = if added { 4 * (FIELDS + 1) } else { 4 };
        let mut types = vec![ty("S", (size, 4), Shape::Struct(fields.collect())), u32_()];
        types.extend((0..FIELDS).map(|_| ty("N", (4, 4), Shape::Struct(vec![field("0", 0, 1)]))));
        types
    };
    let (old, root) = decoded(&types(false));
    let (mut new, new_root) = decoded(&types(true));
    let of = match &new.get(new_root).unwrap().kind {
        Kind::Struct(fields) => fields[1].of,
        other => panic!("{other:?}"),
    };
    let default = message(new.descriptor(of), &[7, 0, 0, 0], (&[], 1), &[]);
    let mut rules = TypeRules::default();
    for index in 1..=usize::try_from(FIELDS).unwrap() {
        let mut rule = FieldRules::default();
        rule.default = Some(DefaultValue::Message(default.as_slice().into()));
        rules.fields.push((index, rule));
    }
    new.set_rules(new_root, rules);
    let found = compatibility((&old, root), (&new, new_root)).unwrap();
    assert!(found.to_string().contains("too many parts"), "{found}");
}

#[test]
fn a_variant_with_two_incompatible_fields_refuses_only_its_messages() {
    #[derive(Transportable)]
    #[repr(u8)]
    enum Old {
        Pair { a: u32, b: i32 },
        Single(u32),
    }
    #[derive(Transportable, Debug, PartialEq)]
    #[repr(u8)]
    enum New {
        Pair { a: u16, b: i16, c: u16 },
        Single(u64),
    }
    let ((old, old_root), (new, new_root)) = (Schema::of::<Old>(), Schema::of::<New>());
    let found = compatibility((&old, old_root), (&new, new_root)).unwrap();
    assert_eq!(found.effect(), Effect::Conditional, "{found}");
    assert!(found.is_compatible());
    let conditional = |path: &str| {
        let mut findings = found.findings().iter();
        findings
            .any(|finding| finding.path.ends_with(path) && finding.effect == Effect::Conditional)
    };
    assert!(
        conditional("Pair.a") && conditional("Pair.b") && conditional("Pair.c"),
        "{found}"
    );
    let received = convert::<Old, New>(&Old::Single(3)).unwrap();
    assert_eq!(*received.get(), New::Single(3));
    assert_ne!(*received.get(), New::Pair { a: 0, b: 0, c: 0 });
    assert!(refusal::<Old, New>(&Old::Pair { a: 1, b: 2 }).contains("variant `Pair`"));
}

#[test]
fn all_incompatible_fields_of_a_struct_are_refused() {
    #[derive(Transportable)]
    struct Old {
        a: u32,
        inner: Inner<i32>,
    }
    #[derive(Transportable)]
    struct Inner<T> {
        value: T,
    }
    #[derive(Transportable)]
    struct New {
        a: u16,
        inner: Inner<i16>,
        missing: u8,
    }
    let ((old, old_root), (new, new_root)) = (Schema::of::<Old>(), Schema::of::<New>());
    let found = compatibility((&old, old_root), (&new, new_root)).unwrap();
    for path in ["New.a", "New.inner.value", "New.missing"] {
        let mut findings = found.findings().iter();
        let refused = findings.any(|of| of.path == path && of.effect == Effect::Refused);
        assert!(refused, "{path}: {found}");
    }
    let _ = |old: Old, new: New| (old.a, old.inner.value, new.a, new.inner.value, new.missing);
}

#[test]
fn more_differences_than_are_listed_keep_their_effect() {
    // The variant that is refused comes after 2,000 fields that were widened.
    let of = |leaf: fn() -> Ty, last: Ty| {
        let size = leaf().size;
        let fields = (0..2000).map(|index| field(&format!("{index}"), index * size, 1));
        let fields = fields.chain([field("last", 2000 * size, 2)]);
        let variants = vec![
            ("A".to_owned(), 0, Vec::new()),
            ("B".to_owned(), 1, vec![field("0", 8, 3)]),
        ];
        let mut types = vec![
            ty("S", (2000 * size + 16, 8), Shape::Struct(fields.collect())),
            leaf(),
            ty("E", (16, 8), Shape::Enum(1, variants)),
            last,
        ];
        // Types of their own, whose differences are listed each.
        for index in 0..2000 {
            types.push(ty("N", (size, size), Shape::Struct(vec![field("0", 0, 1)])));
            let Shape::Struct(fields) = &mut types[0].kind else {
                unreachable!()
            };
            fields[index].2 = index + 4;
        }
        types
    };
    let old = of(u32_, u64_());
    let mut new = of(u32_, ty("str", (8, 8), Shape::Leaf));
    // Each of these structs has another field.
    for of in &mut new[4..] {
        of.kind = Shape::Struct(vec![field("1", 0, 1)]);
        of.size = 8;
    }
    let Shape::Struct(fields) = &mut new[0].kind else {
        unreachable!()
    };
    for (index, of) in fields.iter_mut().enumerate() {
        of.1 = index as u64 * 8;
    }
    new[0].size = 2000 * 8 + 16;
    for of in &mut new[4..] {
        of.align = 8;
    }
    let found = compared(&old, &new).unwrap();
    assert_eq!(found.effect(), Effect::Refused, "{found}");
    assert!(found.to_string().contains("further differences"), "{found}");
}

#[derive(Transportable)]
struct Empty {}

#[derive(Transportable)]
struct Filled {
    #[transportable(default = 7)]
    value: u8,
}

#[test]
fn slices_without_bytes_do_not_grow_without_limit() {
    let bytes = to_vec(&vec![Empty {}, Empty {}, Empty {}]).unwrap();
    let received = convert_bytes::<Vec<Empty>, Vec<Filled>>(&bytes).unwrap();
    let values: Vec<u8> = received.get().iter().map(|filled| filled.value).collect();
    assert_eq!(values, [7, 7, 7]);
    let at = bytes
        .windows(8)
        .rposition(|word| word == 3u64.to_le_bytes())
        .unwrap();
    for len in [1 << 20, 1 << 60, u64::MAX] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&len.to_le_bytes());
        let error = convert_bytes::<Vec<Empty>, Vec<Filled>>(&bytes)
            .map(drop)
            .unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("limit") || error.contains("address space"),
            "{error}"
        );
    }
}

#[test]
fn arrays_without_bytes_do_not_grow_without_limit() {
    #[derive(Transportable)]
    struct Old {
        many: [Empty; 1 << 20],
    }
    #[derive(Transportable)]
    struct New {
        many: Vec<Filled>,
    }
    let old = Old {
        many: [const { Empty {} }; 1 << 20],
    };
    assert!(refusal::<Old, New>(&old).contains("limit"));
    let _ = |old: Old, new: New| (old.many.len(), new.many.len());
}

#[test]
fn defaults_that_multiply_are_limited() {
    #[derive(Transportable, Clone)]
    struct Old {
        a: u8,
    }
    #[derive(Transportable)]
    struct New {
        a: u8,
        #[transportable(default = "x".repeat(1 << 17))]
        text: String,
    }
    let received = convert::<Old, New>(&Old { a: 1 }).map(drop).unwrap_err();
    // The default is longer than 64 KiB.
    assert!(received.to_string().contains("limit"), "{received}");
    let many = vec![Old { a: 1 }; 100_000];
    assert!(refusal::<Vec<Old>, Vec<New>>(&many).contains("limit"));
    let _ = |new: New| (new.a, new.text);
}

thread_local! {
    static READER: RefCell<Reader> = RefCell::default();
}

#[test]
fn a_default_may_not_use_the_reader_that_plans_it() {
    #[derive(Transportable)]
    struct Old {
        a: u8,
    }
    #[derive(Transportable)]
    struct New {
        a: u8,
        #[transportable(default = own_reader())]
        b: u8,
    }
    fn own_reader() -> u8 {
        READER.with_borrow_mut(|reader| {
            let bytes = to_vec(&Old { a: 3 }).unwrap();
            read::<New>(reader, &bytes).unwrap().get().a
        })
    }
    let (schema, root) = Schema::of::<Old>();
    let error = READER.with_borrow_mut(|reader| {
        reader.learn(&schema, root).unwrap();
        let bytes = to_vec(&Old { a: 3 }).unwrap();
        read::<New>(reader, &bytes).map(drop).unwrap_err()
    });
    assert!(
        error
            .to_string()
            .contains("New.b: the default: the expression panicked"),
        "{error}"
    );
    // The reader is usable.
    let bytes = to_vec(&Old { a: 3 }).unwrap();
    let received = READER
        .with_borrow_mut(|reader| read::<Old>(reader, &bytes))
        .unwrap();
    assert_eq!(received.get().a, 3);
    let _ = |new: New| (new.a, new.b);
}

#[test]
fn a_narrowed_pointer_may_share_the_root() {
    mod old {
        use std::cell::Cell;

        #[derive(jstream::Transportable)]
        pub(super) struct Node<'b> {
            pub(super) value: u32,
            pub(super) next: Cell<Option<&'b Node<'b>>>,
        }
    }
    mod new {
        use std::cell::Cell;

        #[derive(jstream::Transportable)]
        pub(super) struct Node<'b> {
            pub(super) value: u64,
            #[transportable(narrow)]
            pub(super) next: Cell<Option<&'b Node<'b>>>,
        }
    }
    let node = old::Node {
        value: 7,
        next: Cell::new(None),
    };
    node.next.set(Some(&node));
    let bytes = to_vec(&node).unwrap();
    let received = convert_bytes::<old::Node<'static>, new::Node<'static>>(&bytes).unwrap();
    received.with(|node| {
        let next = node.next.get().unwrap();
        assert_eq!((node.value, next.value), (7, 7));
        assert!(std::ptr::eq(next, next.next.get().unwrap()));
    });
}

#[test]
fn obligations_of_all_snapshots_apply() {
    mod plain {
        #[derive(jstream::Transportable)]
        pub(super) struct Order {
            pub(super) id: u32,
            pub(super) cap: u32,
            pub(super) fee: u32,
        }
    }
    mod capped {
        #[derive(jstream::Transportable)]
        pub(super) struct Order {
            pub(super) id: u32,
            #[transportable(must_understand)]
            pub(super) cap: u32,
            pub(super) fee: u32,
        }
    }
    mod fee {
        #[derive(jstream::Transportable)]
        pub(super) struct Order {
            pub(super) id: u32,
            pub(super) cap: u32,
            #[transportable(must_understand)]
            pub(super) fee: u32,
        }
    }
    #[derive(Transportable)]
    struct Order {
        id: u32,
    }
    let order = plain::Order {
        id: 1,
        cap: 2,
        fee: 3,
    };
    let bytes = to_vec(&order).unwrap();
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<plain::Order>();
    reader.learn(&schema, root).unwrap();
    assert_eq!(read::<Order>(&mut reader, &bytes).unwrap().get().id, 1);
    let (schema, root) = Schema::of::<capped::Order>();
    reader.learn(&schema, root).unwrap();
    let error = read::<Order>(&mut reader, &bytes)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("Order.cap") && !error.contains("Order.fee: the"),
        "{error}"
    );
    let (schema, root) = Schema::of::<fee::Order>();
    reader
        .learn_bytes(&schema.to_snapshot(root).unwrap())
        .unwrap();
    // Nor does a later schema revoke them.
    let (schema, root) = Schema::of::<plain::Order>();
    reader.learn(&schema, root).unwrap();
    let error = read::<Order>(&mut reader, &bytes)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("Order.cap: the") && error.contains("Order.fee: the"),
        "{error}"
    );
    let _ = |order: plain::Order| (order.id, order.cap, order.fee);
    let _ = |order: capped::Order| (order.id, order.cap, order.fee);
    let _ = |order: fee::Order| (order.id, order.cap, order.fee);
}

/// The bytes of a message, with another descriptor.
fn with_descriptor(mut bytes: Vec<u8>, descriptor: u64) -> Vec<u8> {
    bytes[8..16].copy_from_slice(&descriptor.to_le_bytes());
    bytes
}

#[test]
fn fields_without_bytes_take_bounded_time() {
    #[derive(Transportable, Clone)]
    #[repr(u8)]
    enum New {
        A,
    }
    // Each value is a byte, but has tens of thousands of fields.
    let fields = (0..60_000).map(|index| field(&format!("{index}"), 0, 2));
    let variants = vec![("A".to_owned(), 0, fields.collect())];
    let old = [
        ty("&", (16, 8), Shape::Slice(1)),
        ty("E", (1, 1), Shape::Enum(1, variants)),
        nothing(),
    ];
    let (old, root) = decoded(&old);
    let mut reader = Reader::default();
    let descriptor = reader.learn(&old, root).unwrap();
    let bytes = with_descriptor(to_vec(&vec![0u8; 1 << 20]).unwrap(), descriptor);
    let received = read::<Vec<New>>(&mut reader, &bytes).unwrap();
    assert_eq!(received.get().len(), 1 << 20);
    let _ = New::A;
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases")]
fn damaged_messages_give_errors_or_values() {
    #[derive(Transportable, Clone)]
    struct Old<'b> {
        id: u32,
        name: Option<String>,
        nested: Vec<Result<Option<Option<String>>, Vec<u16>>>,
        kind: Sort,
        shared: Vec<Rc<String>>,
        keys: std::collections::HashMap<u8, Option<bool>>,
        this: Cell<Option<&'b Old<'b>>>,
        array: [Option<char>; 2],
    }
    #[derive(Transportable, Clone)]
    enum Sort {
        Plain,
        Texts([Option<&'static str>; 2]),
        Tree(Box<Sort>, Vec<Sort>),
    }
    #[derive(Transportable)]
    struct New<'b> {
        array: Vec<Option<char>>,
        keys: std::collections::HashMap<u32, Option<Option<bool>>>,
        kind: Option<NewSort>,
        added: Option<String>,
        shared: Vec<Rc<String>>,
        nested: Vec<Result<Option<Option<String>>, Vec<u64>>>,
        this: Cell<Option<&'b New<'b>>>,
        #[transportable(narrow)]
        id: u8,
    }
    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    enum NewSort {
        Tree(Box<NewSort>, Vec<NewSort>),
        Texts(Vec<Option<&'static str>>),
        #[transportable(other)]
        Unknown,
    }
    let _ = || {
        [
            NewSort::Unknown,
            NewSort::Texts(vec![]),
            NewSort::Tree(Box::new(NewSort::Unknown), vec![]),
        ]
    };
    #[derive(Transportable)]
    struct Other {
        texts: Vec<Option<String>>,
        tree: Option<Box<Other>>,
        list: Vec<Other>,
        bytes: Vec<u8>,
        flags: [bool; 8],
    }
    let text = Rc::new("shared".to_owned());
    let old = Old {
        id: 200,
        name: Some("näme".to_owned()),
        nested: vec![
            Ok(Some(None)),
            Ok(Some(Some("x".to_owned()))),
            Err(vec![1, 2]),
            Ok(None),
        ],
        kind: Sort::Tree(
            Box::new(Sort::Texts([None, Some("t")])),
            vec![Sort::Plain, Sort::Texts([Some(""), None])],
        ),
        shared: vec![text.clone(), Rc::new("x".to_owned()), text],
        keys: (0..9).map(|key| (key, Some(key % 2 == 0))).collect(),
        this: Cell::new(None),
        array: [Some('ä'), None],
    };
    let old_this = old.clone();
    old.this.set(Some(&old_this));
    old_this.this.set(Some(&old));
    let bytes = to_vec(&old).unwrap();
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<Old<'static>>();
    reader.learn(&schema, root).unwrap();
    let (schema, root) = Schema::of::<Other>();
    let other = reader.learn(&schema, root).unwrap();
    let mut accepted = 0;
    let mut check = |bytes: &[u8]| {
        if let Ok(received) = read::<New<'static>>(&mut reader, bytes) {
            // Values that were accepted can be used.
            received.with(|new| {
                let texts = format!("{:?} {:?}", new.kind, new.nested);
                assert!(!texts.is_empty() && new.shared.len() + new.keys.len() < 10_000);
            });
            accepted += 1;
        }
        let _ = read::<Old<'static>>(&mut reader, &with_descriptor(bytes.to_vec(), other));
    };
    check(&bytes);
    for len in 40..bytes.len() {
        check(&bytes[..len]);
    }
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            check(&bytes);
        }
    }
    assert!(accepted > 20, "only {accepted} were accepted");
    let _ = |other: Other| {
        (
            other.texts,
            other.list.len(),
            other.bytes,
            other.flags,
            other.tree.is_some(),
        )
    };
}

#[test]
fn messages_under_false_schemas_give_errors_or_values() {
    #[derive(Transportable)]
    struct Texts {
        a: Vec<String>,
        b: Option<String>,
    }
    #[derive(Transportable)]
    struct Numbers {
        a: Vec<u64>,
        b: [u16; 4],
    }
    #[derive(Transportable)]
    struct Tree {
        a: Vec<Tree>,
        b: Option<Box<Tree>>,
        c: Rc<u64>,
    }
    #[derive(Transportable)]
    #[transportable(derive(Debug))]
    struct New {
        a: Option<Vec<New>>,
        #[transportable(default)]
        d: u8,
    }
    let tree = |list| Tree {
        a: list,
        b: None,
        c: Rc::new(1),
    };
    let messages = [
        to_vec(&Texts {
            a: vec!["a".to_owned(), "b".to_owned()],
            b: None,
        })
        .unwrap(),
        to_vec(&Numbers {
            a: (120..160).collect(),
            b: [0, 0, 1, 128],
        })
        .unwrap(),
        to_vec(&tree(vec![tree(vec![]), tree(vec![])])).unwrap(),
        to_vec(&vec![128u64; 100]).unwrap(),
        to_vec(&[0u64; 100]).unwrap(),
    ];
    let mut reader = Reader::default();
    let schemas = [
        Schema::of::<Texts>(),
        Schema::of::<Numbers>(),
        Schema::of::<Tree>(),
    ];
    let schemas = schemas.map(|(schema, root)| reader.learn(&schema, root).unwrap());
    for bytes in &messages {
        for descriptor in schemas {
            let bytes = with_descriptor(bytes.clone(), descriptor);
            for at in 40..bytes.len() {
                for value in [0, 1, 0x80, 0xff] {
                    let mut bytes = bytes.clone();
                    bytes[at] = value;
                    if let Ok(received) = read::<New>(&mut reader, &bytes) {
                        assert!(!format!("{:?}", received.get()).is_empty());
                    }
                }
            }
        }
    }
    let _ = |a: Texts, b: Numbers| (a.a, a.b, b.a, b.b);
}

#[test]
fn small_limits_refuse_conversions() {
    #[derive(Transportable)]
    struct Old {
        texts: Vec<String>,
        shared: Vec<Rc<String>>,
        nothing: Vec<()>,
        lists: Vec<Vec<Vec<String>>>,
    }
    #[derive(Transportable)]
    struct New {
        lists: Vec<Vec<Vec<String>>>,
        texts: Vec<String>,
        nothing: Vec<()>,
        shared: Vec<Rc<String>>,
        added: Option<u8>,
    }
    let text = Rc::new("x".to_owned());
    let old = Old {
        texts: vec!["text".to_owned(); 5],
        shared: vec![text; 3],
        nothing: vec![(); 60_000],
        lists: vec![vec![vec!["a".to_owned()]; 2]; 4],
    };
    let bytes = to_vec(&old).unwrap();
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<Old>();
    reader.learn(&schema, root).unwrap();
    let all = |zero_sized: usize| {
        let mut limits = Limits::default();
        limits.zero_sized = zero_sized;
        limits
    };
    let mut set: Vec<Limits> = vec![all(0), all(1000)];
    for small in [0, 1, 2] {
        let mut limits = all(1 << 20);
        limits.pending = small;
        set.push(limits);
        let mut limits = all(1 << 20);
        limits.depth = Some(u32::try_from(small).unwrap());
        set.push(limits);
        let mut limits = all(1 << 20);
        limits.shared = small;
        set.push(limits);
    }
    for bytes in [0, 40, 100, bytes.len()] {
        let mut limits = all(1 << 20);
        limits.bytes = bytes;
        set.push(limits);
    }
    for limits in set {
        reader.set_limits(limits);
        let shared = limits.shared;
        let read = read::<New>(&mut reader, &bytes);
        // The root and the text are shared.
        assert!(read.is_err() || shared == 2, "{limits:?}");
    }
    reader.set_limits(all(1 << 20));
    assert!(read::<New>(&mut reader, &bytes).is_ok());
    let _ = |old: Old| (old.texts, old.shared, old.lists, old.nothing);
}

#[test]
fn schemas_that_were_forgotten_are_unknown() {
    let mut reader = Reader::default();
    let types = |index: usize| {
        [
            ty(
                "Many",
                (4, 4),
                Shape::Struct(vec![field("a", 0, 1), field(&format!("z{index}"), 4, 2)]),
            ),
            u32_(),
            nothing(),
        ]
    };
    #[derive(Transportable)]
    struct New {
        a: u64,
    }
    let bytes = to_vec(&5u32).unwrap();
    let mut descriptors = Vec::new();
    for index in 0..300 {
        let (schema, root) = decoded(&types(index));
        let descriptor = reader.learn(&schema, root).unwrap();
        descriptors.push(descriptor);
        let bytes = with_descriptor(bytes.clone(), descriptor);
        assert_eq!(read::<New>(&mut reader, &bytes).unwrap().get().a, 5);
    }
    for (index, descriptor) in descriptors.into_iter().enumerate() {
        let bytes = with_descriptor(bytes.clone(), descriptor);
        assert_eq!(read::<New>(&mut reader, &bytes).is_ok(), index >= 300 - 256);
    }
}

mod shapes {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(super) trait Shape {
        fn area(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(super) struct Square {
        pub(super) side: u64,
        pub(super) added: Option<u8>,
    }

    impl Shape for Square {
        fn area(&self) -> u64 {
            self.side * self.side + 1000
        }
    }

    #[derive(Transportable)]
    pub(super) struct Drawing {
        pub(super) shapes: Vec<Box<dyn Shape>>,
        pub(super) added: Option<u8>,
    }
}

#[test]
fn traits_of_one_name_have_their_own_classes() {
    use super::values::{first, second};

    let old = first::Drawing {
        shapes: vec![Box::new(first::Square { side: 3 })],
    };
    let bytes = to_vec(&old).unwrap();
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<first::Drawing>();
    reader.learn(&schema, root).unwrap();
    let areas = read::<second::Drawing>(&mut reader, &bytes).unwrap();
    areas.with(|drawing| assert_eq!(drawing.shapes[0].area(), 9));
    let areas = read::<shapes::Drawing>(&mut reader, &bytes).unwrap();
    areas.with(|drawing| assert_eq!(drawing.shapes[0].area(), 1009));
    let _ = |square: shapes::Square| (square.side, square.added);
    let _ = |drawing: shapes::Drawing| (drawing.shapes.len(), drawing.added);
}

#[test]
fn objects_of_unknown_classes_are_refused() {
    use super::values::{first, second};

    let old = first::Drawing {
        shapes: vec![Box::new(first::Square { side: 3 })],
    };
    let mut bytes = to_vec(&old).unwrap();
    let class = jstream::schema::descriptor::<first::Square>().to_le_bytes();
    let at = bytes.windows(8).rposition(|word| word == class).unwrap();
    bytes[at] ^= 1;
    let error = convert_bytes::<first::Drawing, second::Drawing>(&bytes)
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("the schema of class"), "{error}");
}

#[test]
fn elements_without_size_count_for_the_whole_stream() {
    #[derive(Transportable)]
    struct Old {
        list: Vec<()>,
    }
    #[derive(Transportable)]
    struct New {
        list: Vec<()>,
        added: Option<u8>,
    }
    let mut limits = Limits::default();
    limits.zero_sized = 1 << 20;
    let mut writer = jstream::Writer::with_limits(limits);
    let mut stream = jstream::StreamWriter::new(EmptyBuffer::heap(1 << 12));
    for _ in 0..3 {
        stream
            .write(
                &mut writer,
                &Old {
                    list: vec![(); 40_000],
                },
            )
            .unwrap();
    }
    let stream = jstream::StreamReader::new(stream.finish());
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<Old>();
    reader.learn(&schema, root).unwrap();
    assert_eq!(stream.next::<New>(&mut reader).unwrap().list.len(), 40_000);
    let error = stream.next::<New>(&mut reader).map(drop).unwrap_err();
    assert!(
        matches!(error, jstream::StreamError::Damaged { .. }),
        "{error}"
    );
    let _ = |new: New| (new.list, new.added);
}

#[test]
fn a_stream_of_converted_items_is_limited() {
    #[derive(Transportable)]
    struct Old {
        a: u32,
    }
    #[derive(Transportable)]
    struct New {
        a: u64,
        b: Option<[u64; 20]>,
    }
    let mut writer = jstream::Writer::new();
    let mut stream = jstream::StreamWriter::new(EmptyBuffer::heap(1 << 16));
    for a in 0..500 {
        stream.write(&mut writer, &Old { a }).unwrap();
    }
    let stream = jstream::StreamReader::new(stream.finish());
    let mut limits = Limits::default();
    limits.bytes = stream.len();
    let mut reader = Reader::new(limits);
    let (schema, root) = Schema::of::<Old>();
    reader.learn(&schema, root).unwrap();
    let mut read = 0;
    let error = loop {
        match stream.next::<New>(&mut reader) {
            Ok(new) => assert_eq!((new.a, new.b), (read, None)),
            Err(error) => break error,
        }
        read += 1;
    };
    assert!(
        matches!(error, jstream::StreamError::TooLong { .. }),
        "{error}"
    );
    assert!(read > 20, "{read}");
}

#[cfg(all(feature = "file", unix))]
#[test]
fn a_map_survives_panics_of_the_program() {
    use jstream::file::{FileError, FileMap, FileWriter, ReadOptions};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[derive(Transportable)]
    struct Old {
        a: u32,
    }
    #[derive(Transportable)]
    #[transportable(verify = panics_for_odd)]
    struct New {
        a: u64,
        text: Option<String>,
    }
    fn panics_for_odd(new: &NewRef<'_>) -> Result<(), String> {
        assert_eq!(new.a % 2, 0, "odd");
        match new.a % 4 {
            0 => Ok(()),
            _ => Err("even".to_owned()),
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.jsf");
    let mut writer = FileWriter::create(&path).unwrap();
    for a in 0..1000 {
        writer.push(&Old { a }).unwrap();
    }
    writer.commit().unwrap();
    let map = FileMap::copied(&path, ReadOptions::default()).unwrap();
    for _ in 0..2 {
        for number in 0..1000 {
            let got = catch_unwind(AssertUnwindSafe(|| map.get::<New>(number).map(|new| new.a)));
            match number % 4 {
                0 => assert_eq!(got.unwrap().unwrap(), number),
                2 => assert!(matches!(got.unwrap(), Err(FileError::Object { .. }))),
                _ => assert!(got.is_err()),
            }
        }
    }
    assert_eq!(map.get::<Old>(7).unwrap().a, 7);
    let _ = |new: New| (new.a, new.text);
}

#[test]
fn objects_with_obligations_are_not_left_out() {
    #[jstream::transportable]
    trait Rule {
        fn level(&self) -> u32;
    }
    #[derive(Transportable)]
    #[transportable(implements(Rule))]
    struct Limit {
        #[transportable(must_understand)]
        level: u32,
    }
    impl Rule for Limit {
        fn level(&self) -> u32 {
            self.level
        }
    }
    #[derive(Transportable)]
    struct Old {
        id: u32,
        kept: Box<dyn Rule>,
        left_out: Option<Box<dyn Rule>>,
    }
    #[derive(Transportable)]
    struct New {
        id: u32,
        kept: Box<dyn Rule>,
    }
    let old = |left_out| {
        to_vec(&Old {
            id: 3,
            kept: Box::new(Limit { level: 4 }),
            left_out,
        })
        .unwrap()
    };
    let mut reader = Reader::default();
    let (schema, root) = Schema::of::<Old>();
    reader.learn(&schema, root).unwrap();
    let (schema, root) = Schema::of::<Limit>();
    reader.learn(&schema, root).unwrap();
    let received = read::<New>(&mut reader, &old(None)).unwrap();
    received.with(|new| assert_eq!((new.id, new.kept.level()), (3, 4)));
    let error = read::<New>(&mut reader, &old(Some(Box::new(Limit { level: 5 }))))
        .map(drop)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("leaves out an object of the class `Limit`"),
        "{error}"
    );
}

#[test]
fn values_without_size_in_defaults_count_as_work() {
    /// Number of values in each default, which has 56 bytes.
    const VALUES: u64 = 60_000;
    let effect = |fields: u64| {
        let with_fields = |count: u64| {
            let fields = (0..count).map(|index| field(&format!("{index}"), 16 * index, 1));
            [
                ty("S", (16 * count, 8), Shape::Struct(fields.collect())),
                ty("&", (16, 8), Shape::Slice(2)),
                // The values of this leaf are checked one by one.
                ty("NonZeroU0", (0, 1), Shape::Leaf),
            ]
        };
        let (old, root) = decoded(&[ty("S", (0, 1), Shape::Struct(Vec::new()))]);
        let (mut new, new_root) = decoded(&with_fields(fields));
        let of = match &new.get(new_root).unwrap().kind {
            Kind::Struct(fields) => fields[0].of,
            other => panic!("{other:?}"),
        };
        // Bulk segments begin at 128.
        let slice = [128, VALUES].map(u64::to_le_bytes).concat();
        let default = message(new.descriptor(of), &slice, (&[], 1), &[]);
        let mut rules = TypeRules::default();
        for index in 0..usize::try_from(fields).unwrap() {
            let mut rule = FieldRules::default();
            rule.default = Some(DefaultValue::Message(default.as_slice().into()));
            rules.fields.push((index, rule));
        }
        new.set_rules(new_root, rules);
        let found = compatibility((&old, root), (&new, new_root)).unwrap();
        (found.effect(), found.to_string())
    };
    // Together they visit at most 2^19 values.
    let (accepted, text) = effect(8);
    assert_eq!(accepted, Effect::Converted, "{text}");
    let (refused, text) = effect(9);
    assert_eq!(refused, Effect::Refused, "{text}");
    assert!(text.contains("too many parts"), "{text}");
}
