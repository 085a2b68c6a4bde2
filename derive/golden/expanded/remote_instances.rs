pub(crate) trait Store<
    T: Keyed + 'static,
    const N: usize,
>: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    fn get(&self, keys: &[<T as Keyed>::Key; N]) -> Vec<T>;
}
///A stub that calls the methods of a [`Store`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
pub(crate) struct StoreStub<T, const N: usize> {
    object: ::jstream_rmi::Object,
    instance: ::jstream_rmi::__private::core::marker::PhantomData<fn() -> (T,)>,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl<T, const N: usize> ::jstream_rmi::__private::core::clone::Clone
    for StoreStub<T, N> {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(
                    &self.object,
                ),
                instance: ::jstream_rmi::__private::core::marker::PhantomData,
            }
        }
    }
    #[automatically_derived]
    impl<T, const N: usize> ::jstream_rmi::__private::core::fmt::Debug
    for StoreStub<T, N> {
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
    impl<T, const N: usize> ::jstream_rmi::Stub for StoreStub<T, N> {
        fn new(__object: ::jstream_rmi::Object) -> Self {
            Self {
                object: __object,
                instance: ::jstream_rmi::__private::core::marker::PhantomData,
            }
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
        shield as __call, shield as __method, shield as __object, shield as keys,
    };
    enum __Method {
        get,
    }
    impl StoreStub<u64, 2> {
        ///
        ///Sends the call. Wait for the returned value to get the result.
        pub(crate) fn get(
            &self,
            keys: &[<u64 as Keyed>::Key; 2],
        ) -> ::jstream_rmi::Call<Vec<u64>> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<Vec<u64>>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), Vec<u64>>;
            let _ = ::jstream_rmi::__private::Method::new::<
                (&'static [<u64 as Keyed>::Key; 2],),
                (),
            >;
            let __object = &self.object;
            let __arguments = &(keys,);
            __object
                .call::<
                    _,
                    Vec<u64>,
                >(
                    <dyn Store<u64, 2> as ::jstream_rmi::Remotable>::interface(),
                    __Method::get as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Store<u64, 2> {
        type Stub = StoreStub<u64, 2>;
        const NAME: &'static str = "Store<u64, 2>";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Store<u64, 2>",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<Vec<u64>>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (),
                                    Vec<u64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static [<u64 as Keyed>::Key; 2],),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (&'static [<u64 as Keyed>::Key; 2],),
                                    Vec<u64>,
                                >(
                                        "get",
                                        "fn get(&self, keys: &[<u64 as Keyed>::Key; 2]) -> Vec<u64>",
                                    )
                                    .with_arguments(&["keys"])
                                    .idempotent()
                            },
                        ]),
                    )
                })
        }
    }
    #[automatically_derived]
    impl<
        __Object: Store<u64, 2> + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Store<u64, 2> {
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
                    == __Method::get
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<Vec<u64>>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), Vec<u64>>;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (&'static [<u64 as Keyed>::Key; 2],),
                        (),
                    >;
                    let (__arguments, __answer) = __call
                        .arguments::<(&'static [<u64 as Keyed>::Key; 2],)>()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0,) = __arguments;
                            __answer
                                .reply(
                                    &<__Object as Store<
                                        u64,
                                        2,
                                    >>::get(
                                        &*__object,
                                        ::jstream_rmi::__private::argument(*__argument_0)
                                            .target::<[<u64 as Keyed>::Key; 2]>(),
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
        shield as __call, shield as __method, shield as __object, shield as keys,
    };
    enum __Method {
        get,
    }
    impl StoreStub<String, 3> {
        ///
        ///Sends the call. Wait for the returned value to get the result.
        pub(crate) fn get(
            &self,
            keys: &[<String as Keyed>::Key; 3],
        ) -> ::jstream_rmi::Call<Vec<String>> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<Vec<String>>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), Vec<String>>;
            let _ = ::jstream_rmi::__private::Method::new::<
                (&'static [<String as Keyed>::Key; 3],),
                (),
            >;
            let __object = &self.object;
            let __arguments = &(keys,);
            __object
                .call::<
                    _,
                    Vec<String>,
                >(
                    <dyn Store<String, 3> as ::jstream_rmi::Remotable>::interface(),
                    __Method::get as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Store<String, 3> {
        type Stub = StoreStub<String, 3>;
        const NAME: &'static str = "Store<String, 3>";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Store<String, 3>",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<Vec<String>>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (),
                                    Vec<String>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static [<String as Keyed>::Key; 3],),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (&'static [<String as Keyed>::Key; 3],),
                                    Vec<String>,
                                >(
                                        "get",
                                        "fn get(&self, keys: &[<String as Keyed>::Key; 3]) -> Vec<String>",
                                    )
                                    .with_arguments(&["keys"])
                                    .idempotent()
                            },
                        ]),
                    )
                })
        }
    }
    #[automatically_derived]
    impl<
        __Object: Store<String, 3> + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Store<String, 3> {
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
                    == __Method::get
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<Vec<String>>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), Vec<String>>;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (&'static [<String as Keyed>::Key; 3],),
                        (),
                    >;
                    let (__arguments, __answer) = __call
                        .arguments::<(&'static [<String as Keyed>::Key; 3],)>()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0,) = __arguments;
                            __answer
                                .reply(
                                    &<__Object as Store<
                                        String,
                                        3,
                                    >>::get(
                                        &*__object,
                                        ::jstream_rmi::__private::argument(*__argument_0)
                                            .target::<[<String as Keyed>::Key; 3]>(),
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
