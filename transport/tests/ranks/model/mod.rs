//! Compares ranks with a simple model: threads of several ranks execute a random plan, and their
//! observations must be consistent with some valid order of the messages.
//!
//! `PROPTEST_CASES` sets the number of plans for each device, and `JSTREAM_SCHEDULES` the number of
//! plans in simulations.

mod book;
mod plan;
mod receiving;
mod rules;
mod simulated;
mod threads;

use plan::Plan;
use proptest::prelude::any;
use proptest::test_runner::{
    Config, FileFailurePersistence, RngSeed, TestCaseError, TestError, TestRunner,
};

/// Default numbers of plans: for each device, and in simulations.
const PLANS: u32 = 12;
const SCHEDULES: u32 = 30;

fn config() -> Config {
    Config {
        max_shrink_iters: 400,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    }
}

fn verdict(faults: &[String]) -> Result<(), TestCaseError> {
    match faults {
        [] => Ok(()),
        faults => Err(TestCaseError::fail(faults.join("\n"))),
    }
}

fn on_threads(way: &'static str) {
    let mut config = config();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = PLANS;
    }
    let result =
        TestRunner::new(config).run(&plan::plan(), |plan| verdict(&threads::run(way, &plan)));
    if let Err(error) = result {
        panic!("over {way}: {error}");
    }
}

mod ways {
    macro_rules! ways {
        ($($way:ident)+) => {
            $(#[test]
            fn $way() {
                super::on_threads(stringify!($way));
            })+
        };
    }
    ways!(threads inproc shm uds tcp uring);
}

/// Runs plans from a fixed seed in simulations.
fn in_simulations(overtaken: Option<u64>) -> Result<(), TestError<(Plan, u64)>> {
    let mut config = config();
    config.rng_seed = RngSeed::Fixed(6);
    config.cases = match std::env::var("JSTREAM_SCHEDULES") {
        Ok(number) => number.parse().unwrap(),
        Err(_) => SCHEDULES,
    };
    TestRunner::new(config).run(&(plan::plan(), any::<u64>()), |(mut plan, seed)| {
        if overtaken.is_some() {
            plan.victim = None;
        }
        verdict(&simulated::run(&plan, seed, overtaken))
    })
}

#[test]
fn simulated() {
    if let Err(error) = in_simulations(None) {
        panic!("in a simulation: {error}");
    }
}

#[test]
fn messages_that_overtake_each_other_on_the_way_are_noticed() {
    let Err(TestError::Fail(why, (plan, _))) = in_simulations(Some(3)) else {
        panic!("the reordering was not detected")
    };
    assert!(why.message().contains("was first"), "{why}");
    // The plan was reduced to the steps that are needed.
    let steps: usize = plan.tasks.iter().map(|task| task.steps.len()).sum();
    assert!(steps < 30, "{plan:?}");
}
