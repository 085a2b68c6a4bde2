//! Files that contain vectors.

use std::fs;
use std::path::Path;

use jstream::descriptor;
use jstream::file::{FileError, FileReader, FileWriter, WriteOptions};

use crate::cases::{drawing, schema_of};
use crate::streams::with_order;
use crate::types::{Circle, Drawing, Order};

/// A file of objects.
pub struct Vector {
    pub name: &'static str,
    /// The names of the vectors in the file.
    pub of: &'static [&'static str],
    pub bytes: Vec<u8>,
    /// The expected refusal: its kind and the offset. `None` if the file is sound.
    pub refused: Option<(&'static str, u64)>,
}

impl Vector {
    pub fn expected(&self) -> String {
        let of = format!(r#"{{"of": {:?}"#, self.of);
        match self.refused {
            None => of + "}",
            Some((kind, at)) => format!(r#"{of}, "kind": "{kind}", "offset": {at}}}"#),
        }
    }
}

const OBJECTS: &[&str] = &["number", "order", "text", "number", "slice"];
const DRAWINGS: &[&str] = &["drawing", "drawing"];

/// Options without sync, for speed.
fn options() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.sync = false;
    options
}

/// A file with the schemas of a root type and of three classes.
fn with_classes(path: &Path) -> Vec<u8> {
    let mut writer = FileWriter::create_with(path, &options()).unwrap();
    writer.push(&drawing()).unwrap();
    writer.push(&drawing()).unwrap();
    writer.commit().unwrap();
    fs::read(path).unwrap()
}

/// A file with two commits and two index chunks.
fn written(path: &Path) -> Vec<u8> {
    let mut writer = FileWriter::create_with(path, &options()).unwrap();
    writer.push(&0x1234_5678u32).unwrap();
    with_order(|order| writer.push(order).unwrap());
    writer.push(&"grüße").unwrap();
    writer.push(&0x1234_5678u32).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut writer = FileWriter::append_with(path, &options()).unwrap();
    writer.push(&[7u16, 8, 9].as_slice()).unwrap();
    writer.commit().unwrap();
    fs::read(path).unwrap()
}

/// All files.
pub fn files() -> Vec<Vector> {
    let folder = tempfile::tempdir().unwrap();
    let bytes = written(&folder.path().join("written"));
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // Fields of the second commit record: the end, and the offsets of its index chunk and its
    // schema directory.
    let (end, chunk, directory) = (word(1032), word(1040), word(1048));
    let damaged = |name, kind, offset: u64, at: u64| {
        let mut bytes = bytes.clone();
        bytes[usize::try_from(at).unwrap()] ^= 1;
        let refused = Some((kind, offset));
        Vector {
            name,
            of: OBJECTS,
            bytes,
            refused,
        }
    };
    let cut = |name, len: u64| Vector {
        name,
        of: OBJECTS,
        bytes: bytes[..usize::try_from(len).unwrap()].to_vec(),
        refused: Some(("truncated", len)),
    };
    let place = word(usize::try_from(chunk).unwrap() + 40);
    let drawings = with_classes(&folder.path().join("drawings"));
    let circle = descriptor::<Circle>();
    let reader = FileReader::from_bytes(drawings.clone(), Default::default());
    assert!(reader.unwrap().descriptors().unwrap().contains(&circle));
    let schema = schema_of::<Circle>();
    let schema = drawings.windows(schema.len()).position(|at| at == schema);
    let mut class = drawings.clone();
    class[schema.unwrap() + 5] ^= 1;
    vec![
        Vector {
            name: "drawings",
            of: DRAWINGS,
            bytes: drawings,
            refused: None,
        },
        Vector {
            name: "class",
            of: DRAWINGS,
            bytes: class,
            refused: Some(("damaged", schema.unwrap() as u64)),
        },
        Vector {
            name: "objects",
            of: OBJECTS,
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

/// Reads a file with the current reader. Returns the kind and offset of the refusal, or `None` if
/// the file is sound.
pub fn read(of: &[&str], bytes: &[u8]) -> Option<(&'static str, u64)> {
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
    if of == DRAWINGS {
        // One schema of the root and three of classes.
        assert_eq!(reader.descriptors().unwrap().len(), 4);
        let received = reader.read::<Drawing>(1).unwrap();
        assert_eq!(received.get().figures.len(), 2);
        return None;
    }
    assert_eq!(*reader.read::<u32>(0).unwrap().get(), 0x1234_5678);
    assert_eq!(reader.read::<Order<'_>>(1).unwrap().get().symbol, "ÄCME");
    assert_eq!(*reader.read::<&str>(2).unwrap().get(), "grüße");
    assert_eq!(*reader.read::<u32>(3).unwrap().get(), 0x1234_5678);
    assert_eq!(*reader.read::<&[u16]>(4).unwrap().get(), [7, 8, 9]);
    None
}
