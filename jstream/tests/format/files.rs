//! Files of vectors.

use std::fs;
use std::path::Path;

use jstream::file::{FileError, FileReader, FileWriter, WriteOptions};

use crate::streams::with_order;
use crate::types::Order;

/// A file.
pub struct Vector {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    /// How it is refused.
    pub refused: Option<(&'static str, u64)>,
}

impl Vector {
    pub fn expected(&self) -> String {
        let of = r#"{"of": ["number", "order", "text", "number", "slice"]"#;
        match self.refused {
            None => format!("{of}}}"),
            Some((kind, at)) => format!(r#"{of}, "kind": "{kind}", "offset": {at}}}"#),
        }
    }
}

/// A file of two commits, and two chunks of the index.
fn written(path: &Path) -> Vec<u8> {
    let mut options = WriteOptions::default();
    options.sync = false;
    let mut writer = FileWriter::create_with(path, &options).unwrap();
    writer.push(&0x1234_5678u32).unwrap();
    with_order(|order| writer.push(order).unwrap());
    writer.push(&"grüße").unwrap();
    writer.push(&0x1234_5678u32).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut writer = FileWriter::append_with(path, &options).unwrap();
    writer.push(&[7u16, 8, 9].as_slice()).unwrap();
    writer.commit().unwrap();
    fs::read(path).unwrap()
}

/// All files.
pub fn files() -> Vec<Vector> {
    let folder = tempfile::tempdir().unwrap();
    let bytes = written(&folder.path().join("written"));
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // The second commit: where its chunk and its directory stand.
    let (end, chunk, directory) = (word(1032), word(1040), word(1048));
    let damaged = |name, kind, offset: u64, at: u64| {
        let mut bytes = bytes.clone();
        bytes[usize::try_from(at).unwrap()] ^= 1;
        let refused = Some((kind, offset));
        Vector {
            name,
            bytes,
            refused,
        }
    };
    let cut = |name, len: u64| Vector {
        name,
        bytes: bytes[..usize::try_from(len).unwrap()].to_vec(),
        refused: Some(("truncated", len)),
    };
    let place = word(usize::try_from(chunk).unwrap() + 40);
    vec![
        Vector {
            name: "objects",
            bytes: bytes.clone(),
            refused: None,
        },
        damaged("version", "magic", 0, 7),
        damaged("reserved", "damaged", 400, 400),
        damaged("chunk", "damaged", chunk, chunk + 24),
        damaged("entry", "damaged", chunk + 40, chunk + 48),
        damaged("object", "checksum", place, place + 30),
        damaged("directory", "damaged", directory, directory + 20),
        cut("cut_file", end - 1),
        cut("front", 1000),
    ]
}

/// How today's reader refuses a file.
pub fn read(bytes: &[u8]) -> Option<(&'static str, u64)> {
    let refused = |error: FileError| match error {
        FileError::Foreign { .. } | FileError::Version { .. } => ("magic", 0),
        FileError::Checksum { at, .. } => ("checksum", at),
        FileError::Truncated { len, .. } => ("truncated", len),
        FileError::Damaged { at, .. } => ("damaged", at),
        error => panic!("{error:?}"),
    };
    let opened = FileReader::from_bytes(bytes.to_vec(), Default::default());
    let mut reader = match opened {
        Ok(reader) => reader,
        Err(error) => return Some(refused(error)),
    };
    let verified = reader.verify();
    if let Err(error) = verified {
        return Some(refused(error));
    }
    assert_eq!(*reader.read::<u32>(0).unwrap().get(), 0x1234_5678);
    assert_eq!(reader.read::<Order<'_>>(1).unwrap().get().symbol, "ÄCME");
    assert_eq!(*reader.read::<&str>(2).unwrap().get(), "grüße");
    assert_eq!(*reader.read::<u32>(3).unwrap().get(), 0x1234_5678);
    assert_eq!(*reader.read::<&[u16]>(4).unwrap().get(), [7, 8, 9]);
    None
}
