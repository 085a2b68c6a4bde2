pub trait Book: ::core::marker::Send + ::core::marker::Sync + 'static {
    fn add(&self, order: &Order<'_>) -> u64;
}
///Calls the methods of a [`Book`] on another node.
#[derive(::core::clone::Clone, ::core::fmt::Debug)]
#[allow(dead_code, reason = "a server alone calls nothing")]
pub struct BookStub {
    object: ::jstream_rmi::Object,
}
#[allow(
    dead_code,
    deprecated,
    non_camel_case_types,
    clippy::double_must_use,
    clippy::too_many_arguments,
    reason = "names, arguments and attributes are those of the trait's methods"
)]
const _: () = {
    enum __Method {
        add,
    }
    impl BookStub {
        ///
        /// Sends the call; the result is had by waiting for it.
        pub fn add(&self, order: &Order<'_>) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::Method::new::<
                (&'static Order<'static>,),
                (),
            >;
            let __object = &self.object;
            let __arguments = &(order,);
            __object
                .call::<
                    _,
                    u64,
                >(
                    <dyn Book as ::jstream_rmi::Remotable>::interface(),
                    __Method::add as usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for BookStub {
        fn new(__object: ::jstream_rmi::Object) -> Self {
            Self { object: __object }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Book {
        type Stub = BookStub;
        fn interface() -> &'static ::jstream_rmi::Interface {
            static INTERFACE: ::std::sync::OnceLock<::jstream_rmi::Interface> = ::std::sync::OnceLock::new();
            INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Book",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static Order<'static>,),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (&'static Order<'static>,),
                                    u64,
                                >("add", "fn add(&self, order: &Order<'_>) -> u64")
                            },
                        ]),
                    )
                })
        }
        fn dispatch(
            &self,
            __method: usize,
            __call: ::jstream_rmi::__private::Incoming<'_>,
        ) -> ::core::result::Result<(), ::jstream_rmi::__private::Failed> {
            match __method {
                _ if __method == __Method::add as usize => {
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (&'static Order<'static>,),
                        (),
                    >;
                    let (__arguments, __answer) = __call
                        .arguments::<(&'static Order<'static>,)>()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0,) = __arguments;
                            __answer.reply(&<Self as Book>::add(self, *__argument_0))
                        },
                    )
                }
                _ => {
                    ::core::result::Result::Err(
                        ::jstream_rmi::__private::Failed::UnknownMethod,
                    )
                }
            }
        }
    }
};
