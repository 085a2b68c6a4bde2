//! Files contain the schemas of the classes of their trait objects.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use jstream::file::{FileError, FileReader, FileWriter, WriteOptions};
use jstream::{EmptyBuffer, Transportable, WriteError, Writer, descriptor, transportable};
use tempfile::{TempDir, tempdir};

#[transportable]
trait Figure {
    fn area(&self) -> f64;
}

#[derive(Transportable)]
#[transportable(implements(Figure))]
struct Circle {
    radius: f64,
}

impl Figure for Circle {
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
}

#[derive(Transportable)]
#[transportable(implements(Figure))]
struct Square {
    side: f64,
}

impl Figure for Square {
    fn area(&self) -> f64 {
        self.side * self.side
    }
}

#[derive(Transportable)]
#[transportable(implements(Figure))]
struct Group {
    parts: Vec<Box<dyn Figure>>,
}

impl Figure for Group {
    fn area(&self) -> f64 {
        self.parts.iter().map(|part| part.area()).sum()
    }
}

impl Figure for GroupRef<'_> {
    fn area(&self) -> f64 {
        self.parts.iter().map(|part| part.area()).sum()
    }
}

/// A class that is not registered.
#[derive(Transportable)]
struct Stray;

impl Figure for Stray {
    fn area(&self) -> f64 {
        0.0
    }
}

type Figures = Vec<Box<dyn Figure>>;

fn circle() -> Box<dyn Figure> {
    Box::new(Circle { radius: 1.0 })
}

fn square() -> Box<dyn Figure> {
    Box::new(Square { side: 2.0 })
}

fn place() -> (TempDir, PathBuf, WriteOptions) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("figures.jst");
    let mut options = WriteOptions::default();
    options.sync = false;
    (folder, path, options)
}

fn assert_known(path: &PathBuf, known: &[u64]) {
    let mut reader = FileReader::open(path).unwrap();
    reader.verify().unwrap();
    let found: BTreeSet<u64> = reader.descriptors().unwrap().into_iter().collect();
    assert_eq!(found, known.iter().copied().collect());
    for descriptor in found {
        let (schema, root) = reader.schema(descriptor).unwrap().unwrap();
        assert_eq!(schema.descriptor(root), descriptor);
    }
}

#[test]
fn each_class_that_occurs_is_stored_once() {
    let (_folder, path, options) = place();
    let mut writer = FileWriter::create_with(&path, &options).unwrap();
    let nested = Group {
        parts: vec![square(), square(), Box::new(Group { parts: vec![] })],
    };
    for _ in 0..3 {
        writer.push(&7u32).unwrap();
        writer.push(&vec![circle(), circle()]).unwrap();
    }
    writer.commit().unwrap();
    let (number, figures) = (descriptor::<u32>(), descriptor::<Figures>());
    let circle_class = descriptor::<Circle>();
    assert_known(&path, &[number, figures, circle_class]);
    drop(writer);

    let before = fs::read(&path).unwrap().len();
    let mut writer = FileWriter::append_with(&path, &options).unwrap();
    let nested: Figures = vec![circle(), Box::new(nested), circle()];
    writer.push(&nested).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let others = [descriptor::<Square>(), descriptor::<Group>()];
    let all = [&[number, figures, circle_class], &others[..]].concat();
    assert_known(&path, &all);
    assert_eq!(FileReader::open(&path).unwrap().len(), 7);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > before);
    let count = |name: &[u8]| bytes.windows(name.len()).filter(|at| *at == name).count();
    for name in [&b"Circle"[..], b"Square", b"GroupRef"] {
        assert_eq!(count(name), 1, "{name:?}");
    }
    let mut reader = FileReader::open(&path).unwrap();
    let read = reader.read::<Figures>(6).unwrap();
    assert_eq!(read.get().iter().map(|one| one.area()).sum::<f64>(), 14.0);

    // Without a new class, no new directory is written.
    let schemas = |path| FileReader::open(path).unwrap().summary().commit.schemas;
    let directory = schemas(&path);
    let mut writer = FileWriter::append_with(&path, &options).unwrap();
    writer.push(&nested).unwrap();
    writer.commit().unwrap();
    assert_eq!(schemas(&path), directory);
}

#[test]
fn what_was_received_has_the_same_classes() {
    let (_folder, path, options) = place();
    let figures: Figures = vec![
        square(),
        Box::new(Group {
            parts: vec![circle()],
        }),
    ];
    let mut writer = FileWriter::create_with(&path, &options).unwrap();
    writer.push(&figures).unwrap();
    writer.commit().unwrap();
    let received = FileReader::open(&path).unwrap().read::<Figures>(0).unwrap();
    let again = path.with_extension("again");
    let mut writer = FileWriter::create_with(&again, &options).unwrap();
    received.with(|figures| writer.push(figures).unwrap());
    writer.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap());
}

#[test]
fn an_object_that_was_not_written_leaves_no_class() {
    let (_folder, path, options) = place();
    let mut writer = FileWriter::create_with(&path, &options).unwrap();
    let stray: Figures = vec![circle(), Box::new(Stray)];
    assert!(matches!(
        writer.push(&stray),
        Err(FileError::Write(WriteError::Unregistered { .. }))
    ));
    writer.push(&vec![square()]).unwrap();
    writer.commit().unwrap();
    assert_known(&path, &[descriptor::<Figures>(), descriptor::<Square>()]);
}

#[test]
fn a_writer_of_the_programs_notes_them_too() {
    let (_folder, path, options) = place();
    let writer = FileWriter::create_with(&path, &options).unwrap();
    let mut writer = writer.with_writer(Writer::new());
    writer.push(&vec![circle()]).unwrap();
    writer.commit().unwrap();
    let mut writer = writer.into_writer();
    assert_known(&path, &[descriptor::<Figures>(), descriptor::<Circle>()]);

    // A message that was not read adds no classes to the file; writing the same object does.
    let message = writer
        .write(&vec![square()], EmptyBuffer::heap(4096))
        .unwrap();
    let mut file = FileWriter::append_with(&path, &options).unwrap();
    file.push_message(&message).unwrap();
    file.commit().unwrap();
    assert_known(&path, &[descriptor::<Figures>(), descriptor::<Circle>()]);
    file.push(&vec![square()]).unwrap();
    file.commit().unwrap();
    let all = [
        descriptor::<Figures>(),
        descriptor::<Circle>(),
        descriptor::<Square>(),
    ];
    assert_known(&path, &all);
}
