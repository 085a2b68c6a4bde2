#[remote]
trait Book {
    fn add(&self, order: &OrderRef<'_>, legs: &[LegRef<'_>], note: &str) -> u64;
}
