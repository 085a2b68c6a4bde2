//! Descriptors: equal for equal structures wherever these are defined, and different after every
//! change.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    dead_code,
    elided_lifetimes_in_paths,
    unreachable_pub,
    reason = "test code"
)]

use std::collections::HashMap;
use std::marker::PhantomData;

use jstream::schema::{Kind, Schema};
use jstream::{EmptyBuffer, ReadError, Reader, Transportable, Writer, descriptor};
use testing::process::{again, name, role};

mod here {
    use jstream::Transportable;
    include!("../common/order.rs");
}

mod there {
    pub(crate) mod deeper {
        use jstream::Transportable;
        include!("../common/order.rs");
    }
}

/// Returns a description of the first difference between two types.
fn difference<A: Transportable + 'static, B: Transportable + 'static>() -> String {
    let ((a, root), (b, other)) = (Schema::of::<A>(), Schema::of::<B>());
    let found = a.difference(root, &b, other);
    assert_eq!(found.is_some(), descriptor::<A>() != descriptor::<B>());
    found.map_or_else(String::new, |found| found.to_string())
}

/// Tests several definitions of one type, each in its own module, against the first definition.
/// Each must have its own descriptor and the given difference.
macro_rules! changes {
    ($test:ident: $root:ident, $original:ident $($definitions:tt)*) => {
        mod $test {
            changes!(@modules $original $($definitions)*);
        }

        #[test]
        fn $test() {
            let mut known = HashMap::new();
            changes!(@compare known $test $root $original $original $($definitions)*);
        }
    };
    (@modules $module:ident { $($item:item)* } $expected:literal; $($rest:tt)*) => {
        pub(crate) mod $module {
            use jstream::Transportable;
            $(#[derive(Transportable)] $item)*
        }
        changes!(@rest $($rest)*);
    };
    (@rest) => {};
    (@rest $($rest:tt)*) => { changes!(@modules $($rest)*); };
    (@compare $known:ident $test:ident $type:ident $original:ident) => {};
    (
        @compare $known:ident $test:ident $root:ident $original:ident
        $module:ident { $($item:item)* } $expected:literal; $($rest:tt)*
    ) => {
        let this = stringify!($module);
        let other = $known.insert(descriptor::<$test::$module::$root>(), this);
        assert_eq!(other, None, "{this} has the descriptor of another one");
        let found = difference::<$test::$original::$root, $test::$module::$root>();
        assert_eq!(found, $expected, "{this}");
        changes!(@compare $known $test $root $original $($rest)*);
    };
}

changes! { fields: Type,
    original { #[repr(C)] pub struct Type { first: u32, second: f32 } } "";
    another_name { #[repr(C)] pub struct Type { first: u32, third: f32 } }
        "Type: field 1 is `second` here, `third` there";
    another_order { #[repr(C)] pub struct Type { second: f32, first: u32 } }
        "Type: fields in another order: 0 is `first` here, `second` there";
    names_swapped { #[repr(C)] pub struct Type { second: u32, first: f32 } }
        "Type: fields in another order: 0 is `first` here, `second` there";
    another_type { #[repr(C)] pub struct Type { first: u32, second: i32 } }
        "Type.second: f32 here, i32 there";
    types_swapped { #[repr(C)] pub struct Type { first: f32, second: u32 } }
        "Type.first: u32 here, f32 there";
    one_more { #[repr(C)] pub struct Type { first: u32, second: f32, third: u8 } }
        "Type: field `third` is missing here";
    one_less { #[repr(C)] pub struct Type { first: u32 } }
        "Type: field `second` is missing there";
    one_less_at_the_front { #[repr(C)] pub struct Type { second: f32 } }
        "Type: field `first` is missing there";
    without_names { #[repr(C)] pub struct Type(u32, f32); }
        "Type: field 0 is `first` here, `0` there";
    without_size { #[repr(C)] pub struct Type { first: u32, second: f32, third: () } }
        "Type: field `third` is missing here";
    another_alignment { #[repr(C, align(8))] pub struct Type { first: u32, second: f32 } }
        "Type: alignment 4 here, 8 there";
    another_size { #[repr(C, align(16))] pub struct Type { first: u32, second: f32 } }
        "Type: 8 bytes here, 16 bytes there";
    optional { #[repr(C)] pub struct Type { first: u32, second: Option<f32> } }
        "Type.second: f32 here, Option<f32> there";
    an_enum { #[repr(u8)] pub enum Type { A } }
        "Type: struct here, enum there";
}

changes! { parts: Type,
    original { pub struct Type<'b> { part: &'b [Part] } #[repr(C)] pub struct Part { x: u16 } } "";
    another_name { pub struct Type<'b> { part: &'b [Other] } #[repr(C)] pub struct Other { x: u16 } }
        "Type.part: &[Part] here, &[Other] there";
    another_type { pub struct Type<'b> { part: &'b [Part] } #[repr(C)] pub struct Part { x: u64 } }
        "Type.part[].x: u16 here, u64 there";
    another_field { pub struct Type<'b> { part: &'b [Part] } #[repr(C)] pub struct Part { y: u16 } }
        "Type.part[]: field 0 is `x` here, `y` there";
    behind_a_reference { pub struct Type<'b> { part: &'b Part } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, &Part there";
    inline { pub struct Type { part: Part } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, Part there";
    an_array { pub struct Type { part: [Part; 2] } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, [Part; 2] there";
    a_longer_array { pub struct Type { part: [Part; 3] } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, [Part; 3] there";
    optional { pub struct Type<'b> { part: Option<&'b [Part]> } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, Option<&[Part]> there";
    optional_parts { pub struct Type<'b> { part: &'b [Option<Part>] } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, &[Option<Part>] there";
    a_result { pub struct Type<'b> { part: Result<&'b [Part], ()> } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, Result<&[Part], ()> there";
    the_other_result { pub struct Type<'b> { part: Result<(), &'b [Part]> } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, Result<(), &[Part]> there";
    a_tuple { pub struct Type<'b> { part: (&'b [Part],) } #[repr(C)] pub struct Part { x: u16 } }
        "Type.part: &[Part] here, (&[Part],) there";
    recursive { pub struct Type<'b> { part: &'b [Type<'b>] } }
        "Type.part: &[Part] here, &[Type] there";
    text { pub struct Type<'b> { part: &'b str } }
        "Type.part: &[Part] here, &str there";
    bytes { pub struct Type<'b> { part: &'b [u8] } }
        "Type.part: &[Part] here, &[u8] there";
    larger_parts { pub struct Type<'b> { part: &'b [Part] } #[repr(C, align(4))] pub struct Part { x: u16 } }
        "Type.part[]: 2 bytes here, 4 bytes there";
}

changes! { variants: Type,
    original { #[repr(u8)] pub enum Type { A, B(u16), C { x: u16 } } } "";
    another_name { #[repr(u8)] pub enum Type { A, D(u16), C { x: u16 } } }
        "Type: variant 1 is `B` here, `D` there";
    another_order { #[repr(u8)] pub enum Type { A, C { x: u16 }, B(u16) } }
        "Type: variants in another order: 1 is `B` here, `C` there";
    one_more { #[repr(u8)] pub enum Type { A, B(u16), C { x: u16 }, D } }
        "Type: variant `D` is missing here";
    one_less { #[repr(u8)] pub enum Type { A, B(u16) } }
        "Type: variant `C` is missing there";
    another_discriminant { #[repr(u8)] pub enum Type { A, B(u16), C { x: u16 } = 7 } }
        "Type::C: discriminant 2 here, 7 there";
    discriminants_swapped { #[repr(u8)] pub enum Type { A = 1, B(u16) = 0, C { x: u16 } = 2 } }
        "Type::A: discriminant 0 here, 1 there";
    a_signed_tag { #[repr(i8)] pub enum Type { A = -1, B(u16), C { x: u16 } } }
        "Type::A: discriminant 0 here, -1 there";
    a_wider_tag { #[repr(u16)] pub enum Type { A, B(u16), C { x: u16 } } }
        "Type: tag of 1 byte here, 2 bytes there";
    another_field_type { #[repr(u8)] pub enum Type { A, B(i16), C { x: u16 } } }
        "Type::B.0: u16 here, i16 there";
    another_field_name { #[repr(u8)] pub enum Type { A, B(u16), C { y: u16 } } }
        "Type::C: field 0 is `x` here, `y` there";
    fields_with_names { #[repr(u8)] pub enum Type { A, B { x: u16 }, C { x: u16 } } }
        "Type::B: field 0 is `0` here, `x` there";
    fields_elsewhere { #[repr(u8)] pub enum Type { A(u16), B, C { x: u16 } } }
        "Type::A: field `0` is missing here";
    another_alignment { #[repr(u8)] #[repr(align(4))] pub enum Type { A, B(u16), C { x: u16 } } }
        "Type: alignment 2 here, 4 there";
}

changes! { offsets: Type,
    original { #[repr(C)] pub struct Type { a: Part, b: u8 } #[repr(C)] pub struct Part { x: u32 } } "";
    moved { #[repr(C)] pub struct Type { a: Part, b: u8 } #[repr(C, align(8))] pub struct Part { x: u32 } }
        "Type.a: 4 bytes here, 8 bytes there";
}

changes! { arrays: Type,
    original { pub struct Type { of: [u8; 4] } } "";
    longer { pub struct Type { of: [u8; 5] } } "Type.of: [u8; 4] here, [u8; 5] there";
    nested { pub struct Type { of: [[u8; 2]; 2] } } "Type.of: [u8; 4] here, [[u8; 2]; 2] there";
    empty { pub struct Type { of: [u8; 0] } } "Type.of: [u8; 4] here, [u8; 0] there";
}

mod renamed {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(crate) struct Parcel<'b> {
        next: Option<&'b Parcel<'b>>,
    }

    #[derive(Transportable)]
    pub(crate) struct Packet<'b> {
        next: Option<&'b Packet<'b>>,
    }
}

#[test]
fn a_name_makes_a_difference() {
    use renamed::{Packet, Parcel};
    assert_eq!(
        difference::<Parcel<'_>, Packet<'_>>(),
        "Parcel: Parcel here, Packet there"
    );
}

#[test]
fn every_plain_type_is_another_one() {
    macro_rules! all {
        ($($type:ty),*) => { [$((stringify!($type), descriptor::<$type>())),*] };
    }
    let all = all![
        u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, (),
        PhantomData<u8>, std::num::NonZeroU8, std::num::NonZeroI8, std::num::NonZeroU64, &str,
        &[u8], &[u16], &u8, &&u8, &&str, &[&str], [u8; 0], [u8; 1], [u8; 2], [[u8; 1]; 1], (u8,),
        (u16,), (u8, u8), ((u8,),), Option<u8>, Option<u16>, Option<Option<u8>>, Option<&u8>,
        &Option<u8>, Option<&str>, Result<u8, u8>, Result<u8, u16>, Result<u16, u8>,
        Option<Result<u8, u8>>
    ];
    let mut known = HashMap::new();
    for (name, descriptor) in all {
        assert_eq!(known.insert(descriptor, name), None, "{name}");
    }
}

#[test]
fn one_definition_has_one_descriptor_in_every_module_and_crate() {
    assert_eq!(descriptor::<here::Order<'_>>(), here::DESCRIPTOR);
    assert_eq!(descriptor::<there::deeper::Order<'_>>(), here::DESCRIPTOR);
    let found = difference::<here::Order<'_>, there::deeper::Order<'_>>();
    assert_eq!(found, "");
}

#[derive(Transportable)]
#[transportable(owned)]
#[repr(C)]
struct Both {
    a: Vec<here::Leg>,
    b: Vec<there::deeper::Leg>,
}

/// The structure of the outer `Both`, with one definition of `Leg` instead of two.
mod one {
    use jstream::Transportable;

    #[derive(Transportable)]
    #[transportable(owned)]
    #[repr(C)]
    pub(crate) struct Both {
        a: Vec<super::here::Leg>,
        b: Vec<super::here::Leg>,
    }
}

#[test]
fn how_many_definitions_there_are_does_not_matter() {
    assert_eq!(descriptor::<Both>(), descriptor::<one::Both>());
}

#[test]
fn an_owner_has_the_descriptor_of_its_form() {
    assert_eq!(descriptor::<Both>(), descriptor::<BothRef<'_>>());
    assert_eq!(descriptor::<String>(), descriptor::<&str>());
    assert_eq!(descriptor::<Box<str>>(), descriptor::<&str>());
    assert_eq!(descriptor::<Vec<String>>(), descriptor::<&[&str]>());
    assert_eq!(descriptor::<Box<u8>>(), descriptor::<&u8>());
    assert_ne!(descriptor::<Vec<u8>>(), descriptor::<Box<u8>>());
}

#[derive(Transportable)]
struct Egg<'b> {
    from: Option<&'b Hen<'b>>,
}

#[derive(Transportable)]
struct Hen<'b> {
    from: Option<&'b Egg<'b>>,
}

#[derive(Transportable)]
#[repr(C)]
struct Tree<'b, T> {
    value: T,
    children: &'b [Tree<'b, T>],
}

#[derive(Transportable)]
#[repr(C)]
struct Pair<A, B> {
    a: A,
    b: B,
}

#[test]
fn recursion_ends_and_roots_are_told_apart() {
    let ((eggs, egg), (hens, hen)) = (Schema::of::<Egg<'_>>(), Schema::of::<Hen<'_>>());
    assert_ne!(eggs.descriptor(egg), hens.descriptor(hen));
    assert_eq!(difference::<Egg<'_>, Hen<'_>>(), "Egg: Egg here, Hen there");
    assert_ne!(descriptor::<Tree<'_, u8>>(), descriptor::<Tree<'_, u16>>());
    assert_eq!(
        difference::<Tree<'_, Pair<u8, u8>>, Tree<'_, Pair<u8, i8>>>(),
        "Tree.value.b: u8 here, i8 there"
    );
}

/// Two instances of a generic type in one schema are different types.
#[test]
fn instances_of_generic_types_are_told_apart() {
    type Two<A, B> = Pair<Pair<A, A>, Pair<B, B>>;
    assert_eq!(
        difference::<Two<u8, u16>, Two<u8, i16>>(),
        "Pair.b.a: u16 here, i16 there"
    );
    assert_ne!(descriptor::<Two<u8, u8>>(), descriptor::<Two<u8, i8>>());
    let shown = Schema::of::<Two<u8, u16>>().0.to_string();
    assert!(
        shown.contains("a: Pair#2,") && shown.contains("b: Pair#3,"),
        "{shown}"
    );
}

/// A type has the same descriptor in every schema, whatever was described before it.
#[test]
fn a_type_that_two_roots_reach_has_one_descriptor() {
    let alone = descriptor::<here::Leg>();
    let (whole, _) = Schema::of::<here::Order<'_>>();
    let (pair, _) = Schema::of::<Pair<Option<here::Side>, here::Leg>>();
    for schema in [whole, pair] {
        let shown = schema.to_string();
        assert!(shown.contains("struct Leg {"), "{shown}");
        let found = legs(&schema);
        assert_eq!(found, [alone]);
    }
}

/// Returns the descriptors of all types in a schema that are called `Leg`.
fn legs(schema: &Schema) -> Vec<u64> {
    use jstream::schema::{Kind, TypeIndex};
    fn reached(of: &Kind) -> Vec<TypeIndex> {
        match of {
            Kind::Struct(fields) => fields.iter().map(|field| field.of).collect(),
            Kind::Optional(of) | Kind::Slice(of) | Kind::Reference(of) => vec![*of],
            _ => Vec::new(),
        }
    }
    let (_, root) = Schema::of::<u8>();
    let mut met = vec![root];
    let mut next = 0;
    while let Some(index) = met.get(next).copied() {
        for of in reached(&schema.get(index).unwrap().kind) {
            if !met.contains(&of) {
                met.push(of);
            }
        }
        next += 1;
    }
    let is_leg = |index: &&TypeIndex| schema.get(**index).unwrap().name == "Leg";
    let legs = met.iter().filter(is_leg);
    legs.map(|index| schema.descriptor(*index)).collect()
}

/// Returns the descriptors of types whose layout the compiler may choose.
fn of_this_process() -> String {
    let all = [
        descriptor::<here::Order<'_>>(),
        descriptor::<(u8, u64, &str)>(),
        descriptor::<Egg<'_>>(),
        descriptor::<Tree<'_, Option<u32>>>(),
        descriptor::<Both>(),
    ];
    format!("descriptors: {all:x?};")
}

#[test]
fn processes_agree() {
    println!("{}", of_this_process());
    if role().is_some() {
        return;
    }
    let child = again(&name(), "agree").output().unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{printed}");
    assert!(printed.contains(&of_this_process()), "{printed}");
}

/// Reads a message of an `S` as a `T`.
fn misread<S, T>(value: &S, reader: &mut Reader) -> ReadError
where
    S: Transportable,
    T: Transportable + 'static,
{
    let message = Writer::new().write(value, EmptyBuffer::heap(4096)).unwrap();
    let Err(failure) = reader.read::<T>(message) else {
        panic!("it was read");
    };
    failure.error
}

#[test]
fn a_mismatch_names_the_first_difference_and_shows_both_structures() {
    let error =
        misread::<Pair<u8, u32>, Pair<u8, u64>>(&Pair { a: 1, b: 2 }, &mut Reader::default());
    let short = error.to_string();
    assert!(short.ends_with("; Pair.b: u64 here, u32 there"), "{short}");
    let long = format!("{error:#}");
    assert!(
        long.contains("here:\n\nstruct Pair { // 16 bytes, aligned to 8\n    a: u8, // at 0\n")
            && long.contains("there:\n\nstruct Pair { // 8 bytes, aligned to 4\n"),
        "{long}"
    );
    let ReadError::Descriptor { mismatch, .. } = &error else {
        panic!("{error}");
    };
    let mismatch = mismatch.as_ref().unwrap();
    let (found, root) = mismatch.found();
    assert_eq!(found.descriptor(root), descriptor::<Pair<u8, u32>>());
    assert_eq!(mismatch.difference().unwrap().path, "Pair.b");
}

/// A message of a type that only another process knows is described by its descriptor, and by its
/// structure once the reader has learnt the schema.
#[test]
fn a_reader_learns_the_types_of_peers() {
    let message = Writer::new().write(&7u64, EmptyBuffer::heap(4096)).unwrap();
    let mut bytes = message.as_bytes().to_vec();
    // This line is the only one that describes, writes or reads the type.
    let (schema, root) = Schema::of::<Pair<u64, there::deeper::Side>>();
    let theirs = schema.to_bytes(root);
    let of_theirs = schema.descriptor(root);
    bytes[8..16].copy_from_slice(&of_theirs.to_le_bytes());
    let mut reader = Reader::default();
    let mut read = || {
        let filled = EmptyBuffer::heap(4096).copy_from(&bytes).unwrap();
        let error = reader.read::<u64>(filled).unwrap_err().error;
        reader.learn_bytes(&theirs).unwrap();
        error
    };
    let ReadError::Descriptor { mismatch: None, .. } = read() else {
        panic!("the descriptor was known before");
    };
    let learnt = read().to_string();
    assert!(
        learnt.ends_with(": u64: `Pair` can't become `u64`"),
        "{learnt}"
    );
    assert_eq!(reader.learn(&schema, root).unwrap(), of_theirs);
    assert!(reader.learn_bytes(&theirs[1..]).is_err());
}

mod small {
    #[derive(jstream::Transportable)]
    pub(super) struct Leg {
        pub(super) price: f64,
    }
}

/// The number of schemas that a reader knows is limited: it forgets those that were not used for
/// longest.
#[test]
fn a_reader_knows_only_so_many_schemas() {
    let (schema, root) = Schema::of::<small::Leg>();
    let bytes = schema.to_bytes(root);
    let at = bytes.windows(3).position(|of| of == b"Leg").unwrap();
    let mut reader = Reader::default();
    let mut descriptors = Vec::new();
    for number in 0..300u16 {
        let mut other = bytes.clone();
        other[at] = b'A' + u8::try_from(number % 20).unwrap();
        other[at + 1] = b'A' + u8::try_from(number / 20).unwrap();
        descriptors.push(reader.learn_bytes(&other).unwrap());
        // The first one stays in use.
        assert!(reads_leg(&mut reader, descriptors[0]), "after {number}");
    }
    assert!(reads_leg(&mut reader, descriptors[299]));
    assert!(!reads_leg(&mut reader, descriptors[1]));
}

/// Returns true if a message with this descriptor is read as a `Leg`.
fn reads_leg(reader: &mut Reader, descriptor: u64) -> bool {
    let leg = small::Leg { price: 1.0 };
    let mut message = Writer::new().write(&leg, EmptyBuffer::heap(4096)).unwrap();
    message.as_bytes_mut()[8..16].copy_from_slice(&descriptor.to_le_bytes());
    match reader.read::<small::Leg>(message) {
        Ok(_) => true,
        Err(failure) => {
            assert!(
                matches!(failure.error, ReadError::Descriptor { .. }),
                "{failure}"
            );
            false
        }
    }
}

/// A form is laid out in declaration order, with every compiler.
#[test]
fn forms_are_laid_out_as_declared() {
    #[derive(Transportable)]
    #[allow(dead_code, reason = "its layout matters")]
    struct Mixed {
        small: u8,
        large: u64,
        text: String,
        middle: u16,
        list: Vec<u32>,
        last: bool,
    }
    let (schema, root) = Schema::of::<Mixed>();
    let Kind::Struct(fields) = &schema.get(root).unwrap().kind else {
        panic!("it is a struct");
    };
    let offsets: Vec<_> = fields.iter().map(|field| field.offset).collect();
    assert_eq!(offsets, [0, 8, 16, 32, 40, 56]);
    assert_eq!(schema.get(root).unwrap().size, 64);
}

#[test]
fn nothing_else_is_a_unit() {
    fn is_unit<T: Transportable + 'static>() -> bool {
        let (schema, root) = Schema::of::<T>();
        let (travelled, there) = Schema::from_bytes(&schema.to_bytes(root)).unwrap();
        assert_eq!(schema.is_unit(root), travelled.is_unit(there));
        schema.is_unit(root)
    }
    assert!(is_unit::<()>());
    let others = [
        is_unit::<((), ())>(),
        is_unit::<PhantomData<u8>>(),
        is_unit::<[(); 2]>(),
        is_unit::<u64>(),
    ];
    assert_eq!(others, [false; 4]);
}
