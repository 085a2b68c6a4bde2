//! The input of the program: its bytes or file, the objects in it, and their schemas.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

#[cfg(unix)]
use jstream::file::{FileError, FileReader, ReadOptions};
use jstream::inspect::{Catalog, Code, Fault, Input, Item, Items};

use crate::about::About;
use crate::arguments::Arguments;
use crate::output::Failure;

/// The input of the program.
pub(crate) struct Container {
    /// Kind of the input; `None` if it was not recognised.
    pub(crate) input: Option<Input>,
    pub(crate) catalog: Catalog,
    pub(crate) len: u64,
    /// Errors of the input as a whole, besides those of its objects.
    pub(crate) faults: Vec<Fault>,
    /// Metadata of a file of objects.
    pub(crate) about: Option<About>,
    data: Data,
    objects: ContainerObjects,
}

/// Source of the input's bytes.
enum Data {
    Memory(Vec<u8>),
    Disk(File),
}

enum ContainerObjects {
    Items(Vec<Item>),
    #[cfg(unix)]
    File(Box<FileReader>),
}

/// Position and type of a message in the input.
pub(crate) struct Object {
    pub(crate) number: u64,
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) descriptor: u64,
}

/// Number of bytes needed to recognise a file of objects.
const FRONT: u64 = 8;

/// Number of bytes that are read and shown of an unrecognised input.
const SHOWN: u64 = 64;

impl Container {
    /// Opens the input and the schemas that the arguments name.
    pub(crate) fn open(arguments: &Arguments) -> Result<Self, Failure> {
        let mut container = Self {
            input: None,
            catalog: Catalog::default(),
            len: 0,
            faults: Vec::new(),
            about: None,
            data: Data::Memory(Vec::new()),
            objects: ContainerObjects::Items(Vec::new()),
        };
        for path in &arguments.schema {
            let bytes = all(open(path)?, Vec::new(), path, arguments.bytes)?;
            let added = container.catalog.add_bytes(&bytes);
            added.map_err(|error| Failure::Said(format!("{}: {error}", path.display())))?;
        }
        let bytes = container.fill(arguments)?;
        match Input::detect(&bytes) {
            Ok(input) => container.input = Some(input),
            Err(fault) => container.faults.push(fault),
        }
        match container.input {
            Some(Input::File) => container.fill_from_file(arguments, bytes)?,
            Some(Input::Schema) => container.fill_from_schema(bytes),
            Some(_) => container.fill_from_stream(bytes),
            None => container.data = Data::Memory(bytes),
        }
        Ok(container)
    }

    /// Reads the input. Of a seekable file of objects, only the start is read. Of an unrecognised
    /// input, which may be endless, only the start is read, too.
    fn fill(&mut self, arguments: &Arguments) -> Result<Vec<u8>, Failure> {
        let path = &arguments.file;
        if path.as_os_str() == "-" {
            return self.fill_from(std::io::stdin().lock(), path, arguments.bytes);
        }
        let file = open(path)?;
        let meta = file.metadata().map_err(|error| unreadable(path, &error))?;
        if !meta.is_file() {
            return self.fill_from(file, path, arguments.bytes);
        }
        let bytes = first(&file, FRONT, path)?;
        if matches!(Input::detect(&bytes), Ok(Input::File)) {
            self.len = meta.len();
            self.data = Data::Disk(file);
            return Ok(bytes);
        }
        let rewound = (&file).seek(SeekFrom::Start(0));
        rewound.map_err(|error| unreadable(path, &error))?;
        let bytes = self.fill_from(&file, path, arguments.bytes)?;
        self.len = meta.len().max(self.len);
        Ok(bytes)
    }

    fn fill_from(
        &mut self,
        mut from: impl Read,
        path: &Path,
        most: u64,
    ) -> Result<Vec<u8>, Failure> {
        let mut bytes = first(&mut from, SHOWN, path)?;
        if Input::detect(&bytes).is_ok() {
            bytes = all(from, bytes, path, most)?;
        }
        self.len = bytes.len() as u64;
        Ok(bytes)
    }

    fn fill_from_schema(&mut self, bytes: Vec<u8>) {
        if let Err(error) = self.catalog.add_bytes(&bytes) {
            let at = error.at().unwrap_or(0);
            let at = at..at.saturating_add(1);
            self.faults
                .push(Fault::new(Code::File, at, error.to_string()));
        }
        self.data = Data::Memory(bytes);
    }

    fn fill_from_stream(&mut self, bytes: Vec<u8>) {
        let mut items = Vec::new();
        for item in Items::new(&bytes) {
            match item {
                Ok(item) => items.push(item),
                Err(fault) => self.faults.push(fault),
            }
        }
        self.objects = ContainerObjects::Items(items);
        self.data = Data::Memory(bytes);
    }

    #[cfg(not(unix))]
    fn fill_from_file(&mut self, _: &Arguments, _: Vec<u8>) -> Result<(), Failure> {
        Err(Failure::Said(
            "files of objects are supported on Unix only".to_owned(),
        ))
    }

