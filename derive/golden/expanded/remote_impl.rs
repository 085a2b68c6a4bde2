const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{
        shield as __argument_0, shield as __argument_1, shield as __in_place_keep,
        shield as __in_place_symbol,
    };
    impl desks::Desk for Plain {
        #[allow(clippy::too_many_arguments, reason = "as in the trait's method")]
        fn symbol<'call, 'a: 'call>(
            &'call self,
            __argument_0: &'a Order<'a>,
            __argument_1: (&'call str, u8),
        ) -> ::jstream_rmi::BoxFuture<'call, Option<&'a str>> {
            ::jstream_rmi::__private::std::boxed::Box::pin(
                <Self as desks::Desk>::__in_place_symbol(
                    self,
                    __argument_0,
                    __argument_1,
                ),
            )
        }
        async fn __in_place_symbol<'call, 'a: 'call>(
            &'call self,
            order: &'a Order<'a>,
            (a, b): (&'call str, u8),
        ) -> Option<&'a str> {
            self.found(order, a, b).await
        }
        fn open(&self) -> bool {
            true
        }
        #[cfg(unix)]
        #[allow(clippy::too_many_arguments, reason = "as in the trait's method")]
        fn keep<'call>(
            &'call self,
            __argument_0: Received<Order<'static>>,
        ) -> ::jstream_rmi::BoxFuture<'call, ()> {
            ::jstream_rmi::__private::std::boxed::Box::pin(
                <Self as desks::Desk>::__in_place_keep(self, __argument_0),
            )
        }
        #[cfg(unix)]
        async fn __in_place_keep<'call>(
            &'call self,
            mut order: Received<Order<'static>>,
        ) {
            order.with_mut(|order| order.id += 1);
        }
    }
};
