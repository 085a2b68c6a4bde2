pub trait Ledger: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    fn add<'call>(
        &'call mut self,
        n: u64,
    ) -> ::jstream_rmi::async_fn_needs_remote_on_the_impl_block!(
        'call, Result < u64, Full >
    );
    #[doc(hidden)]
    #[allow(
        deprecated,
        clippy::too_many_arguments,
        reason = "as the method that it stands for"
    )]
    fn __in_place_add<'call>(
        &'call mut self,
        n: u64,
    ) -> impl ::jstream_rmi::__private::core::future::Future<
        Output = Result<u64, Full>,
    > + ::jstream_rmi::__private::core::marker::Send + 'call
    where
        Self: ::jstream_rmi::__private::core::marker::Sized,
    {
        Self::add(self, n)
    }
    fn sum(&self) -> u64;
    fn note(&mut self, text: &str);
}
///A stub that calls the methods of a [`Ledger`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
pub struct LedgerStub {
    object: ::jstream_rmi::Object,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::clone::Clone for LedgerStub {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(&self.object),
            }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::fmt::Debug for LedgerStub {
        fn fmt(
            &self,
            __formatter: &mut ::jstream_rmi::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream_rmi::__private::core::fmt::Result {
            ::jstream_rmi::__private::core::fmt::Formatter::debug_struct(
                    __formatter,
                    "LedgerStub",
                )
                .field("object", &self.object)
                .finish()
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for LedgerStub {
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
        shield as __call, shield as __in_place_add, shield as __message,
        shield as __method, shield as __object, shield as __result, shield as n,
        shield as text,
    };
    enum __Method {
        add,
        sum,
        note,
    }
    impl LedgerStub {
        ///
        ///Sends the call. Wait for the returned value to get the result.
        pub fn add(&self, n: u64) -> ::jstream_rmi::Call<Result<u64, Full>> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<Result<u64, Full>>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), Result<u64, Full>>;
            let _ = ::jstream_rmi::__private::Method::new_async::<(u64,), ()>;
            let __object = &self.object;
            let __arguments = &(n,);
            __object
                .call::<
                    _,
                    Result<u64, Full>,
                >(
                    <dyn Ledger as ::jstream_rmi::Remotable>::interface(),
                    __Method::add as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
        ///
        ///Sends the call. Wait for the returned value to get the result.
        pub fn sum(&self) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<u64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
            let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
            let __object = &self.object;
            let __arguments = &();
            __object
                .call::<
                    _,
                    u64,
                >(
                    <dyn Ledger as ::jstream_rmi::Remotable>::interface(),
                    __Method::sum as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
        ///
        ///Sends the call, and does not wait. Success does not mean that the method runs.
        #[allow(clippy::missing_errors_doc, reason = "see above")]
        pub fn note(
            &self,
            text: &str,
        ) -> ::jstream_rmi::__private::core::result::Result<
            (),
            ::jstream_rmi::CallError,
        > {
            let _ = ::jstream_rmi::__private::Method::new::<(&'static str,), ()>;
            let __object = &self.object;
            let __arguments = &(text,);
            __object
                .send(
                    <dyn Ledger as ::jstream_rmi::Remotable>::interface(),
                    __Method::note as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Ledger {
        type Stub = LedgerStub;
        const NAME: &'static str = "Ledger";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Ledger",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<Result<u64, Full>>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (),
                                    Result<u64, Full>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new_async::<
                                    (u64,),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (u64,),
                                    Result<u64, Full>,
                                >(
                                        "add",
                                        "async fn add(&mut self, n: u64) -> Result<u64, Full>",
                                    )
                                    .with_arguments(&["n"])
                            },
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<u64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                                let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
                                ::jstream_rmi::__private::Method::new::<
                                    (),
                                    u64,
                                >("sum", "fn sum(&self) -> u64")
                            },
                            {
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static str,),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (&'static str,),
                                    (),
                                >("note", "fn note(&mut self, text: &str)")
                                    .with_arguments(&["text"])
                                    .one_way()
                            },
                        ]),
                    )
                })
        }
    }
    trait __InPlace: Ledger {
        fn add<'call>(
            &'call mut self,
            __argument_0: u64,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = Result<u64, Full>,
        > + ::jstream_rmi::__private::core::marker::Send + 'call;
    }
    impl<__Object: Ledger> __InPlace for __Object {
        fn add<'call>(
            &'call mut self,
            __argument_0: u64,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = Result<u64, Full>,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Ledger>::__in_place_add(self, __argument_0)
        }
    }
    impl __InPlace for dyn Ledger {
        fn add<'call>(
            &'call mut self,
            __argument_0: u64,
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = Result<u64, Full>,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Ledger>::add(self, __argument_0)
        }
    }
    #[automatically_derived]
    impl<
        __Object: __InPlace + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Ledger {
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
                    == __Method::add
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let mut __object = ::jstream_rmi::Exclusive::write(&__object).await;
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<Result<u64, Full>>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<
                        (),
                        Result<u64, Full>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new_async::<(u64,), ()>;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer.arguments::<(u64,)>(__message)?;
                    struct __Arguments(::jstream_rmi::Received<(u64,)>);
                    let __arguments = __Arguments(__arguments);
                    let (__argument_0,) = ::jstream_rmi::Received::get(&__arguments.0);
                    let __result = __InPlace::add(
                            &mut *__object,
                            ::jstream_rmi::__private::argument(__argument_0)
                                .value::<u64>(),
                        )
                        .await;
                    __answer.reply(&__result)
                }
                _ if __method
                    == __Method::sum
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let __object = ::jstream_rmi::Exclusive::read(&__object).await;
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<u64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                    let _ = ::jstream_rmi::__private::Method::new::<(), ()>;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer.arguments::<()>(__message)?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let () = __arguments;
                            __answer.reply(&<__Object as Ledger>::sum(&*__object))
                        },
                    )
                }
                _ if __method
                    == __Method::note
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let mut __object = ::jstream_rmi::Exclusive::write(&__object).await;
                    let _ = ::jstream_rmi::__private::Method::new::<(&'static str,), ()>;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer.arguments::<(&'static str,)>(__message)?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0,) = __arguments;
                            __answer
                                .reply(
                                    &<__Object as Ledger>::note(
                                        &mut *__object,
                                        ::jstream_rmi::__private::argument(*__argument_0)
                                            .target::<str>(),
                                    ),
                                )
                        },
                    )
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
///A mock of [`Ledger`] for tests: its `expect_` methods set what each method does.
#[derive(::jstream_rmi::__private::core::fmt::Debug)]
#[allow(dead_code, non_snake_case, reason = "a test may use only a part")]
pub struct LedgerMock {
    method_add: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            u64,
        ) -> Result<
                u64,
                Full,
            > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_sum: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
        ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_note: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            &str,
        ) -> () + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
}
#[automatically_derived]
impl ::jstream_rmi::__private::core::default::Default for LedgerMock {
    fn default() -> Self {
        Self {
            method_add: ::jstream_rmi::mock::Expectation::new("Ledger::add"),
            method_sum: ::jstream_rmi::mock::Expectation::new("Ledger::sum"),
            method_note: ::jstream_rmi::mock::Expectation::new("Ledger::note"),
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
        shield as __answer, shield as __argument_0, shield as __result,
    };
    impl LedgerMock {
        /// Checks that each method was called as often as expected.
        ///
        /// # Panics
        ///
        /// Panics if a method was called less often.
        pub fn check(&self) {
            self.method_add.check();
            self.method_sum.check();
            self.method_note.check();
        }
        ///Sets the function that `add` calls from now on.
        pub fn expect_add(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                u64,
            ) -> Result<
                    u64,
                    Full,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                u64,
            ) -> Result<
                    u64,
                    Full,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_add
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `add`.
        pub fn calls_of_add(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_add.calls()
        }
        ///Sets the function that `sum` calls from now on.
        pub fn expect_sum(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_sum
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `sum`.
        pub fn calls_of_sum(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_sum.calls()
        }
        ///Sets the function that `note` calls from now on.
        pub fn expect_note(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                &str,
            ) -> () + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                &str,
            ) -> () + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_note
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `note`.
        pub fn calls_of_note(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_note.calls()
        }
    }
    #[automatically_derived]
    impl Ledger for LedgerMock {
        fn add<'call>(
            &'call mut self,
            __argument_0: u64,
        ) -> ::jstream_rmi::BoxFuture<'call, Result<u64, Full>> {
            let __result = self.method_add.called()(__argument_0);
            ::jstream_rmi::__private::std::boxed::Box::pin(
                ::jstream_rmi::__private::core::future::ready(__result),
            )
        }
        fn sum(&self) -> u64 {
            self.method_sum.called()()
        }
        fn note(&mut self, __argument_0: &str) {
            self.method_note.called()(__argument_0)
        }
    }
};