    #[cfg(unix)]
    fn fill_from_file(&mut self, arguments: &Arguments, bytes: Vec<u8>) -> Result<(), Failure> {
        let refused = |error| unreadable(&arguments.file, &error);
        let options = ReadOptions::default();
        let opened = if let Data::Disk(file) = &self.data {
            let opened = FileReader::from_file(file.try_clone().map_err(refused)?, options);
            // The file may have grown in the meantime.
            self.len = file.metadata().map_err(refused)?.len();
            opened
        } else {
            self.data = Data::Memory(bytes.clone());
            FileReader::from_bytes(bytes, options)
        };
        let mut reader = match opened {
            Ok(reader) => reader,
            Err(error) => {
                self.faults.push(fault_of(&error)?);
                return Ok(());
            }
        };
        self.about = Some(About::new(&reader.summary(), self.len));
        let compared = match arguments.object {
            // Verifies all checksums, including those of the objects.
            None => reader.verify(),
            // Verifies the checksum of the object. An error of its entry is reported when the
            // object is read.
            Some(number) if reader.entry(number).is_ok() => reader.message(number).map(drop),
            Some(_) => Ok(()),
        };
        if let Err(error) = compared {
            self.faults.push(fault_of(&error)?);
        }
        let known = match reader.descriptors() {
            Ok(known) => known,
            Err(error) => {
                self.add(fault_of(&error)?);
                Vec::new()
            }
        };
        for descriptor in known {
            match reader.schema(descriptor) {
                Ok(Some((schema, root))) => {
                    if let Err(error) = self.catalog.add(&schema, root) {
                        let details = format!("schema {descriptor:#018x}: {error}");
                        self.faults.push(Fault::new(Code::File, 0..0, details));
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    self.add(fault_of(&error)?);
                }
            }
        }
        self.objects = ContainerObjects::File(Box::new(reader));
        Ok(())
    }

    /// Adds a fault, unless it was already reported.
    fn add(&mut self, fault: Fault) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Returns the number of objects.
    pub(crate) fn count(&self) -> u64 {
        match &self.objects {
            ContainerObjects::Items(items) => items.len() as u64,
            #[cfg(unix)]
            ContainerObjects::File(reader) => reader.len(),
        }
    }

    /// Returns the position of an object, or the error in its index entry.
    pub(crate) fn object(&mut self, number: u64) -> Result<Result<Object, Fault>, Failure> {
        let missing = |count: u64| {
            Failure::Said(format!(
                "no object {number}: there are {count} objects, numbered from 0"
            ))
        };
        let count = self.count();
        match &mut self.objects {
            ContainerObjects::Items(items) => {
                let item = usize::try_from(number).ok().and_then(|at| items.get(at));
                let at = item
                    .map(|item| item.at.clone())
                    .ok_or_else(|| missing(count))?;
                let (start, len) = (at.start as u64, at.len() as u64);
                let descriptor = self.read(start.saturating_add(8), 8)?;
                let descriptor = descriptor.try_into().map_or(0, u64::from_le_bytes);
                Ok(Ok(Object {
                    number,
                    at: start,
                    len,
                    descriptor,
                }))
            }
            #[cfg(unix)]
            ContainerObjects::File(reader) => {
                if number >= count {
                    return Err(missing(count));
                }
                Ok(match reader.entry(number) {
                    Ok(entry) => Ok(Object {
                        number,
                        at: entry.place,
                        len: entry.len,
                        descriptor: entry.descriptor,
                    }),
                    Err(error) => Err(fault_of(&error)?),
                })
            }
        }
    }

    /// Reads bytes, fewer at the end of the input.
    pub(crate) fn read(&mut self, at: u64, len: u64) -> Result<Vec<u8>, Failure> {
        let end = at.saturating_add(len).min(self.len);
        match &mut self.data {
            Data::Memory(bytes) => {
                let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                let bytes = bytes.get(place(at)..place(end)).unwrap_or_default();
                Ok(bytes.to_vec())
            }
            Data::Disk(file) => {
                let mut bytes = Vec::new();
                let read = file
                    .seek(SeekFrom::Start(at))
                    .and_then(|_| file.take(end.saturating_sub(at)).read_to_end(&mut bytes));
                read.map_err(|error| Failure::Said(format!("the file can't be read: {error}")))?;
                Ok(bytes)
            }
        }
    }
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| unreadable(path, &error))
}

/// Reads the first `len` bytes, or fewer at the end.
fn first(from: impl Read, len: u64, path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = from.take(len).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

/// Reads the rest of an input after its first `bytes`. More than `most` bytes in total are an
/// error.
fn all(from: impl Read, mut bytes: Vec<u8>, path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let rest = most.saturating_sub(bytes.len() as u64);
    let read = from.take(rest.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > most {
        let path = path.display();
        return Err(Failure::Said(format!(
            "{path}: more than {most} bytes; --bytes raises the limit"
        )));
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Said(format!("{}: {error}", path.display()))
}

/// Converts the error to a fault, if the contents of the file are the cause.
#[cfg(unix)]
fn fault_of(error: &FileError) -> Result<Fault, Failure> {
    let at = match error {
        FileError::System { .. } | FileError::Irregular { .. } | FileError::Locked { .. } => {
            return Err(Failure::Said(error.to_string()));
        }
        FileError::Damaged { at, .. }
        | FileError::Checksum { at, .. }
        | FileError::Object { at, .. }
        | FileError::Schema { at, .. } => *at,
        FileError::Truncated { len, .. } => *len,
        FileError::Version { .. } => 7,
        FileError::NoCommit => 512,
        _ => 0,
    };
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let at = at..at.saturating_add(1);
    Ok(Fault::new(Code::File, at, error.to_string()))
}
