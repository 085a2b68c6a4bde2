//! Instances are named as the trait is, with as many arguments.

use jstream_rmi::remote;

#[remote(instances(Store<u64>, Shop<u64>, Store<u8, u8>, Store))]
trait Store<T> {
    fn put(&self, of: &T);
}

#[remote(instances(Lent<u64>))]
trait Lent<'a> {
    fn put(&self, of: &'a u64);
}

#[remote(mock, instances(Found<Vec<u64>>))]
trait Found<T: IntoIterator> {
    fn first(&self) -> Option<T::Item>;
}

fn main() {}
