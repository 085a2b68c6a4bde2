#[remote]
trait Desk {
    /// Documented.
    async fn symbol<'a>(&self, order: &'a Order<'a>, otherwise: &str) -> Option<&'a str>;
    fn open(&self) -> bool;
    #[cfg(unix)]
    async fn keep(&self, order: Received<Order<'static>>) {
        self.drop(order);
    }
}
