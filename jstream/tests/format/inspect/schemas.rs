//! Untrusted schemas.

use jstream::inspect::{Catalog, CatalogError, Options, message};

use crate::inspect::samples;

/// Adds an encoded schema to a catalog and returns the error.
fn refused(bytes: &[u8]) -> String {
    Catalog::default().add_bytes(bytes).unwrap_err().to_string()
}

/// Encodes a schema of these types, each given by an empty name, its size, its alignment and its
/// kind.
fn schema(types: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![1, u8::try_from(types.len()).unwrap()];
    bytes.extend(types.concat());
    bytes
}

#[test]
fn types_that_fit_nowhere_are_refused() {
    // A struct of 8 bytes that holds itself.
    let own = [0, 8, 8, 2, 1, 1, b'a', 0, 0];
    assert!(refused(&schema(&[&own])).contains("contains itself"));
    // An array of two elements of 8 bytes that has a size of 8 bytes.
    let leaf = [0, 8, 8, 0];
    assert!(refused(&schema(&[&[0, 8, 8, 5, 1, 2], &leaf])).contains("not match its elements"));
    // Two fields at the same offset; a field outside the struct.
    let twice = [0, 8, 8, 2, 2, 1, b'a', 0, 1, 1, b'b', 0, 1];
    assert!(refused(&schema(&[&twice, &leaf])).contains("two fields overlap"));
    let outside = [0, 8, 8, 2, 1, 1, b'a', 1, 1];
    assert!(refused(&schema(&[&outside, &leaf])).contains("outside"));
    // An alignment of 3, a pointer of 4 bytes, inline text, text as the root, a tag of 3 bytes.
    assert!(refused(&schema(&[&[0, 3, 3, 0]])).contains("size or alignment"));
    assert!(refused(&schema(&[&[0, 4, 4, 6, 1], &leaf])).contains("alignment of a pointer"));
    assert!(refused(&schema(&[&[0, 1, 1, 4, 1], &[0, 1, 1, 1]])).contains("inline"));
    assert!(refused(&schema(&[&[0, 1, 1, 1]])).contains("root"));
    assert!(refused(&schema(&[&[0, 4, 1, 3, 3, 0]])).contains("tag"));
    // A type without size that takes its tags from the text segment.
    assert!(refused(&schema(&[&[0, 0, 1, 4, 1], &[0, 0, 1, 0]])).contains("a zero-sized type"));
}

#[test]
fn depth_is_bounded() {
    let mut types: Vec<Vec<u8>> = Vec::new();
    for n in 1..=127u8 {
        types.push(vec![0, 1, 1, 2, 1, 1, b'a', 0, n]);
    }
    types.push(vec![0, 1, 1, 0]);
    let encode = |types: &[Vec<u8>]| {
        let mut bytes = vec![1, 0x80, 1];
        assert_eq!(types.len(), 128);
        bytes.extend(types.concat());
        bytes
    };
    // 127 nested structs of the same name and layout, which is within the limit.
    assert!(Catalog::default().add_bytes(&encode(&types)).is_ok());
    let mut deeper = vec![1, 0x82, 1];
    deeper.extend([0, 1, 1, 2, 1, 1, b'a', 0, 1]);
    deeper.extend([0, 1, 1, 2, 1, 1, b'a', 0, 2]);
    for n in 3..=129u32 {
        deeper.extend([0, 1, 1, 2, 1, 1, b'a', 0]);
        if n < 128 {
            deeper.push(u8::try_from(n).unwrap());
        } else {
            deeper.extend([u8::try_from(n - 128).unwrap() | 0x80, 1]);
        }
    }
    deeper.extend([0, 1, 1, 0]);
    assert!(refused(&deeper).contains("too deep"));
}

#[test]
fn every_byte_of_a_schema_changed() {
    for sample in samples::all() {
        for at in 0..sample.schema.len() {
            for new in [0, 1, 2, 5, 11, 0x80, 0xff, sample.schema[at] ^ 1] {
                let mut bytes = sample.schema.clone();
                bytes[at] = new;
                let mut catalog = Catalog::default();
                match catalog.add_bytes(&bytes) {
                    Ok(descriptor) => {
                        // The message declares the changed type.
                        let mut told = sample.bytes.clone();
                        told[8..16].copy_from_slice(&descriptor.to_le_bytes());
                        let found = message(&told, &catalog, &Options::default());
                        assert!(found.type_name.is_some());
                    }
                    Err(CatalogError::Encoding(_)) => {}
                    Err(error) => assert!(error.to_string().contains("invalid schema"), "{error}"),
                }
            }
        }
    }
}

#[test]
fn without_its_schema_a_message_shows_its_header() {
    let sample = samples::order();
    let found = message(&sample.bytes, &Catalog::default(), &Options::default());
    assert!(found.header.is_some() && found.nodes.is_empty());
    let fault = found.fault.unwrap();
    assert_eq!((fault.code.name(), fault.at), ("descriptor", 8..16));

    // A class whose schema is missing.
    let dynamic = samples::dynamic();
    let mut catalog = Catalog::default();
    catalog.add_bytes(&dynamic.schema).unwrap();
    let found = message(&dynamic.bytes, &catalog, &Options::default());
    assert_eq!(found.fault.unwrap().code.name(), "class");
}

#[test]
fn elements_without_size_cost_nothing() {
    let units = samples::Sample::of::<Vec<()>>("units", &vec![(); 10]);
    let mut bytes = units.bytes.clone();
    bytes[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
    let found = units.look_at(&bytes);
    assert_eq!(found.fault, None);
    assert_eq!(found.nodes.len(), 17);
    assert_eq!(found.nodes[0].hidden, usize::MAX - 16);
}

#[test]
fn a_schema_makes_no_more_work_than_the_message_is_worth() {
    // A slice of structs of one byte: a bool and 30,000 fields without size.
    let mut bytes = vec![1, 4, 0, 16, 8, 7, 1];
    bytes.extend([0, 1, 1, 2]);
    let fields = 30_001u32;
    bytes.extend([
        u8::try_from(fields & 0x7f).unwrap() | 0x80,
        u8::try_from(fields >> 7 & 0x7f).unwrap() | 0x80,
        u8::try_from(fields >> 14).unwrap(),
    ]);
    for _ in 1..fields {
        bytes.extend([0, 0, 2]);
    }
    bytes.extend([0, 0, 3]);
    bytes.extend([0, 0, 1, 0]);
    bytes.extend([4, b'b', b'o', b'o', b'l', 1, 1, 0]);
    let mut catalog = Catalog::default();
    let descriptor = catalog.add_bytes(&bytes).unwrap();

    let elements = 1000u64;
    let mut told = b"jst\x01\x01\0\0\0".to_vec();
    for word in [descriptor, 56, elements, 0, 128, elements] {
        told.extend(word.to_le_bytes());
    }
    told.resize(told.len() + 1000, 0);
    let fault = message(&told, &catalog, &Options::default()).fault.unwrap();
    assert_eq!(fault.code.name(), "work", "{fault}");
    // With two elements, the work is within the limit.
    told.truncate(56 + 2);
    told[24..32].copy_from_slice(&2u64.to_le_bytes());
    told[48..56].copy_from_slice(&2u64.to_le_bytes());
    assert_eq!(message(&told, &catalog, &Options::default()).fault, None);
}
