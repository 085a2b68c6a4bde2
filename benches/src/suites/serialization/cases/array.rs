//! Cases `array/...`: a plain array of `f64`, whose reading time does not depend on its length.

use super::{Case, Numbers, forever, values};
use crate::Failure;
use crate::suites::serialization::walk::walk_fields;
use crate::table::number;

values! {
    struct Array {
        values: Vec<f64>,
    }
}

walk_fields!(Array, ArrayRef<'_>, ArchivedArray => values);

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(4);
    let value = forever(Array {
        values: (0..size)
            .map(|_| numbers.below(1_000_000) as f64 / 1_000.0)
            .collect(),
    });
    let about = format!("an array of {} x f64", number(size as f64));
    let case = Case::new(about, value)?
        .and_memcpy(&value.values)
        .and_postcard(value)?;
    #[cfg(feature = "peers")]
    let case = case.and_packing(value)?;
    Ok(case)
}
