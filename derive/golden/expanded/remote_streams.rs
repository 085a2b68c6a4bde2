trait Numbers: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    fn below(&self, most: u64) -> Stream<u64>;
    fn total<'call>(
        &'call self,
        scale: f64,
        numbers: Stream<f64>,
    ) -> ::jstream_rmi::async_fn_needs_remote_on_the_impl_block!('call, f64);
    #[doc(hidden)]
    #[allow(
        deprecated,
        clippy::too_many_arguments,
        reason = "as the method that it stands for"
    )]
    fn __in_place_total<'call>(
        &'call self,
        scale: f64,
        numbers: Stream<f64>,
    ) -> impl ::jstream_rmi::__private::core::future::Future<
        Output = f64,
    > + ::jstream_rmi::__private::core::marker::Send + 'call
    where
        Self: ::jstream_rmi::__private::core::marker::Sized,
    {
        Self::total(self, scale, numbers)
    }
    fn both(&mut self, lines: Stream<String>) -> Stream<Result<u64, String>>;
}
///A stub that calls the methods of a [`Numbers`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
struct NumbersStub {
    object: ::jstream_rmi::Object,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::clone::Clone for NumbersStub {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(&self.object),
            }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::fmt::Debug for NumbersStub {
        fn fmt(
            &self,
            __formatter: &mut ::jstream_rmi::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream_rmi::__private::core::fmt::Result {
            ::jstream_rmi::__private::core::fmt::Formatter::debug_struct(
                    __formatter,
                    "NumbersStub",
                )
                .field("object", &self.object)
                .finish()
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for NumbersStub {
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
        shield as __arguments, shield as __call, shield as __carried,
        shield as __current, shield as __in_place_total, shield as __message,
        shield as __method, shield as __number, shield as __object, shield as __result,
        shield as __stream, shield as __taken, shield as lines, shield as most,
        shield as numbers, shield as scale,
    };
    enum __Method {
        below,
        total,
        both,
    }
    impl NumbersStub {
        ///
        ///Sends the call. The stream yields the items, or the error of the call.
        fn below(&self, most: u64) -> ::jstream_rmi::Stream<u64> {
            let _ = ::jstream_rmi::__private::Method::new::<
                (u64, ::jstream_rmi::__private::core::primitive::u64),
                (),
            >;
            let _ = ::jstream_rmi::__private::Method::streams::<u64>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let (__taken, __number) = __carried.take::<u64>();
            let __arguments = &(most, __number);
            __object
                .stream::<
                    _,
                    u64,
                >(
                    <dyn Numbers as ::jstream_rmi::Remotable>::interface(),
                    __Method::below as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                    __taken,
                )
        }
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn total(&self, scale: f64, numbers: Stream<f64>) -> ::jstream_rmi::Call<f64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<f64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), f64>;
            let _ = ::jstream_rmi::__private::Method::new_async::<(f64,), ()>;
            let _ = ::jstream_rmi::__private::Method::new::<
                (f64, ::jstream_rmi::__private::core::primitive::u64),
                (),
            >;
            let _ = ::jstream_rmi::__private::Method::streams::<f64>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let __arguments = &(scale, __carried.send::<f64>(numbers));
            __object
                .call_with::<
                    _,
                    f64,
                >(
                    <dyn Numbers as ::jstream_rmi::Remotable>::interface(),
                    __Method::total as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                )
        }
        ///
        ///Sends the call. The stream yields the items, or the error of the call.
        fn both(
            &self,
            lines: Stream<String>,
        ) -> ::jstream_rmi::Stream<Result<u64, String>> {
            let _ = ::jstream_rmi::__private::Method::streams::<String>;
            let _ = ::jstream_rmi::__private::Method::streams::<Result<u64, String>>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let (__taken, __number) = __carried.take::<Result<u64, String>>();
            let __arguments = &(__carried.send::<String>(lines), __number);
            __object
                .stream::<
                    _,
                    Result<u64, String>,
                >(
                    <dyn Numbers as ::jstream_rmi::Remotable>::interface(),
                    __Method::both as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                    __taken,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Numbers {
        type Stub = NumbersStub;
        const NAME: &'static str = "Numbers";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Numbers",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (u64, ::jstream_rmi::__private::core::primitive::u64),
                                    (),
                                >;
                                let _ = ::jstream_rmi::__private::Method::streams::<u64>;
                                ::jstream_rmi::__private::Method::new::<
                                    (u64, ::jstream_rmi::__private::core::primitive::u64),
                                    ::jstream_rmi::__private::core::primitive::u64,
                                >("below", "fn below(&self, most: u64) -> Stream<u64>")
                                    .with_arguments(&["most"])
                                    .gives::<u64>()
                            },
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<f64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), f64>;
                                let _ = ::jstream_rmi::__private::Method::new_async::<
                                    (f64,),
                                    (),
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (f64, ::jstream_rmi::__private::core::primitive::u64),
                                    (),
                                >;
                                let _ = ::jstream_rmi::__private::Method::streams::<f64>;
                                ::jstream_rmi::__private::Method::new::<
                                    (f64, ::jstream_rmi::__private::core::primitive::u64),
                                    f64,
                                >(
                                        "total",
                                        "async fn total(&self, scale: f64, numbers: Stream<f64>) -> f64",
                                    )
                                    .with_arguments(&["scale", "numbers"])
                                    .takes::<f64>(1usize)
                            },
                            {
                                let _ = ::jstream_rmi::__private::Method::streams::<String>;
                                let _ = ::jstream_rmi::__private::Method::streams::<
                                    Result<u64, String>,
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (
                                        ::jstream_rmi::__private::core::primitive::u64,
                                        ::jstream_rmi::__private::core::primitive::u64,
                                    ),
                                    ::jstream_rmi::__private::core::primitive::u64,
                                >(
                                        "both",
                                        "fn both(&mut self, lines: Stream<String>) -> Stream<Result<u64, String>>",
                                    )
                                    .with_arguments(&["lines"])
                                    .takes::<String>(0usize)
                                    .gives::<Result<u64, String>>()
                            },
                        ]),
                    )
                })
        }
    }
    trait __InPlace: Numbers {
        fn total<'call>(
            &'call self,
            __argument_0: f64,
            __argument_1: Stream<f64>,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = f64,
        > + ::jstream_rmi::__private::core::marker::Send + 'call;
    }
    impl<__Object: Numbers> __InPlace for __Object {
        fn total<'call>(
            &'call self,
            __argument_0: f64,
            __argument_1: Stream<f64>,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = f64,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Numbers>::__in_place_total(self, __argument_0, __argument_1)
        }
    }
    impl __InPlace for dyn Numbers {
        fn total<'call>(
            &'call self,
            __argument_0: f64,
            __argument_1: Stream<f64>,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = f64,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Numbers>::total(self, __argument_0, __argument_1)
        }
    }
    #[automatically_derived]
    impl<
        __Object: __InPlace + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Numbers {
        type Holder = ::jstream_rmi::Exclusive<__Object>;
        fn call(
            __object: &::jstream_rmi::Exclusive<__Object>,
            __method: ::jstream_rmi::__private::core::primitive::usize,
            __call: &mut ::jstream_rmi::__private::Incoming,
        ) -> ::jstream_rmi::__private::core::result::Result<
            ::jstream_rmi::__private::core::primitive::bool,
            ::jstream_rmi::__private::Failed,
        > {
            match __method {
                _ => ::jstream_rmi::__private::core::result::Result::Ok(false),
            }
        }
        async fn run(
            __object: ::jstream_rmi::Exclusive<__Object>,
            __method: ::jstream_rmi::__private::core::primitive::usize,
            __call: ::jstream_rmi::__private::Incoming,
        ) -> ::jstream_rmi::__private::core::result::Result<
            (),
            ::jstream_rmi::__private::Failed,
        > {
            match __method {
                _ if __method
                    == __Method::below
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let __object = ::jstream_rmi::Exclusive::read(&__object).await;
                    let (__answer, __result, __stream) = {
                        let _ = ::jstream_rmi::__private::Method::new::<
                            (u64, ::jstream_rmi::__private::core::primitive::u64),
                            (),
                        >;
                        let _ = ::jstream_rmi::__private::Method::streams::<u64>;
                        let (__message, __answer) = __call.into_parts();
                        let __arguments = __answer
                            .arguments::<
                                (u64, ::jstream_rmi::__private::core::primitive::u64),
                            >(__message)?;
                        let (__result, __stream) = ::jstream_rmi::Received::with(
                            &__arguments,
                            |__arguments| {
                                let (__argument_0, __stream) = __arguments;
                                ::jstream_rmi::__private::core::result::Result::Ok::<
                                    _,
                                    ::jstream_rmi::__private::Failed,
                                >((
                                    <__Object as Numbers>::below(
                                        &*__object,
                                        ::jstream_rmi::__private::argument(__argument_0)
                                            .value::<u64>(),
                                    ),
                                    *__stream,
                                ))
                            },
                        )?;
                        (__answer, __result, __stream)
                    };
                    ::jstream_rmi::__private::core::mem::drop(__object);
                    __answer.stream(__result, __stream).await
                }
                _ if __method
                    == __Method::total
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let __object = ::jstream_rmi::Exclusive::read(&__object).await;
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<f64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), f64>;
                    let _ = ::jstream_rmi::__private::Method::new_async::<(f64,), ()>;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (f64, ::jstream_rmi::__private::core::primitive::u64),
                        (),
                    >;
                    let _ = ::jstream_rmi::__private::Method::streams::<f64>;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer
                        .arguments::<
                            (f64, ::jstream_rmi::__private::core::primitive::u64),
                        >(__message)?;
                    struct __Arguments(
                        ::jstream_rmi::Received<
                            (f64, ::jstream_rmi::__private::core::primitive::u64),
                        >,
                    );
                    let __arguments = __Arguments(__arguments);
                    let (__argument_0, __argument_1) = ::jstream_rmi::Received::get(
                        &__arguments.0,
                    );
                    let __argument_1 = __answer.argument::<f64>(*__argument_1)?;
                    let __result = __InPlace::total(
                            &*__object,
                            ::jstream_rmi::__private::argument(__argument_0)
                                .value::<f64>(),
                            __argument_1,
                        )
                        .await;
                    __answer.reply(&__result)
                }
                _ if __method
                    == __Method::both
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let mut __object = ::jstream_rmi::Exclusive::write(&__object).await;
                    let (__answer, __result, __stream) = {
                        let _ = ::jstream_rmi::__private::Method::streams::<String>;
                        let _ = ::jstream_rmi::__private::Method::streams::<
                            Result<u64, String>,
                        >;
                        let (__message, __answer) = __call.into_parts();
                        let __arguments = __answer
                            .arguments::<
                                (
                                    ::jstream_rmi::__private::core::primitive::u64,
                                    ::jstream_rmi::__private::core::primitive::u64,
                                ),
                            >(__message)?;
                        let (__result, __stream) = ::jstream_rmi::Received::with(
                            &__arguments,
                            |__arguments| {
                                let (__argument_0, __stream) = __arguments;
                                let __argument_0 = __answer
                                    .argument::<String>(*__argument_0)?;
                                ::jstream_rmi::__private::core::result::Result::Ok::<
                                    _,
                                    ::jstream_rmi::__private::Failed,
                                >((
                                    <__Object as Numbers>::both(&mut *__object, __argument_0),
                                    *__stream,
                                ))
                            },
                        )?;
                        (__answer, __result, __stream)
                    };
                    ::jstream_rmi::__private::core::mem::drop(__object);
                    __answer.stream(__result, __stream).await
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
///A mock of [`Numbers`] for tests: its `expect_` methods set what each method does.
#[derive(::jstream_rmi::__private::core::fmt::Debug)]
#[allow(dead_code, non_snake_case, reason = "a test may use only a part")]
struct NumbersMock {
    method_below: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            u64,
        ) -> Stream<
                u64,
            > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_total: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            f64,
            Stream<f64>,
        ) -> f64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_both: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            Stream<String>,
        ) -> Stream<
                Result<u64, String>,
            > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
}
#[automatically_derived]
impl ::jstream_rmi::__private::core::default::Default for NumbersMock {
    fn default() -> Self {
        Self {
            method_below: ::jstream_rmi::mock::Expectation::new("Numbers::below"),
            method_total: ::jstream_rmi::mock::Expectation::new("Numbers::total"),
            method_both: ::jstream_rmi::mock::Expectation::new("Numbers::both"),
        }
    }
}
#[allow(
    dead_code,
    deprecated,
    clippy::too_many_arguments,
    reason = "a test may use only a part"
)]
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{
        shield as __answer, shield as __argument_0, shield as __argument_1,
        shield as __result,
    };
    impl NumbersMock {
        /// Checks that each method was called as often as expected.
        ///
        /// # Panics
        ///
        /// Panics if a method was called less often.
        fn check(&self) {
            self.method_below.check();
            self.method_total.check();
            self.method_both.check();
        }
        ///Sets the function that `below` calls from now on.
        fn expect_below(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                u64,
            ) -> Stream<
                    u64,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                u64,
            ) -> Stream<
                    u64,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_below
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `below`.
        fn calls_of_below(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_below.calls()
        }
        ///Sets the function that `total` calls from now on.
        fn expect_total(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                f64,
                Stream<f64>,
            ) -> f64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                f64,
                Stream<f64>,
            ) -> f64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_total
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `total`.
        fn calls_of_total(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_total.calls()
        }
        ///Sets the function that `both` calls from now on.
        fn expect_both(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                Stream<String>,
            ) -> Stream<
                    Result<u64, String>,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                Stream<String>,
            ) -> Stream<
                    Result<u64, String>,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_both
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `both`.
        fn calls_of_both(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_both.calls()
        }
    }
    #[automatically_derived]
    impl Numbers for NumbersMock {
        fn below(&self, __argument_0: u64) -> Stream<u64> {
            self.method_below.called()(__argument_0)
        }
        fn total<'call>(
            &'call self,
            __argument_0: f64,
            __argument_1: Stream<f64>,
        ) -> ::jstream_rmi::BoxFuture<'call, f64> {
            let __result = self.method_total.called()(__argument_0, __argument_1);
            ::jstream_rmi::__private::std::boxed::Box::pin(
                ::jstream_rmi::__private::core::future::ready(__result),
            )
        }
        fn both(&mut self, __argument_0: Stream<String>) -> Stream<Result<u64, String>> {
            self.method_both.called()(__argument_0)
        }
    }
};
