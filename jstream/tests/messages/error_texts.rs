//! The texts of errors: `{:?}`, which `main` and `unwrap` print, is the sentence of `Display`.

use jstream::schema::Schema;
use jstream::{EmptyBuffer, Reader, Transportable, from_slice};

#[test]
fn debug_of_an_error_is_its_sentence() {
    let error = from_slice::<Vec<String>>(&[1, 2, 3]).unwrap_err();
    let sentence = error.to_string();
    assert_eq!(format!("{error:?}"), sentence);
    // Nothing is lost for those who want the structure.
    let structure = format!("{error:#?}");
    assert_ne!(structure, sentence);
    assert!(structure.contains('{'), "{structure}");

    let error = Schema::from_bytes(&[0xff; 3]).unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}

/// A type without `Debug`.
#[derive(Transportable)]
struct Silent {
    text: String,
}

#[test]
fn debug_of_an_error_with_a_buffer_is_the_sentence_of_its_cause() {
    let message = EmptyBuffer::heap(3).copy_from(&[1, 2, 3]).unwrap();
    let read = Reader::default().read::<Silent>(message);
    let failure = read.map(|silent| silent.get().text.len()).unwrap_err();
    assert_eq!(format!("{failure:?}"), failure.error.to_string());
    assert!(format!("{failure:#?}").starts_with("ReadFailure {\n    "));
}
