//! The remote interfaces and their implementations.

use std::collections::HashMap;
use std::future;
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

use jstream_rmi::remote;

/// A calculator for slices of numbers.
#[remote]
pub(crate) trait Calculator {
    fn sum(&self, numbers: &[f64]) -> f64;

    fn dot(&self, a: &[f64], b: &[f64]) -> f64;

    async fn mean(&self, numbers: &[f64]) -> Result<f64, String>;

    /// Waits for the next call of `sum` by any client, and returns its result.
    async fn next_sum(&self) -> f64;
}

/// Numbers with names.
#[remote]
pub(crate) trait Memory {
    #[remote(one_way)]
    fn store(&mut self, name: &str, value: f64);

    async fn add(&mut self, name: &str, value: f64) -> Option<f64>;
}

/// Counts the sums, and keeps the wakers of the calls that wait for the next one.
#[derive(Default)]
pub(crate) struct Plain {
    sums: Mutex<Sums>,
}

#[derive(Default)]
struct Sums {
    count: u64,
    last: f64,
    waiting: Vec<Waker>,
}

#[remote]
impl Calculator for Plain {
    fn sum(&self, numbers: &[f64]) -> f64 {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.count = sums.count.wrapping_add(1);
        sums.last = numbers.iter().sum();
        sums.waiting.drain(..).for_each(Waker::wake);
        sums.last
    }

    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    async fn mean(&self, numbers: &[f64]) -> Result<f64, String> {
        let count = u32::try_from(numbers.len()).map_err(|error| error.to_string())?;
        if count == 0 {
            return Err("there are no numbers".to_owned());
        }
        Ok(numbers.iter().sum::<f64>() / f64::from(count))
    }

    async fn next_sum(&self) -> f64 {
        let mut before = None;
        future::poll_fn(|context| {
            let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
            if *before.get_or_insert(sums.count) != sums.count {
                return Poll::Ready(sums.last);
            }
            sums.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

#[derive(Default)]
pub(crate) struct Registers {
    values: HashMap<String, f64>,
}

#[remote]
impl Memory for Registers {
    fn store(&mut self, name: &str, value: f64) {
        self.values.insert(name.to_owned(), value);
    }

    async fn add(&mut self, name: &str, value: f64) -> Option<f64> {
        let stored = self.values.get_mut(name)?;
        *stored += value;
        Some(*stored)
    }
}
