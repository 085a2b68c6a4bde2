//! Expectations of mock objects for tests.
//!
//! `#[remote(mock)]` on a trait `Book` generates a `BookMock`, which implements the trait. A test
//! sets the behavior of each method, and the expected number of calls. A method without a behavior
//! panics.
//!
//! ```
//! use jstream_rmi::{Client, Server, remote};
//! use std::sync::Arc;
//!
//! #[remote(mock)]
//! trait Rates {
//!     async fn rate(&self, from: &str, to: &str) -> f64;
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rates = Arc::new(RatesMock::default());
//! rates.expect_rate(|from, to| if from == to { 1.0 } else { 1.5 }).times(2);
//!
//! let server = Server::default();
//! server.bind::<dyn Rates>("rates", rates.clone())?;
//! let serving = server.listen(&"inproc://doc-mock".parse()?)?;
//! let stub = Client::connect(serving.address()).wait()?.lookup::<dyn Rates>("rates").wait()?;
//! assert_eq!(*stub.rate("EUR", "EUR").wait()?.get(), 1.0);
//! assert_eq!(*stub.rate("EUR", "SEK").wait()?.get(), 1.5);
//! assert_eq!(rates.calls_of_rate(), 2);
//! rates.check();
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::support::lock;

/// The expected calls of one method, with a function that computes the answers.
pub struct Expectation<F: ?Sized> {
    method: &'static str,
    state: Mutex<MockState<F>>,
}

struct MockState<F: ?Sized> {
    answer: Option<Arc<F>>,
    calls: u64,
    least: u64,
    most: u64,
}

impl<F: ?Sized> Expectation<F> {
    #[doc(hidden)]
    #[must_use]
    pub fn new(method: &'static str) -> Self {
        Self {
            method,
            state: Mutex::new(MockState {
                answer: None,
                calls: 0,
                least: 0,
                most: u64::MAX,
            }),
        }
    }

    #[doc(hidden)]
    pub fn answer(&self, answer: Arc<F>) -> &Self {
        lock(&self.state).answer = Some(answer);
        self
    }

    /// Expects exactly `calls` calls. A further call panics in the method. If there are fewer, the
    /// mock's `check` panics.
    pub fn times(&self, calls: u64) -> &Self {
        let mut state = lock(&self.state);
        (state.least, state.most) = (calls, calls);
        drop(state);
        self
    }

    /// Expects at least `calls` calls.
    pub fn at_least(&self, calls: u64) -> &Self {
        lock(&self.state).least = calls;
        self
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> u64 {
        lock(&self.state).calls
    }

    /// Counts a call, and returns the function that answers it.
    ///
    /// # Panics
    ///
    /// If the test set no function, or if there are more calls than expected.
    #[doc(hidden)]
    #[must_use]
    pub fn called(&self) -> Arc<F> {
        let mut state = lock(&self.state);
        state.calls = state.calls.saturating_add(1);
        let (answer, most, too_often) =
            (state.answer.clone(), state.most, state.calls > state.most);
        // The assertions below may panic, and the test looks at the counts afterwards.
        drop(state);
        let method = self.method;
        assert!(!too_often, "{method} was called more than {most} times");
        match answer {
            Some(answer) => answer,
            None => panic!("{method} was called, but the test set no expectation for it"),
        }
    }

    #[doc(hidden)]
    pub fn check(&self) {
        let state = lock(&self.state);
        let (calls, least, method) = (state.calls, state.least, self.method);
        drop(state);
        assert!(
            calls >= least,
            "{method} was called {calls} times, but at least {least} calls were expected"
        );
    }
}

impl<F: ?Sized> fmt::Debug for Expectation<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expectation")
            .field("method", &self.method)
            .field("calls", &self.calls())
            .finish_non_exhaustive()
    }
}
