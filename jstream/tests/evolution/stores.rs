//! Files and streams with objects of another version.

use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions};
use jstream::schema::Schema;
use jstream::{
    EmptyBuffer, Reader, StreamError, StreamReader, StreamWriter, Transportable, Writer,
};
use tempfile::tempdir;

#[derive(Transportable)]
struct Old {
    id: u32,
    name: String,
    shapes: Vec<Box<dyn super::values::first::Shape>>,
}

#[derive(Transportable)]
struct New {
    shapes: Vec<Box<dyn super::values::second::Shape>>,
    id: u64,
    name: String,
    note: Option<String>,
}

fn old(id: u32) -> Old {
    Old {
        id,
        name: format!("name {id}"),
        shapes: vec![Box::new(super::values::first::Square { side: id })],
    }
}

#[track_caller]
fn assert_new(new: &NewRef<'_>, id: u32) {
    assert_eq!((new.id, new.note), (u64::from(id), None));
    assert_eq!(new.name, format!("name {id}"));
    assert_eq!(new.shapes[0].area(), u64::from(id).pow(2));
}

/// The bytes of a file with ten objects.
fn file() -> Vec<u8> {
    let folder = tempdir().unwrap();
    let path = folder.path().join("objects.jsf");
    let mut writer = FileWriter::create(&path).unwrap();
    for id in 0..10 {
        writer.push(&old(id)).unwrap();
    }
    writer.commit().unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn a_file_of_the_old_version_is_read_as_the_new_one() {
    let mut reader = FileReader::from_bytes(file(), ReadOptions::default()).unwrap();
    for id in 0..10 {
        let received = reader.next::<New>().unwrap().unwrap();
        received.with(|new| assert_new(new, id));
    }
    assert!(reader.next::<New>().unwrap().is_none());
    // The objects are still those of the old version.
    let received = reader.read::<Old>(3).unwrap();
    received.with(|old| assert_eq!(old.id, 3));
}

#[test]
fn an_incompatible_object_is_refused_with_the_field() {
    #[derive(Transportable)]
    struct Other {
        id: u32,
        price: f64,
    }
    let mut reader = FileReader::from_bytes(file(), ReadOptions::default()).unwrap();
    let error = reader.read::<Other>(0).map(drop).unwrap_err();
    assert!(error.to_string().contains("Other.price"), "{error}");
    let _ = |other: Other| (other.id, other.price);
}

mod plain {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Old {
        pub(super) id: u32,
        pub(super) values: Vec<u16>,
    }

    #[derive(Transportable)]
    pub(super) struct New {
        pub(super) values: Vec<u64>,
        pub(super) id: u32,
    }
}

fn plain(id: u32) -> plain::Old {
    plain::Old {
        id,
        values: vec![7; 1000],
    }
}

#[test]
fn a_map_lends_converted_objects_up_to_its_limit() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("objects.jsf");
    let mut writer = FileWriter::create(&path).unwrap();
    for id in 0..10 {
        writer.push(&plain(id)).unwrap();
    }
    writer.commit().unwrap();
    let mut options = ReadOptions::default();
    options.converted = 50_000;
    let map = FileMap::copied(&path, options).unwrap();
    let first = map.get::<plain::New>(0).unwrap();
    assert_eq!((first.id, first.values), (0, &[7; 1000][..]));
    assert!(!map.contains(first), "it lies in a buffer of its own");
    // The same object, although the map also lends the old version.
    assert_eq!(map.get::<plain::Old>(0).unwrap().values, [7; 1000]);
    assert!(std::ptr::eq(map.get::<plain::New>(0).unwrap(), first));
    let read: Vec<_> = map.iter::<plain::New>().map_while(Result::ok).collect();
    assert_eq!(read.len(), 6, "each has 8 kB");
    let error = map.get::<plain::New>(8).map(drop).unwrap_err();
    assert!(
        matches!(error, FileError::ConvertedFull { number: 8, .. }),
        "{error}"
    );
    assert_eq!(first.values, [7; 1000]);
}

#[test]
fn a_stream_has_objects_of_both_versions() {
    let mut writer = Writer::new();
    let mut stream = StreamWriter::new(EmptyBuffer::heap(1 << 16));
    for id in 0..3 {
        stream.write(&mut writer, &plain(id)).unwrap();
        let new = plain::New {
            values: vec![u64::MAX],
            id: 100 + id,
        };
        stream.write(&mut writer, &new).unwrap();
    }
    let stream = StreamReader::new(stream.finish());
    let mut reader = Reader::default();
    let error = stream
        .next::<plain::New>(&mut reader)
        .map(drop)
        .unwrap_err();
    assert!(matches!(error, StreamError::Refused { .. }), "{error}");
    let (schema, root) = Schema::of::<plain::Old>();
    reader.learn(&schema, root).unwrap();
    let objects = stream.objects::<plain::New>(&mut reader);
    let objects: Vec<_> = objects.collect::<Result<_, _>>().unwrap();
    let ids: Vec<_> = objects.iter().map(|new| new.id).collect();
    assert_eq!(ids, [0, 100, 1, 101, 2, 102]);
    assert_eq!(objects[0].values, [7; 1000]);
    assert_eq!(objects[1].values, [u64::MAX]);
}

/// A type that stays as it is while a class of its trait objects changes.
mod unchanged {
    pub(super) mod old {
        use jstream::{Transportable, transportable};

