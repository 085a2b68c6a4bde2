//! Checks of values that proptest makes up.

use std::fmt::Debug;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::damage::Script;
use super::{Kit, Tally};
use crate::model::Transportable;

/// Damage of any kind, of up to four steps.
pub fn scripts() -> impl Strategy<Value = Script> {
    vec(any::<[u8; 4]>(), 1..=4).prop_map(|steps| Script(steps.concat()))
}

/// How many scripts each value is damaged by.
const SCRIPTS: usize = 16;

/// Checks that the values of a strategy arrive, and that nothing comes of damage to their messages.
/// How many are tried is up to `PROPTEST_CASES`, 256 by default.
///
/// ```
/// use proptest::collection::vec;
///
/// jstream::testing::property(vec((0..100u32, ".*"), 0..4));
/// ```
///
/// # Panics
///
/// With a [`Finding`](super::Finding), and the simplest value that shows it, when something does.
pub fn property<S>(values: S) -> Tally
where
    S: Strategy,
    S::Value: Transportable + 'static,
    for<'x> <S::Value as Transportable>::InPlace<'x>: Transportable + Debug,
{
    let kit = Kit::<S::Value>::new().most(128);
    let all = (values, vec(scripts(), SCRIPTS));
    let tally = std::cell::Cell::new(Tally::default());
    let mut runner = TestRunner::new(Config {
        // A finding comes with its message, which says all.
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&all, |(value, scripts)| {
        let fail = |finding: super::Finding| TestCaseError::fail(finding.to_string());
        let sound = kit.round_trip(&value).map_err(fail)?;
        let lengths = kit.lengths(&sound).map_err(fail)?;
        let bytes = kit.bytes(&sound).map_err(fail)?;
        let structure = kit.structure(&sound).map_err(fail)?;
        for script in &scripts {
            kit.script(&sound, script).map_err(fail)?;
        }
        tally.set(tally.get().and(lengths).and(bytes).and(structure));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    tally.get()
}
