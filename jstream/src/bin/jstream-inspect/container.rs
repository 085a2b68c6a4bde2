//! What the program was given: bytes, the objects in them, and the schemas that they are looked at by.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use jstream::inspect::{Catalog, Fault, Input, Item, Items};

use crate::arguments::Arguments;
use crate::output::Failure;

/// What is looked at.
pub(crate) struct Container {
    pub(crate) input: Input,
    pub(crate) bytes: Vec<u8>,
    pub(crate) catalog: Catalog,
    /// The messages, and what is wrong between or behind them.
    pub(crate) items: Vec<Item>,
    pub(crate) fault: Option<Fault>,
}

impl Container {
    /// Reads what the arguments name.
    pub(crate) fn open(arguments: &Arguments) -> Result<Result<Self, Wrong>, Failure> {
        let mut catalog = Catalog::default();
        for path in &arguments.schema {
            let bytes = read(path)?;
            if let Err(error) = catalog.add_bytes(&bytes) {
                return Err(Failure::Said(format!("{}: {error}", path.display())));
            }
        }
        let bytes = read(&arguments.file)?;
        let input = match Input::of(&bytes) {
            Ok(input) => input,
            Err(fault) => return Ok(Err(Wrong { bytes, fault })),
        };
        let mut container = Self {
            input,
            bytes,
            catalog,
            items: Vec::new(),
            fault: None,
        };
        container.fill();
        Ok(Ok(container))
    }
}
