//! Functions of the program that panic while objects are written to a file and read from it.

use std::cell::RefCell;
use std::rc::Rc;

use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions};
use jstream::{Adapter, Transportable};
use tempfile::tempdir;
use testing::callbacks::{Tracked, at_each, reached};

/// A text that is sent as a value with a destructor.
struct Text(String);

#[derive(Transportable)]
struct Wire {
    text: String,
    #[transportable(skip, form = ())]
    tracked: Tracked,
}

struct AsWire;

impl Adapter<Text> for AsWire {
    type Wire = Wire;
    type Error = &'static str;

    fn to_wire(text: &Text) -> Wire {
        let tracked = Tracked::new();
        reached();
        let text = text.0.clone();
        Wire { text, tracked }
    }

    fn from_wire(wire: &WireRef<'_>) -> Result<Text, &'static str> {
        Ok(Text(wire.text.to_owned()))
    }
}

#[derive(Transportable)]
#[transportable(verify = approve)]
struct Line {
    at: u64,
    #[transportable(with = AsWire, form = WireRef<'b>)]
    text: Text,
}

fn approve(_: &LineRef<'_>) -> Result<(), &'static str> {
    reached();
    Ok(())
}

fn line(at: u64) -> Line {
    Line {
        at,
        text: Text(format!("line {at}")),
    }
}

#[test]
fn a_panic_leaves_the_file_whole() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    let writer = RefCell::new(FileWriter::create(&path).unwrap());
    let written = RefCell::new(0);
    at_each(
        8,
        || {
            jstream::to_vec(&line(7)).unwrap();
        },
        || {
            for at in 0..4 {
                writer.borrow_mut().push(&line(at)).unwrap();
            }
        },
        // Each object whose writing ended without a panic is in the file.
        || {
            let mut writer = writer.borrow_mut();
            writer.commit().unwrap();
            let mut reader = FileReader::open(&path).unwrap();
            reader.verify().unwrap();
            assert_eq!(reader.len(), writer.len());
            *written.borrow_mut() = reader.len();
            for received in reader.iter::<Line>() {
                let received = received.unwrap();
                let line = received.get();
                assert_eq!(line.text.text, format!("line {}", line.at));
            }
        },
    );
    assert!(written.take() >= 16);
}

#[test]
fn an_object_whose_verification_panicked_is_out_of_reach() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    let mut writer = FileWriter::create(&path).unwrap();
    for at in 0..3 {
        writer.push(&line(at)).unwrap();
    }
    writer.commit().unwrap();
    let map: Rc<RefCell<Option<FileMap>>> = Rc::default();
    let inner = map.clone();
    at_each(
        3,
        // The map is being read, so it refuses, or it is not there yet.
        move || {
            if let Some(map) = &*inner.borrow() {
                assert!(matches!(map.get::<Line>(2), Err(FileError::Checking)));
            }
        },
        || {
            let copied = FileMap::copied(&path, ReadOptions::default()).unwrap();
            *map.borrow_mut() = Some(copied);
            let map = map.borrow();
            let map = map.as_ref().unwrap();
            assert!((0..3).all(|number| map.get::<Line>(number).unwrap().at == number));
        },
        || {
            let map = map.borrow();
            let map = map.as_ref().unwrap();
            let mut refused = 0;
            for number in 0..3 {
                match map.get::<Line>(number) {
                    Ok(line) => assert_eq!(line.text.text, format!("line {number}")),
                    Err(FileError::Taken { .. }) => refused += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            assert!(refused <= 1);
        },
    );
}
