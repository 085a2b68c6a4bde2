//! What a test expects of an object that stands for the real one.
//!
//! `#[remote(mock)]` on a trait `Book` makes a `BookMock`, which implements the trait. A test says what each
//! method does, and how often it is to be called; a method of which it said nothing panics.
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
//! let stub = Client::connect(serving.address())?.lookup::<dyn Rates>("rates")?;
//! assert_eq!(*stub.rate("EUR", "EUR").wait()?.get(), 1.0);
//! assert_eq!(*stub.rate("EUR", "SEK").wait()?.get(), 1.5);
//! assert_eq!(rates.calls_of_rate(), 2);
//! rates.check();
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::sync::lock;

/// What a test says of one method, by a function that answers in its place.
pub struct Expectation<F: ?Sized> {
    method: &'static str,
    state: Mutex<State<F>>,
}

struct State<F: ?Sized> {
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
            state: Mutex::new(State {
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

    /// Expects so many calls: one more panics in the method, fewer in the mock's `check`.
    pub fn times(&self, calls: u64) -> &Self {
        let mut state = lock(&self.state);
        (state.least, state.most) = (calls, calls);
        drop(state);
        self
    }

    /// Expects so many calls at least.
    pub fn at_least(&self, calls: u64) -> &Self {
        lock(&self.state).least = calls;
        self
    }

    /// How often the method was called.
    pub fn calls(&self) -> u64 {
        lock(&self.state).calls
    }

    /// The method is called.
    ///
    /// # Panics
    ///
    /// When a test said nothing of it, or that it is called less often.
    #[doc(hidden)]
    #[must_use]
    pub fn called(&self) -> Arc<F> {
        let mut state = lock(&self.state);
        state.calls = state.calls.saturating_add(1);
        let (answer, most, too_often) =
            (state.answer.clone(), state.most, state.calls > state.most);
        drop(state);
        let method = self.method;
        assert!(
            !too_often,
            "{method} is called more often than {most} times"
        );
        match answer {
            Some(answer) => answer,
            None => panic!("{method} is called, of which the test says nothing"),
        }
    }

    #[doc(hidden)]
    pub fn check(&self) {
        let state = lock(&self.state);
        let (calls, least, method) = (state.calls, state.least, self.method);
        drop(state);
        assert!(
            calls >= least,
            "{method} was called {calls} times, and at least {least} were expected"
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
