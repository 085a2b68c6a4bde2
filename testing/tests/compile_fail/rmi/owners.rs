//! Each argument is taken as what it arrives as. Otherwise, the only error is at the parameter.

use std::collections::HashMap;

use jstream::Transportable;
use jstream_rmi::remote;

#[derive(Transportable)]
pub struct User {
    name: String,
    id: u64,
}

#[derive(Transportable)]
pub struct Point {
    x: f64,
}

#[remote]
trait Store {
    fn add(&self, user: User);
    fn find(&self, user: &User, limit: u64) -> u64;
    fn name(&self, name: String, other: &String);
    fn names(&self, names: &[String], numbers: Vec<u64>);
    fn ages(&self, ages: &HashMap<String, u64>);
    fn pairs(&self, pair: (String, u64), next: Box<u64>);
    fn maybe(&self, user: Option<&User>);
    async fn later(&mut self, limit: u64, user: &User, point: Point);
}

#[remote]
trait Changes {
    fn sort(&self, list: &mut [u64]);
}

fn main() {}
