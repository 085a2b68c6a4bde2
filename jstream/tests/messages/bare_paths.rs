//! Pointers to a type that is spelled `Path`: that of the standard library, or the program's.

use jstream::{EmptyBuffer, MessageBuffer, Reader, Transportable, Writer};

/// The `Path` of the standard library.
mod of_std {
    use std::path::Path;
    use std::rc::Rc;

    #[derive(jstream::Transportable, Debug, PartialEq)]
    #[transportable(compare)]
    pub(super) struct Files {
        pub(super) root: Box<Path>,
        pub(super) all: Vec<Option<Rc<Path>>>,
    }

    /// A second type with a pointer to it in the same module.
    #[derive(jstream::Transportable, Debug, PartialEq)]
    #[repr(u8)]
    pub(super) enum Place {
        Nowhere,
        At(Box<Path>, String),
    }
}

/// A type of the program, which owns its parts.
mod of_program {
    #[derive(jstream::Transportable, Debug, PartialEq)]
    pub(super) struct Path {
        pub(super) steps: Vec<(f64, f64)>,
    }

    #[derive(jstream::Transportable, Debug, PartialEq)]
    pub(super) struct Drawing {
        pub(super) outline: Box<Path>,
        pub(super) rest: Vec<Path>,
    }
}

/// A type of another module of the program.
mod of_other_module {
    use super::of_program::{Path, PathRef};

    #[derive(jstream::Transportable, Debug, PartialEq)]
    pub(super) struct Frame {
        pub(super) path: Option<Box<Path>>,
    }
}

/// A parameter of the name.
mod of_parameter {
    #[derive(jstream::Transportable, Debug, PartialEq)]
    #[transportable(owned)]
    pub(super) struct Boxed<Path> {
        pub(super) path: Box<Path>,
    }
}

fn write<T: Transportable>(value: &T) -> MessageBuffer {
    let message = Writer::new().write(value, EmptyBuffer::heap(4096));
    message.unwrap()
}

#[cfg(unix)]
#[test]
fn the_path_of_std_needs_no_module() {
    use std::path::Path;

    let files = of_std::Files {
        root: Path::new("/home").into(),
        all: vec![None, Some(Path::new("a/b").into())],
    };
    let received = Reader::default()
        .read::<of_std::Files>(write(&files))
        .unwrap();
    let root: &Path = received.get().root;
    assert_eq!(root, Path::new("/home"));
    assert_eq!(*received.get(), files);
    assert_eq!(received.to_owned().unwrap(), files);

    let place = of_std::Place::At(Path::new("x").into(), "name".to_owned());
    let received = Reader::default()
        .read::<of_std::Place>(write(&place))
        .unwrap();
    assert_eq!(received.to_owned().unwrap(), place);
}

#[cfg(unix)]
#[test]
fn a_type_in_a_function_can_point_to_a_path() {
    use std::path::Path;

    #[derive(Transportable, Debug, PartialEq)]
    struct Local {
        path: Box<Path>,
    }

    let local = Local {
        path: Path::new("a").into(),
    };
    let received = Reader::default().read::<Local>(write(&local)).unwrap();
    assert_eq!(received.get().path, Path::new("a"));
}

#[test]
fn a_path_of_the_program_takes_precedence() {
    let path = |steps: &[(f64, f64)]| of_program::Path {
        steps: steps.to_vec(),
    };
    let drawing = of_program::Drawing {
        outline: Box::new(path(&[(1.0, 2.0)])),
        rest: vec![path(&[]), path(&[(3.0, 4.0)])],
    };
    let received = Reader::default()
        .read::<of_program::Drawing>(write(&drawing))
        .unwrap();
    let outline: &of_program::PathRef<'_> = received.get().outline;
    assert_eq!(outline.steps, [(1.0, 2.0)]);
    assert_eq!(received.to_owned().unwrap(), drawing);

    let frame = of_other_module::Frame {
        path: Some(Box::new(path(&[(5.0, 6.0)]))),
    };
    let received = Reader::default()
        .read::<of_other_module::Frame>(write(&frame))
        .unwrap();
    assert_eq!(received.get().path.unwrap().steps, [(5.0, 6.0)]);

    let boxed = of_parameter::Boxed {
        path: Box::new(7u32),
    };
    let received = Reader::default()
        .read::<of_parameter::Boxed<u32>>(write(&boxed))
        .unwrap();
    received.with(|boxed| assert_eq!(*boxed.path, 7));
}
