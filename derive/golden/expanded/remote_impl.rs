impl desks::Desk for Plain {
    #[allow(clippy::too_many_arguments, reason = "as in the trait's method")]
    fn symbol<'__call, 'a: '__call>(
        &'__call self,
        __argument_0: &'a Order<'a>,
        __argument_1: (&'__call str, u8),
    ) -> ::jstream_rmi::BoxFuture<'__call, Option<&'a str>> {
        ::std::boxed::Box::pin(
            <Self as desks::Desk>::__in_place_symbol(self, __argument_0, __argument_1),
        )
    }
    async fn __in_place_symbol<'__call, 'a: '__call>(
        &'__call self,
        order: &'a Order<'a>,
        (a, b): (&'__call str, u8),
    ) -> Option<&'a str> {
        self.found(order, a, b).await
    }
    fn open(&self) -> bool {
        true
    }
    #[cfg(unix)]
    #[allow(clippy::too_many_arguments, reason = "as in the trait's method")]
    fn keep<'__call>(
        &'__call self,
        __argument_0: Received<Order<'static>>,
    ) -> ::jstream_rmi::BoxFuture<'__call, ()> {
        ::std::boxed::Box::pin(
            <Self as desks::Desk>::__in_place_keep(self, __argument_0),
        )
    }
    #[cfg(unix)]
    async fn __in_place_keep<'__call>(
        &'__call self,
        mut order: Received<Order<'static>>,
    ) {
        order.with_mut(|order| order.id += 1);
    }
}
