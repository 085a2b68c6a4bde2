trait Desk: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    /// Documented.
    fn symbol<'call, 'a: 'call>(
        &'call self,
        order: &'a Order<'a>,
        otherwise: &'call str,
    ) -> ::jstream_rmi::async_fn_needs_remote_on_the_impl_block!(
        'call, Option < & 'a str >
    );
    #[doc(hidden)]
    #[allow(
        deprecated,
        clippy::too_many_arguments,
        reason = "as the method that it stands for"
    )]
    fn __in_place_symbol<'call, 'a: 'call>(
        &'call self,
        order: &'a Order<'a>,
        otherwise: &'call str,
    ) -> impl ::jstream_rmi::__private::core::future::Future<
        Output = Option<&'a str>,
    > + ::jstream_rmi::__private::core::marker::Send + 'call
    where
        Self: ::jstream_rmi::__private::core::marker::Sized,
    {
        Self::symbol(self, order, otherwise)
    }
    fn open(&self) -> bool;
    #[cfg(unix)]
    fn keep<'call>(
        &'call self,
        order: Received<Order<'static>>,
    ) -> ::jstream_rmi::async_fn_needs_remote_on_the_impl_block!('call, ()) {
        ::jstream_rmi::__private::std::boxed::Box::pin(async move {
            if false {
                return ::jstream_rmi::__private::no_result::<()>();
            }
            {
                self.drop(order);
            }
        })
    }
    #[cfg(unix)]
    #[doc(hidden)]
    #[allow(
        deprecated,
        clippy::too_many_arguments,
        reason = "as the method that it stands for"
    )]
    fn __in_place_keep<'call>(
        &'call self,
        order: Received<Order<'static>>,
    ) -> impl ::jstream_rmi::__private::core::future::Future<
        Output = (),
    > + ::jstream_rmi::__private::core::marker::Send + 'call
    where
        Self: ::jstream_rmi::__private::core::marker::Sized,
    {
        Self::keep(self, order)
    }
}
///A stub that calls the methods of a [`Desk`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
struct DeskStub {
    object: ::jstream_rmi::Object,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::clone::Clone for DeskStub {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(&self.object),
            }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::fmt::Debug for DeskStub {
        fn fmt(
            &self,
            __formatter: &mut ::jstream_rmi::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream_rmi::__private::core::fmt::Result {
            ::jstream_rmi::__private::core::fmt::Formatter::debug_struct(
                    __formatter,
                    "DeskStub",
                )
                .field("object", &self.object)
                .finish()
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for DeskStub {
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
        shield as __arguments, shield as __call, shield as __in_place_keep,
        shield as __in_place_symbol, shield as __message, shield as __method,
        shield as __object, shield as __result, shield as order, shield as otherwise,
    };
    enum __Method {
        symbol,
        open,
        #[cfg(unix)]
        keep,
    }
    impl DeskStub {
        /// Documented.
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn symbol(
            &self,
            order: &Order<'_>,
            otherwise: &str,
        ) -> ::jstream_rmi::Call<Option<&'static str>> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<Option<&'static str>>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), Option<&'static str>>;
            let _ = ::jstream_rmi::__private::Method::new_async::<
                (&'static Order<'static>,),
                (),
            >;
            let _ = ::jstream_rmi::__private::Method::new_async::<(&'static str,), ()>;
            let _ = ::jstream_rmi::__private::Method::new::<
                (&'static Order<'static>, &'static str),
                (),
            >;
            let __object = &self.object;
            let __arguments = &(order, otherwise);
            __object
                .call::<
                    _,
                    Option<&'static str>,
                >(
                    <dyn Desk as ::jstream_rmi::Remotable>::interface(),
                    __Method::symbol as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn open(&self) -> ::jstream_rmi::Call<bool> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<bool>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), bool>;
            let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
            let __object = &self.object;
            let __arguments = &();
            __object
                .call::<
                    _,
                    bool,
                >(
                    <dyn Desk as ::jstream_rmi::Remotable>::interface(),
                    __Method::open as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
        #[cfg(unix)]
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn keep(&self, order: &Order<'_>) -> ::jstream_rmi::Call<()> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<()>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
            let _ = ::jstream_rmi::__private::Method::new::<Order<'static>, ()>;
            let __object = &self.object;
            let __arguments = order;
            __object
                .call::<
                    _,
                    (),
                >(
                    <dyn Desk as ::jstream_rmi::Remotable>::interface(),
                    __Method::keep as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Desk {
        type Stub = DeskStub;
        const NAME: &'static str = "Desk";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Desk",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<Option<&'static str>>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (),
                                    Option<&'static str>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new_async::<
                                    (&'static Order<'static>,),
                                    (),
                                >;
                                let _ = ::jstream_rmi::__private::Method::new_async::<
                                    (&'static str,),
                                    (),
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static Order<'static>, &'static str),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (&'static Order<'static>, &'static str),
                                    Option<&'static str>,
                                >(
                                        "symbol",
                                        "async fn symbol<'a>(&self, order: &'a Order<'a>, otherwise: &str) -> Option<&'a str>",
                                    )
                                    .with_arguments(&["order", "otherwise"])
                            },
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<bool>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), bool>;
                                let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
                                ::jstream_rmi::__private::Method::new::<
                                    (),
                                    bool,
                                >("open", "fn open(&self) -> bool")
                            },
                            #[cfg(unix)]
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<()>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    Order<'static>,
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    Order<'static>,
                                    (),
                                >(
                                    "keep",
                                    "async fn keep(&self, order: Received<Order<'static>>)",
                                )
                            },
                        ]),
                    )
                })
        }
    }
    trait __InPlace: Desk {
        fn symbol<'call, 'a: 'call>(
            &'call self,
            __argument_0: &'a Order<'a>,
            __argument_1: &'call str,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = Option<&'a str>,
        > + ::jstream_rmi::__private::core::marker::Send + 'call;
        #[cfg(unix)]
        fn keep<'call>(
            &'call self,
            __argument_0: Received<Order<'static>>,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = (),
        > + ::jstream_rmi::__private::core::marker::Send + 'call;
    }
    impl<__Object: Desk> __InPlace for __Object {
        fn symbol<'call, 'a: 'call>(
            &'call self,
            __argument_0: &'a Order<'a>,
            __argument_1: &'call str,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = Option<&'a str>,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Desk>::__in_place_symbol(self, __argument_0, __argument_1)
        }
        #[cfg(unix)]
        fn keep<'call>(
            &'call self,
            __argument_0: Received<Order<'static>>,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = (),
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Desk>::__in_place_keep(self, __argument_0)
        }
    }
    impl __InPlace for dyn Desk {
        fn symbol<'call, 'a: 'call>(
            &'call self,
            __argument_0: &'a Order<'a>,
            __argument_1: &'call str,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = Option<&'a str>,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Desk>::symbol(self, __argument_0, __argument_1)
        }
        #[cfg(unix)]
        fn keep<'call>(
            &'call self,
            __argument_0: Received<Order<'static>>,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = (),
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Desk>::keep(self, __argument_0)
        }
    }
    #[automatically_derived]
    impl<
        __Object: __InPlace + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Desk {
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
                    == __Method::open
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<bool>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), bool>;
                    let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
                    let __answer = __call.no_arguments()?;
                    __answer.reply(&<__Object as Desk>::open(&*__object))?;
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
                _ if __method
                    == __Method::symbol
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<Option<&'static str>>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (),
                        Option<&'static str>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new_async::<
                        (&'static Order<'static>,),
                        (),
                    >;
                    let _ = ::jstream_rmi::__private::Method::new_async::<
                        (&'static str,),
                        (),
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (&'static Order<'static>, &'static str),
                        (),
                    >;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer
                        .arguments::<
                            (&'static Order<'static>, &'static str),
                        >(__message)?;
                    struct __Arguments(
                        ::jstream_rmi::Received<(&'static Order<'static>, &'static str)>,
                    );
                    let __arguments = __Arguments(__arguments);
                    let (__argument_0, __argument_1) = ::jstream_rmi::Received::get(
                        &__arguments.0,
                    );
                    let __result = __InPlace::symbol(
                            &*__object,
                            ::jstream_rmi::__private::argument(*__argument_0)
                                .target::<Order<'_>>(),
                            ::jstream_rmi::__private::argument(*__argument_1)
                                .target::<str>(),
                        )
                        .await;
                    __answer.reply(&__result)
                }
                #[cfg(unix)]
                _ if __method
                    == __Method::keep
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<()>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
                    let _ = ::jstream_rmi::__private::Method::new::<Order<'static>, ()>;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer.arguments::<Order<'static>>(__message)?;
                    __answer.reply(&__InPlace::keep(&*__object, __arguments).await)
                }
                _ => {
                    ::jstream_rmi::__private::core::result::Result::Err(
                        ::jstream_rmi::__private::Failed::UnknownMethod,
                    )
                }
            }
        }
    }
};
