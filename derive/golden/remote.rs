#[remote]
pub trait Book {
    fn add(&self, order: &Order<'_>) -> u64;
}
