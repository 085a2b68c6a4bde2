pub trait Book: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    fn add(&self, order: &Order<'_>) -> u64;
}
///A stub that calls the methods of a [`Book`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
pub struct BookStub {
    object: ::jstream_rmi::Object,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::clone::Clone for BookStub {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(&self.object),
            }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::fmt::Debug for BookStub {
        fn fmt(
            &self,
            __formatter: &mut ::jstream_rmi::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream_rmi::__private::core::fmt::Result {
            ::jstream_rmi::__private::core::fmt::Formatter::debug_struct(
                    __formatter,
                    "BookStub",
                )
                .field("object", &self.object)
                .finish()
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for BookStub {
        fn new(__object: ::jstream_rmi::Object) -> Self {
            Self { object: __object }
        }
        fn object(&self) -> &::jstream_rmi::Object {
            &self.object
        }
    }
};
#[allow(
    dead_code,
    deprecated,
    non_camel_case_types,
    clippy::double_must_use,
    clippy::too_many_arguments,
    reason = "names, arguments and attributes are those of the trait's methods"
)]
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{
        shield as __answer, shield as __argument_0, shield as __arguments,
        shield as __call, shield as __method, shield as __object, shield as order,
    };
    enum __Method {
        add,
    }
    impl BookStub {
        ///
        ///Sends the call. Wait for the returned value to get the result.
        pub fn add(&self, order: &Order<'_>) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<u64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
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
                    __Method::add as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Book {
        type Stub = BookStub;
        const NAME: &'static str = "Book";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Book",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<u64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static Order<'static>,),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (&'static Order<'static>,),
                                    u64,
                                >("add", "fn add(&self, order: &Order<'_>) -> u64")
                                    .with_arguments(&["order"])
                            },
                        ]),
                    )
                })
        }
    }
    #[automatically_derived]
    impl<
        __Object: Book + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Book {
        type Holder = ::jstream_rmi::__private::std::sync::Arc<__Object>;
        fn call(
            __object: &::jstream_rmi::__private::std::sync::Arc<__Object>,
            __method: ::jstream_rmi::__private::core::primitive::usize,
            __call: &mut ::jstream_rmi::__private::Incoming,
        ) -> ::jstream_rmi::__private::core::result::Result<
            ::jstream_rmi::__private::core::primitive::bool,
            ::jstream_rmi::__private::Failed,
        > {
            match __method {
                _ if __method
                    == __Method::add
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<u64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
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
                            __answer
                                .reply(
                                    &<__Object as Book>::add(
                                        &*__object,
                                        ::jstream_rmi::__private::argument(*__argument_0)
                                            .target::<Order<'_>>(),
                                    ),
                                )
                        },
                    )?;
                    ::jstream_rmi::__private::core::result::Result::Ok(true)
                }
                _ => ::jstream_rmi::__private::core::result::Result::Ok(false),
            }
        }
        async fn run(
            __object: ::jstream_rmi::__private::std::sync::Arc<__Object>,
            __method: ::jstream_rmi::__private::core::primitive::usize,
            __call: ::jstream_rmi::__private::Incoming,
        ) -> ::jstream_rmi::__private::core::result::Result<
            (),
            ::jstream_rmi::__private::Failed,
        > {
            match __method {
                _ => {
                    ::jstream_rmi::__private::core::result::Result::Err(
                        ::jstream_rmi::__private::Failed::UnknownMethod,
                    )
                }
            }
        }
    }
};
