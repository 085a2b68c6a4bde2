trait Store: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    fn submit(&self, order: &Order<'_>, priority: u8, note: Option<u32>) -> u64;
}
///A stub that calls the methods of a [`Store`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
struct StoreStub {
    object: ::jstream_rmi::Object,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::clone::Clone for StoreStub {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(&self.object),
            }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::fmt::Debug for StoreStub {
        fn fmt(
            &self,
            __formatter: &mut ::jstream_rmi::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream_rmi::__private::core::fmt::Result {
            ::jstream_rmi::__private::core::fmt::Formatter::debug_struct(
                    __formatter,
                    "StoreStub",
                )
                .field("object", &self.object)
                .finish()
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for StoreStub {
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
        shield as __answer, shield as __argument_0, shield as __argument_1,
        shield as __argument_2, shield as __arguments, shield as __call,
        shield as __method, shield as __object, shield as note, shield as order,
        shield as priority,
    };
    enum __Method {
        submit,
    }
    impl StoreStub {
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn submit(
            &self,
            order: &Order<'_>,
            priority: u8,
            note: Option<u32>,
        ) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<u64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
            let _ = ::jstream_rmi::__private::Method::new::<
                (&'static Order<'static>,),
                (),
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(u8,), ()>;
            let _ = ::jstream_rmi::__private::Method::new::<(Option<u32>,), ()>;
            let _ = ::jstream_rmi::__private::Method::new::<
                (&'static Order<'static>, u8, Option<u32>),
                (),
            >;
            let __object = &self.object;
            let __arguments = &(order, priority, note);
            __object
                .call::<
                    _,
                    u64,
                >(
                    <dyn Store as ::jstream_rmi::Remotable>::interface(),
                    __Method::submit as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Store {
        type Stub = StoreStub;
        const NAME: &'static str = "Store";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                            "Store",
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
                                    let _ = ::jstream_rmi::__private::Method::new::<(u8,), ()>;
                                    let _ = ::jstream_rmi::__private::Method::new::<
                                        (Option<u32>,),
                                        (),
                                    >;
                                    let _ = ::jstream_rmi::__private::Method::new::<
                                        (&'static Order<'static>, u8, Option<u32>),
                                        (),
                                    >;
                                    ::jstream_rmi::__private::Method::new::<
                                        (&'static Order<'static>, u8, Option<u32>),
                                        u64,
                                    >(
                                            "submit",
                                            "fn submit(&self, order: &Order<'_>, priority: u8, note: Option<u32>) -> u64",
                                        )
                                        .with_arguments(&["order", "priority", "note"])
                                        .with_rules(
                                            0usize,
                                            &["item", "thing"],
                                            ::jstream_rmi::__private::core::option::Option::None,
                                        )
                                        .with_rules(
                                            1usize,
                                            &[],
                                            ::jstream_rmi::__private::core::option::Option::Some(|| {
                                                ::jstream_rmi::__private::check_type_of::<u8>()
                                                    .write_value(|| 1 + 2)
                                            }),
                                        )
                                        .with_rules(
                                            2usize,
                                            &[],
                                            ::jstream_rmi::__private::core::option::Option::Some(|| {
                                                ::jstream_rmi::__private::check_type_of::<Option<u32>>()
                                                    .write_default()
                                            }),
                                        )
                                        .renamed_from(&["put"])
                                },
                            ]),
                        )
                        .renamed_from(&["Shop"])
                })
        }
    }
    #[automatically_derived]
    impl<
        __Object: Store + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Store {
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
                    == __Method::submit
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<u64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (&'static Order<'static>,),
                        (),
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(u8,), ()>;
                    let _ = ::jstream_rmi::__private::Method::new::<(Option<u32>,), ()>;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (&'static Order<'static>, u8, Option<u32>),
                        (),
                    >;
                    let (__arguments, __answer) = __call
                        .arguments::<(&'static Order<'static>, u8, Option<u32>)>()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0, __argument_1, __argument_2) = __arguments;
                            __answer
                                .reply(
                                    &<__Object as Store>::submit(
                                        &*__object,
                                        ::jstream_rmi::__private::argument(*__argument_0)
                                            .target::<Order<'_>>(),
                                        ::jstream_rmi::__private::argument(__argument_1)
                                            .value::<u8>(),
                                        ::jstream_rmi::__private::argument(__argument_2)
                                            .value::<Option<u32>>(),
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
