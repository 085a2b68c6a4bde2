//! Cost of turning a received object back into its message, compared with reading it, and with
//! copying the message.

use std::cell::RefCell;

use super::Subject;
use crate::Failure;
use crate::suites::{Bench, serialization};

/// Reads the data set that the case names after its slash, and turns it back into its message in
/// place: once unmodified, and once after a visit that may have modified it.
pub(super) fn run(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let (_, name) = case
        .split_once('/')
        .ok_or("the name of the case contains no data set")?;
    let (sent, copies) = serialization::jstream(name)?;
    let sent = RefCell::new(sent);
    let forward = Subject::new("forward", || sent.borrow_mut().forward(false));
    let changed = Subject::new("changed", || sent.borrow_mut().forward(true));
    let read = Subject::new("read", || sent.borrow_mut().read());
    let copy = Subject::new("copy", || sent.borrow_mut().copy());
    bench.compare(case, "turn", vec![forward, read, changed, copy])?;
    let bytes = sent.borrow().bytes();
    let text = format!(
        "{bytes} bytes, {copies} copies per round; `changed` was visited by with_mut, so that all is \
         compared before it is turned back"
    );
    bench.note(case, text);
    Ok(())
}
