#[remote]
impl desks::Desk for Plain {
    async fn symbol<'a>(&self, order: &'a Order<'a>, (a, b): (&str, u8)) -> Option<&'a str> {
        self.found(order, a, b).await
    }

    fn open(&self) -> bool {
        true
    }

    #[cfg(unix)]
    async fn keep(&self, mut order: Received<Order<'static>>) {
        order.with_mut(|order| order.id += 1);
    }
}
