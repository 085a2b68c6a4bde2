//! Paths and other strings of the system, whose bytes need not be text.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jstream::{Covariant, EmptyBuffer, Pool, Reader, Transportable, Writer, descriptor, restore};

use crate::common::message;

/// A type that owns its parts. The `Path` of the standard library has no form of another name.
#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, PartialEq))]
struct Entry<'a> {
    path: PathBuf,
    name: Option<OsString>,
    boxed: Box<std::path::Path>,
    either: Cow<'a, OsStr>,
    links: Vec<PathBuf>,
    home: Rc<Path>,
    again: Rc<std::path::Path>,
    sizes: HashMap<PathBuf, u64>,
}

/// A type that is its own form.
#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Borrowed<'b> {
    path: &'b Path,
    names: &'b [&'b OsStr],
    link: Option<&'b Path>,
}

#[derive(Transportable, Debug, Clone, PartialEq)]
struct Owned {
    path: PathBuf,
    name: OsString,
    boxed: (Box<std::path::Path>, Box<OsStr>),
    shared: [Rc<std::path::Path>; 2],
    sorted: BTreeMap<OsString, u8>,
}

/// Bytes of which no part is UTF-8.
const ODD: &[u8] = b"\xff\x80/\xc0\0\xed\xa0\x80";

fn odd() -> PathBuf {
    OsString::from_vec(ODD.to_vec()).into()
}

fn entry() -> Entry<'static> {
    let home: Rc<Path> = Path::new("/home").into();
    Entry {
        path: odd(),
        name: Some("näme".into()),
        boxed: Path::new("").into(),
        either: Cow::Borrowed(OsStr::from_bytes(b"\xfe")),
        links: vec!["a/b".into(), odd(), PathBuf::new()],
        home: home.clone(),
        again: home,
        sizes: (0..20).map(|n| (PathBuf::from(n.to_string()), n)).collect(),
    }
}

#[test]
fn owned_ones_arrive_in_the_buffer_as_references() {
    let entry = entry();
    let pool = Pool::default();
    let sent = Writer::new().write_to(&entry, &pool).unwrap();
    let received = Reader::default().read::<Entry<'_>>(sent).unwrap();
    let form = received.get();
    let path: &Path = form.path;
    assert_eq!(path.as_os_str().as_bytes(), ODD);
    assert!(pool.contains(path.as_os_str().as_bytes()));
    assert_eq!(form.name, Some(OsStr::new("näme")));
    assert_eq!((form.boxed, form.either), (Path::new(""), &*entry.either));
    assert_eq!(form.links, entry.links);
    assert_eq!(
        (form.home.get(), form.again.get()),
        (&*entry.home, &*entry.home)
    );
    assert!(std::ptr::eq(form.home.get(), form.again.get()));
    for (path, size) in &entry.sizes {
        assert_eq!(form.sizes.get(path.as_path()), Some(size));
    }
    assert_eq!(form.sizes.get(Path::new("20")), None);
    assert_eq!(message(form).as_bytes(), message(&entry).as_bytes());
}

#[test]
fn borrowed_ones_arrive_as_themselves() {
    let (path, names) = (
        odd(),
        [OsStr::new("x"), OsStr::from_bytes(ODD), OsStr::new("")],
    );
    for link in [None, Some(Path::new("")), Some(&*path)] {
        let sent = Borrowed {
            path: &path,
            names: &names,
            link,
        };
        let received = Reader::default()
            .read::<Borrowed<'_>>(message(&sent))
            .unwrap();
        assert_eq!(received.get(), &sent);
        let before = message(&sent).as_bytes().to_vec();
        let forwarded = Writer::new().forward(received).unwrap();
        assert!(forwarded.in_place);
        assert_eq!(forwarded.message.as_bytes(), before);
    }
}

#[test]
fn they_are_bytes_on_the_wire() {
    assert_eq!(descriptor::<PathBuf>(), descriptor::<Vec<u8>>());
    assert_eq!(
        descriptor::<Option<&OsStr>>(),
        descriptor::<Option<&[u8]>>()
    );
    assert_eq!(
        message(&odd()).as_bytes(),
        message(&ODD.to_vec()).as_bytes()
    );
    let received = Reader::default()
        .read::<OsString>(message(&ODD.to_vec()))
        .unwrap();
    assert_eq!(received.get().as_bytes(), ODD);
}

#[test]
fn lengths_and_places_are_checked() {
    let sound = message(&odd()).as_bytes().to_vec();
    // The place and the length of the root.
    for (at, word) in [
        (40, 0u64),
        (40, 129),
        (40, u64::MAX),
        (48, 0),
        (48, 9),
        (48, u64::MAX),
    ] {
        let mut bytes = sound.clone();
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
        assert!(
            Reader::default().read::<PathBuf>(filled).is_err(),
            "{word} at {at}"
        );
    }
}

#[test]
fn owners_are_restored() {
    let home: Rc<Path> = odd().into();
    let owned = Owned {
        path: odd(),
        name: "name".into(),
        boxed: (odd().into(), OsString::from("x").into()),
        shared: [home.clone(), home],
        sorted: [("b".into(), 1), ("a".into(), 2)].into(),
    };
    let received = Reader::default().read::<Owned>(message(&owned)).unwrap();
    let restored: Owned = received.get().to_owned().unwrap();
    assert_eq!(restored, owned);
    assert!(Rc::ptr_eq(&restored.shared[0], &restored.shared[1]));
    let received = Reader::default().read::<PathBuf>(message(&odd())).unwrap();
    assert_eq!(restore::<PathBuf>(received.get()), Ok(odd()));
}

#[test]
fn they_are_covariant() {
    fn covariant<T: Covariant>() {}
    covariant::<(PathBuf, OsString, &Path, &OsStr)>();
}
