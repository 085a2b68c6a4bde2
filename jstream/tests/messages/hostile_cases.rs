//! Forged messages, case by case: the expected error and the field that it names.

mod again;
mod classes;
use crate::common;
mod targets;
mod values;

use common::message;
use jstream::testing::{Meaning, places};
use jstream::{EmptyBuffer, ReadError, Reader, Received, Transportable};

fn read<T: Transportable + 'static>(bytes: &[u8]) -> Result<Received<T>, ReadError> {
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    let read = Reader::default().read::<T>(filled);
    read.map_err(|failure| failure.error)
}

/// A message with access to its parts by their meaning.
struct Forged<T> {
    sound: Vec<u8>,
    bytes: Vec<u8>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Transportable + 'static> Forged<T> {
    fn of(value: &impl Transportable) -> Self {
        let sound = message(value).as_bytes().to_vec();
        Self {
            bytes: sound.clone(),
            sound,
            of: std::marker::PhantomData,
        }
    }

    /// Returns the offset of the `nth` part with this meaning.
    fn at(&self, meaning: Meaning, nth: usize) -> usize {
        let places = places::<T>(&self.sound);
        assert!(places.complete);
        let mut all = places.all.iter().filter(|place| place.meaning == meaning);
        all.nth(nth).unwrap().at.start
    }

    fn word(&self, meaning: Meaning, nth: usize) -> u64 {
        let at = self.at(meaning, nth);
        u64::from_le_bytes(self.sound[at..at + 8].try_into().unwrap())
    }

    /// Replaces a word, whose offset is determined from the sound message.
    fn put(&mut self, meaning: Meaning, nth: usize, word: u64) -> &mut Self {
        let at = self.at(meaning, nth);
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        self
    }

    fn put_byte(&mut self, meaning: Meaning, nth: usize, byte: u8) -> &mut Self {
        let at = self.at(meaning, nth);
        self.bytes[at] = byte;
        self
    }

    /// Reads the changed message, restores the sound one, and returns the error.
    #[track_caller]
    fn error(&mut self) -> ReadError {
        let bytes = std::mem::replace(&mut self.bytes, self.sound.clone());
        match read::<T>(&bytes) {
            Ok(_) => panic!("it is accepted"),
            Err(error) => error,
        }
    }

    /// Expects an error that names `field` and contains `says`.
    #[track_caller]
    fn expect(&mut self, field: &str, says: &str) {
        match self.error() {
            ReadError::Value { path, details, .. } => {
                assert_eq!(path, field, "{details}");
                assert!(details.contains(says), "{path}: {details}");
            }
            other => panic!("{other}"),
        }
    }
}
