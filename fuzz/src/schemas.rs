//! Untrusted schemas.

use std::fmt::Write;

use jstream::schema::{Schema, descriptor};
use jstream::{EmptyBuffer, Reader, Writer};
use xxhash_rust::xxh3::xxh3_64;

use crate::model::Node;

/// Decodes two schemas, either of which may be empty, and uses the results. The first byte is the
/// length of the first schema in units of 16 bytes.
pub fn run(input: &[u8]) {
    let Some((&first, rest)) = input.split_first() else {
        return;
    };
    let (a, b) = rest.split_at(rest.len().min(usize::from(first) * 16));
    let decoded = [a, b].map(|bytes| match Schema::from_bytes(bytes) {
        Ok((schema, root)) => {
            let canonical = schema.to_bytes(root);
            let (again, again_root) = Schema::from_bytes(&canonical).expect("it was encoded here");
            assert_eq!(again.to_bytes(again_root), canonical, "not canonical");
            assert_eq!(again.descriptor(again_root), schema.descriptor(root));
            assert!(
                schema.difference(root, &again, again_root).is_none(),
                "one structure has two schemas"
            );
            shown(&schema);
            Some((schema, root))
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    });
    for unchecked in [a, b] {
        snapshot(unchecked);
    }
    let own = Schema::of::<Node<'static>>();
    let mut reader = Reader::default();
    for (schema, root) in decoded.iter().flatten() {
        for (other, other_root) in decoded.iter().flatten().chain([&own]) {
            let difference = schema.difference(*root, other, *other_root);
            let is_same = schema.descriptor(*root) == other.descriptor(*other_root);
            assert_eq!(difference.is_none(), is_same, "{difference:?}");
            if let Some(difference) = difference {
                assert!(!difference.to_string().is_empty());
            }
        }
        mismatched(&mut reader, schema, *root);
    }
}

/// Decodes a schema and a record, behind which their check is added, which a fuzzer can't compute.
fn snapshot(unchecked: &[u8]) {
    let mut bytes = unchecked.to_vec();
    bytes.extend_from_slice(&xxh3_64(unchecked).to_le_bytes());
    let Ok((schema, root)) = Schema::from_snapshot(&bytes) else {
        return;
    };
    shown(&schema);
    // Equal structures may have different defaults.
    let Ok(canonical) = schema.to_snapshot(root) else {
        return;
    };
    let (again, again_root) = Schema::from_snapshot(&canonical).expect("it was encoded here");
    let encoded = again.to_snapshot(again_root);
    assert_eq!(encoded.as_ref(), Ok(&canonical), "not canonical");
    let learnt = Reader::default().learn_bytes(&canonical);
    assert_eq!(learnt, Ok(schema.descriptor(root)));
}

/// Reads a message whose descriptor the reader knows only from a learnt schema.
fn mismatched(reader: &mut Reader, schema: &Schema, root: jstream::schema::TypeIndex) {
    let Ok(learnt) = reader.learn(schema, root) else {
        return;
    };
    if learnt == descriptor::<u8>() {
        return;
    }
    let mut message = crate::message(&mut Writer::new(), &7u8).as_bytes().to_vec();
    message[8..16].copy_from_slice(&learnt.to_le_bytes());
    let jbuf = EmptyBuffer::heap(message.len()).copy_from(&message);
    // An option or another layout of `u8` would be converted.
    if let Err(failure) = reader.read::<u8>(jbuf.expect("it has the capacity")) {
        assert!(!format!("{:#}", failure.error).is_empty());
    }
}

/// Formats a schema, and checks that the text is bounded and has no control characters.
fn shown(schema: &Schema) {
    let mut text = String::new();
    write!(text, "{schema}").expect("a string takes everything");
    assert!(text.len() <= (1 << 20) + 3, "{} bytes", text.len());
    assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'));
}
