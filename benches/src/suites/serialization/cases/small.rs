//! Cases `small/...`: messages so short that the fixed cost of a message decides.

use super::{Case, Numbers, forever, list, values};
use crate::Failure;
use crate::suites::serialization::walk::walk_fields;
use crate::table::number;

values! {
    struct Single {
        value: u64,
    }

    struct Text {
        id: u64,
        text: String,
    }
}

walk_fields!(Single, ArchivedSingle => value);
walk_fields!(Text, TextRef<'_>, ArchivedText => id text);

/// Creates the case of one number.
pub(super) fn single(size: usize) -> Result<Case, Failure> {
    let value = forever(Single { value: size as u64 });
    let case = Case::new("one u64".to_owned(), value)?;
    #[cfg(feature = "peers")]
    let case = case.and_peers(value)?;
    Ok(case)
}

/// Creates the case of a number and a string of `size` bytes.
pub(super) fn text(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(11);
    let value = forever(Text {
        id: numbers.next(),
        text: "x".repeat(size),
    });
    let about = format!("a u64, and a string of {} bytes", number(size as f64));
    let case = Case::new(about, value)?;
    #[cfg(feature = "peers")]
    let case = case.and_peers(value)?;
    Ok(case)
}

/// Creates the case of a linked list.
pub(super) fn list(size: usize) -> Result<Case, Failure> {
    list::case(size)
}