        #[transportable]
        pub(crate) trait Shape: Send + Sync {
            fn area(&self) -> u64;
        }

        #[derive(Transportable)]
        #[transportable(implements(Shape))]
        pub(crate) struct Square {
            pub(crate) side: u32,
        }

        impl Shape for Square {
            fn area(&self) -> u64 {
                u64::from(self.side)
            }
        }

        #[derive(Transportable)]
        pub(crate) struct Album {
            pub(crate) shapes: Vec<Box<dyn Shape>>,
        }
    }

    pub(super) mod new {
        use jstream::{Transportable, transportable};

        #[transportable]
        pub(crate) trait Shape: Send + Sync {
            fn area(&self) -> u64;
        }

        #[derive(Transportable)]
        #[transportable(implements(Shape))]
        pub(crate) struct Square {
            pub(crate) name: Option<u8>,
            pub(crate) side: u64,
        }

        impl Shape for Square {
            fn area(&self) -> u64 {
                self.side.pow(2)
            }
        }

        #[derive(Transportable)]
        pub(crate) struct Album {
            pub(crate) shapes: Vec<Box<dyn Shape>>,
        }
    }
}

fn album() -> unchanged::old::Album {
    let sides = [3, 5].map(|side| unchanged::old::Square { side });
    let shapes = sides.into_iter();
    unchanged::old::Album {
        shapes: shapes.map(|square| Box::new(square) as _).collect(),
    }
}

#[track_caller]
fn assert_album(album: &unchanged::new::AlbumRef<'_>) {
    let areas: Vec<u64> = album.shapes.iter().map(|shape| shape.area()).collect();
    assert_eq!(areas, [9, 25]);
}

#[test]
fn a_changed_class_of_an_unchanged_type_is_converted() {
    use jstream::schema::descriptor;
    use unchanged::{new, old};

    assert_eq!(descriptor::<old::Album>(), descriptor::<new::Album>());
    let bytes = jstream::to_vec(&album()).unwrap();
    let message = || EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let mut reader = Reader::default();
    // Its class is not known.
    assert!(reader.read::<new::Album>(message()).is_err());
    // A schema of something else changes nothing.
    let (schema, root) = Schema::of::<Old>();
    reader.learn(&schema, root).unwrap();
    assert!(reader.read::<new::Album>(message()).is_err());
    for snapshot in jstream::schema::snapshots::<old::Album>().unwrap() {
        reader.learn_bytes(&snapshot).unwrap();
    }
    let received = reader.read::<new::Album>(message()).unwrap();
    assert!(received.is_converted());
    received.with(assert_album);
    let (received, original) = reader.read_with_original::<new::Album>(message()).unwrap();
    received.with(assert_album);
    assert_eq!(original.unwrap().as_bytes(), bytes);
    assert_eq!(reader.conversions().map(|(_, count)| count).sum::<u64>(), 2);
    // Objects of the program's own classes are read where they lie.
    let square = new::Square {
        name: Some(1),
        side: 7,
    };
    let own = new::Album {
        shapes: vec![Box::new(square)],
    };
    let own = jstream::to_vec(&own).unwrap();
    let message = EmptyBuffer::heap(own.len()).copy_from(&own).unwrap();
    let received = reader.read::<new::Album>(message).unwrap();
    assert!(!received.is_converted());
    received.with(|album| assert_eq!(album.shapes[0].area(), 49));
    // Damaged messages are refused as always.
    for len in 0..bytes.len() {
        let message = EmptyBuffer::heap(len).copy_from(&bytes[..len]).unwrap();
        assert!(reader.read::<new::Album>(message).is_err(), "{len}");
    }
    // Limits apply to what is converted, too.
    let mut limits = jstream::Limits::default();
    limits.bytes = bytes.len() - 1;
    reader.set_limits(limits);
    assert!(reader.read::<new::Album>(message_of(&bytes)).is_err());
    reader.set_limits(jstream::Limits::default());
    assert!(reader.read::<new::Album>(message_of(&bytes)).is_ok());
    reader.set_conversion(false);
    assert!(reader.read::<new::Album>(message_of(&bytes)).is_err());
    let _ = |album: &old::Album| album.shapes[0].area();
}

fn message_of(bytes: &[u8]) -> jstream::MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}

#[test]
fn stored_objects_of_changed_classes_are_converted() {
    use unchanged::new;

    let folder = tempdir().unwrap();
    let path = folder.path().join("albums.jsf");
    let mut writer = FileWriter::create(&path).unwrap();
    for _ in 0..3 {
        writer.push(&album()).unwrap();
    }
    writer.commit().unwrap();
    let mut reader = FileReader::open(&path).unwrap();
    for number in 0..3 {
        let received = reader.read::<new::Album>(number).unwrap();
        assert!(received.is_converted());
        received.with(assert_album);
    }
    let map = FileMap::copied(&path, ReadOptions::default()).unwrap();
    for number in [2, 0, 2] {
        assert_album(map.get::<new::Album>(number).unwrap());
    }
    let mut stream = StreamWriter::new(EmptyBuffer::heap(1 << 10));
    stream.write(&mut Writer::default(), &album()).unwrap();
    let mut reader = Reader::default();
    for snapshot in jstream::schema::snapshots::<unchanged::old::Album>().unwrap() {
        reader.learn_bytes(&snapshot).unwrap();
    }
    let stream = StreamReader::new(stream.finish());
    assert_album(stream.next::<new::Album>(&mut reader).unwrap());
}
