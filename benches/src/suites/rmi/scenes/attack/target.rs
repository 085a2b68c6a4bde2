//! Object and types that are attacked.

use std::future;

use jstream::{Received, Transportable, transportable};
use jstream_rmi::{Remote, remote};

#[transportable]
pub(super) trait Shape {
    fn area(&self) -> f64;
}

#[derive(Transportable, Debug, Clone, Copy)]
#[transportable(implements(Shape))]
pub(super) struct Square {
    pub(super) side: f64,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.side * self.side
    }
}

/// Types for which not all byte patterns are valid.
#[derive(Transportable, Clone, Copy)]
pub(super) struct Values<'b> {
    pub(super) flag: bool,
    pub(super) letter: char,
    pub(super) maybe: Option<u16>,
    pub(super) text: &'b str,
    pub(super) numbers: &'b [f64],
    pub(super) shape: &'b dyn Shape,
}

/// A chain of any length.
#[derive(Transportable, Clone, Copy)]
pub(super) struct Chain<'b> {
    pub(super) next: Option<&'b Chain<'b>>,
}

/// Indexes of the methods.
pub(super) const ADD: u64 = 0;
pub(super) const GIVE: u64 = 1;
pub(super) const WAIT: u64 = 2;
pub(super) const KEEP: u64 = 3;
pub(super) const VALUES: u64 = 4;
pub(super) const CHAIN: u64 = 5;

#[remote]
pub(super) trait Target {
    fn add(&self, a: u64, b: u64) -> u64;
    fn give(&self, length: u64) -> Vec<u8>;
    async fn wait(&self);
    async fn keep(&self, bytes: Received<Vec<u8>>) -> u64;
    fn values(&self, values: &Values<'_>) -> f64;
    fn chain(&self, chain: &Chain<'_>) -> u64;
    fn take(&self, all: Vec<Remote<dyn Target>>) -> u64;
}

pub(super) struct Plain;

#[remote]
impl Target for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    fn give(&self, length: u64) -> Vec<u8> {
        vec![7; length.min(1 << 20) as usize]
    }

    async fn wait(&self) {
        future::pending().await
    }

    async fn keep(&self, bytes: Received<Vec<u8>>) -> u64 {
        future::pending::<()>().await;
        bytes.get().len() as u64
    }

    fn values(&self, values: &Values<'_>) -> f64 {
        let numbers: f64 = values.numbers.iter().sum();
        numbers + values.shape.area() + values.text.len() as f64
    }

    fn chain(&self, chain: &Chain<'_>) -> u64 {
        std::iter::successors(Some(chain), |chain| chain.next).count() as u64
    }

    fn take(&self, all: Vec<Remote<dyn Target>>) -> u64 {
        all.len() as u64
    }
}
