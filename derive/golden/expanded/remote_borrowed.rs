trait Room: ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static {
    fn join(&self, who: &Remote<dyn Listener>) -> u64;
    fn invite(
        &self,
        who: &[Option<Remote<dyn Listener>>],
        text: &str,
    ) -> Remote<dyn Listener>;
    fn pile(&self, cubes: &[&[&[Remote<dyn Listener>]]]) -> u64;
    fn seat<'call>(
        &'call self,
        rows: &'call [&'call [Remote<dyn Listener>]],
    ) -> ::jstream_rmi::async_fn_needs_remote_on_the_impl_block!('call, u64);
    #[doc(hidden)]
    #[allow(
        deprecated,
        clippy::too_many_arguments,
        reason = "as the method that it stands for"
    )]
    fn __in_place_seat<'call>(
        &'call self,
        rows: &'call [&'call [Remote<dyn Listener>]],
    ) -> impl ::jstream_rmi::__private::core::future::Future<
        Output = u64,
    > + ::jstream_rmi::__private::core::marker::Send + 'call
    where
        Self: ::jstream_rmi::__private::core::marker::Sized,
    {
        Self::seat(self, rows)
    }
}
///A stub that calls the methods of a [`Room`] on another node.
#[allow(dead_code, reason = "a server may not use it")]
struct RoomStub {
    object: ::jstream_rmi::Object,
}
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{shield as __formatter, shield as __object};
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::clone::Clone for RoomStub {
        fn clone(&self) -> Self {
            Self {
                object: ::jstream_rmi::__private::core::clone::Clone::clone(&self.object),
            }
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::__private::core::fmt::Debug for RoomStub {
        fn fmt(
            &self,
            __formatter: &mut ::jstream_rmi::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream_rmi::__private::core::fmt::Result {
            ::jstream_rmi::__private::core::fmt::Formatter::debug_struct(
                    __formatter,
                    "RoomStub",
                )
                .field("object", &self.object)
                .finish()
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Stub for RoomStub {
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
        shield as __answer, shield as __argument_0, shield as __argument_0_slices,
        shield as __argument_0_slices_slices, shield as __argument_1,
        shield as __arguments, shield as __call, shield as __carried,
        shield as __current, shield as __in_place_seat, shield as __lend,
        shield as __message, shield as __method, shield as __object, shield as __replied,
        shield as __result, shield as __slice, shield as cubes, shield as rows,
        shield as text, shield as who,
    };
    enum __Method {
        join,
        invite,
        pile,
        seat,
    }
    impl RoomStub {
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn join(&self, who: &Remote<dyn Listener>) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<u64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
            let _ = ::jstream_rmi::__private::Method::lends::<Remote<dyn Listener>>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let __arguments = &(
                __carried
                    .give({
                        let __lend = ::jstream_rmi::__private::lend::<
                            Remote<dyn Listener>,
                        >;
                        __lend(who)
                    }),
            );
            __object
                .call_with::<
                    _,
                    u64,
                >(
                    <dyn Room as ::jstream_rmi::Remotable>::interface(),
                    __Method::join as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                )
        }
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn invite(
            &self,
            who: &[Option<Remote<dyn Listener>>],
            text: &str,
        ) -> ::jstream_rmi::RemoteCall<Remote<dyn Listener>> {
            let _ = ::jstream_rmi::__private::Method::lends::<
                Option<Remote<dyn Listener>>,
            >;
            let _ = ::jstream_rmi::__private::Method::passes::<Remote<dyn Listener>>;
            let _ = ::jstream_rmi::__private::Method::new::<(&'static str,), ()>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let __arguments = &(
                __carried
                    .give({
                        let __lend = ::jstream_rmi::__private::lend_slice::<
                            Option<Remote<dyn Listener>>,
                        >;
                        __lend(who)
                    }),
                text,
            );
            __object
                .fetch::<
                    _,
                    Remote<dyn Listener>,
                >(
                    <dyn Room as ::jstream_rmi::Remotable>::interface(),
                    __Method::invite as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                )
        }
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn pile(
            &self,
            cubes: &[&[&[Remote<dyn Listener>]]],
        ) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<u64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
            let _ = ::jstream_rmi::__private::Method::lends::<Remote<dyn Listener>>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let __arguments = &(
                __carried
                    .give({
                        let __lend = ::jstream_rmi::__private::lend_slice::<
                            Remote<dyn Listener>,
                        >;
                        ::jstream_rmi::__private::each(
                            cubes,
                            |__slice| ::jstream_rmi::__private::each(
                                __slice,
                                |__slice| __lend(__slice),
                            ),
                        )
                    }),
            );
            __object
                .call_with::<
                    _,
                    u64,
                >(
                    <dyn Room as ::jstream_rmi::Remotable>::interface(),
                    __Method::pile as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                )
        }
        ///
        ///Sends the call. Wait for the returned value to get the result.
        fn seat(&self, rows: &[&[Remote<dyn Listener>]]) -> ::jstream_rmi::Call<u64> {
            let _ = ::jstream_rmi::__private::core::option::Option::None::<
                ::jstream_rmi::Call<u64>,
            >;
            let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
            let _ = ::jstream_rmi::__private::Method::lends::<Remote<dyn Listener>>;
            let __current = ::jstream_rmi::Object::current(&self.object);
            let __object: &::jstream_rmi::Object = &__current;
            let mut __carried = ::jstream_rmi::Object::carried(__object);
            let __arguments = &(
                __carried
                    .give({
                        let __lend = ::jstream_rmi::__private::lend_slice::<
                            Remote<dyn Listener>,
                        >;
                        ::jstream_rmi::__private::each(rows, |__slice| __lend(__slice))
                    }),
            );
            __object
                .call_with::<
                    _,
                    u64,
                >(
                    <dyn Room as ::jstream_rmi::Remotable>::interface(),
                    __Method::seat as ::jstream_rmi::__private::core::primitive::usize,
                    __arguments,
                    __carried,
                )
        }
    }
    #[automatically_derived]
    impl ::jstream_rmi::Remotable for dyn Room {
        type Stub = RoomStub;
        const NAME: &'static str = "Room";
        fn interface() -> &'static ::jstream_rmi::Interface {
            static __INTERFACE: ::jstream_rmi::__private::std::sync::OnceLock<
                ::jstream_rmi::Interface,
            > = ::jstream_rmi::__private::std::sync::OnceLock::new();
            __INTERFACE
                .get_or_init(|| {
                    ::jstream_rmi::Interface::new(
                        "Room",
                        ::jstream_rmi::__private::list([
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<u64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                                let _ = ::jstream_rmi::__private::Method::lends::<
                                    Remote<dyn Listener>,
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (<Remote<dyn Listener> as ::jstream_rmi::Passed>::Wire,),
                                    u64,
                                >(
                                        "join",
                                        "fn join(&self, who: &Remote<dyn Listener>) -> u64",
                                    )
                                    .with_arguments(&["who"])
                                    .passing::<
                                        Remote<dyn Listener>,
                                    >(
                                        ::jstream_rmi::__private::core::option::Option::Some(0usize),
                                    )
                            },
                            {
                                let _ = ::jstream_rmi::__private::Method::lends::<
                                    Option<Remote<dyn Listener>>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::passes::<
                                    Remote<dyn Listener>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<
                                    (&'static str,),
                                    (),
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (
                                        <::jstream_rmi::__private::std::vec::Vec<
                                            Option<Remote<dyn Listener>>,
                                        > as ::jstream_rmi::Passed>::Wire,
                                        &'static str,
                                    ),
                                    <Remote<dyn Listener> as ::jstream_rmi::Passed>::Wire,
                                >(
                                        "invite",
                                        "fn invite(&self, who: &[Option<Remote<dyn Listener>>], text: &str) -> Remote<dyn Listener>",
                                    )
                                    .with_arguments(&["who", "text"])
                                    .passing::<
                                        ::jstream_rmi::__private::std::vec::Vec<
                                            Option<Remote<dyn Listener>>,
                                        >,
                                    >(
                                        ::jstream_rmi::__private::core::option::Option::Some(0usize),
                                    )
                                    .passing::<
                                        Remote<dyn Listener>,
                                    >(::jstream_rmi::__private::core::option::Option::None)
                            },
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<u64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                                let _ = ::jstream_rmi::__private::Method::lends::<
                                    Remote<dyn Listener>,
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (
                                        <::jstream_rmi::__private::std::vec::Vec<
                                            ::jstream_rmi::__private::std::vec::Vec<
                                                ::jstream_rmi::__private::std::vec::Vec<
                                                    Remote<dyn Listener>,
                                                >,
                                            >,
                                        > as ::jstream_rmi::Passed>::Wire,
                                    ),
                                    u64,
                                >(
                                        "pile",
                                        "fn pile(&self, cubes: &[&[&[Remote<dyn Listener>]]]) -> u64",
                                    )
                                    .with_arguments(&["cubes"])
                                    .passing::<
                                        ::jstream_rmi::__private::std::vec::Vec<
                                            ::jstream_rmi::__private::std::vec::Vec<
                                                ::jstream_rmi::__private::std::vec::Vec<
                                                    Remote<dyn Listener>,
                                                >,
                                            >,
                                        >,
                                    >(
                                        ::jstream_rmi::__private::core::option::Option::Some(0usize),
                                    )
                            },
                            {
                                let _ = ::jstream_rmi::__private::core::option::Option::None::<
                                    ::jstream_rmi::Call<u64>,
                                >;
                                let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                                let _ = ::jstream_rmi::__private::Method::lends::<
                                    Remote<dyn Listener>,
                                >;
                                ::jstream_rmi::__private::Method::new::<
                                    (
                                        <::jstream_rmi::__private::std::vec::Vec<
                                            ::jstream_rmi::__private::std::vec::Vec<
                                                Remote<dyn Listener>,
                                            >,
                                        > as ::jstream_rmi::Passed>::Wire,
                                    ),
                                    u64,
                                >(
                                        "seat",
                                        "async fn seat(&self, rows: &[&[Remote<dyn Listener>]]) -> u64",
                                    )
                                    .with_arguments(&["rows"])
                                    .passing::<
                                        ::jstream_rmi::__private::std::vec::Vec<
                                            ::jstream_rmi::__private::std::vec::Vec<
                                                Remote<dyn Listener>,
                                            >,
                                        >,
                                    >(
                                        ::jstream_rmi::__private::core::option::Option::Some(0usize),
                                    )
                            },
                        ]),
                    )
                })
        }
    }
    trait __InPlace: Room {
        fn seat<'call>(
            &'call self,
            __argument_0: &'call [&'call [Remote<dyn Listener>]],
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = u64,
        > + ::jstream_rmi::__private::core::marker::Send + 'call;
    }
    impl<__Object: Room> __InPlace for __Object {
        fn seat<'call>(
            &'call self,
            __argument_0: &'call [&'call [Remote<dyn Listener>]],
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = u64,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Room>::__in_place_seat(self, __argument_0)
        }
    }
    impl __InPlace for dyn Room {
        fn seat<'call>(
            &'call self,
            __argument_0: &'call [&'call [Remote<dyn Listener>]],
        ) -> impl ::jstream_rmi::__private::core::future::Future<
            Output = u64,
        > + ::jstream_rmi::__private::core::marker::Send + 'call {
            <Self as Room>::seat(self, __argument_0)
        }
    }
    #[automatically_derived]
    impl<
        __Object: __InPlace + ?::jstream_rmi::__private::core::marker::Sized,
    > ::jstream_rmi::Skeleton<__Object> for dyn Room {
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
                    == __Method::join
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<u64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                    let _ = ::jstream_rmi::__private::Method::lends::<
                        Remote<dyn Listener>,
                    >;
                    let (__arguments, __answer) = __call
                        .arguments::<
                            (<Remote<dyn Listener> as ::jstream_rmi::Passed>::Wire,),
                        >()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0,) = __arguments;
                            let __argument_0 = __answer
                                .references::<Remote<dyn Listener>>(__argument_0);
                            let __argument_0 = __argument_0?;
                            let __replied = __answer
                                .reply(
                                    &<__Object as Room>::join(&*__object, &__argument_0),
                                );
                            __replied
                        },
                    )?;
                    ::jstream_rmi::__private::core::result::Result::Ok(true)
                }
                _ if __method
                    == __Method::invite
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::Method::lends::<
                        Option<Remote<dyn Listener>>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::passes::<
                        Remote<dyn Listener>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(&'static str,), ()>;
                    let (__arguments, __answer) = __call
                        .arguments::<
                            (
                                <::jstream_rmi::__private::std::vec::Vec<
                                    Option<Remote<dyn Listener>>,
                                > as ::jstream_rmi::Passed>::Wire,
                                &'static str,
                            ),
                        >()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0, __argument_1) = __arguments;
                            let __argument_0 = __answer
                                .references::<
                                    ::jstream_rmi::__private::std::vec::Vec<
                                        Option<Remote<dyn Listener>>,
                                    >,
                                >(__argument_0);
                            let __argument_0 = __argument_0?;
                            let __replied = __answer
                                .give::<
                                    Remote<dyn Listener>,
                                >(
                                    <__Object as Room>::invite(
                                        &*__object,
                                        ::jstream_rmi::__private::std::vec::Vec::as_slice(
                                            &__argument_0,
                                        ),
                                        ::jstream_rmi::__private::argument(*__argument_1)
                                            .target::<str>(),
                                    ),
                                );
                            __replied
                        },
                    )?;
                    ::jstream_rmi::__private::core::result::Result::Ok(true)
                }
                _ if __method
                    == __Method::pile
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<u64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                    let _ = ::jstream_rmi::__private::Method::lends::<
                        Remote<dyn Listener>,
                    >;
                    let (__arguments, __answer) = __call
                        .arguments::<
                            (
                                <::jstream_rmi::__private::std::vec::Vec<
                                    ::jstream_rmi::__private::std::vec::Vec<
                                        ::jstream_rmi::__private::std::vec::Vec<
                                            Remote<dyn Listener>,
                                        >,
                                    >,
                                > as ::jstream_rmi::Passed>::Wire,
                            ),
                        >()?;
                    ::jstream_rmi::Received::with(
                        &__arguments,
                        |__arguments| {
                            let (__argument_0,) = __arguments;
                            let __argument_0 = __answer
                                .references::<
                                    ::jstream_rmi::__private::std::vec::Vec<
                                        ::jstream_rmi::__private::std::vec::Vec<
                                            ::jstream_rmi::__private::std::vec::Vec<
                                                Remote<dyn Listener>,
                                            >,
                                        >,
                                    >,
                                >(__argument_0);
                            let __argument_0 = __argument_0?;
                            let __argument_0_slices = ::jstream_rmi::__private::each(
                                &__argument_0,
                                |__slice| ::jstream_rmi::__private::slices(__slice),
                            );
                            let __argument_0_slices_slices = ::jstream_rmi::__private::slices(
                                &__argument_0_slices,
                            );
                            let __replied = __answer
                                .reply(
                                    &<__Object as Room>::pile(
                                        &*__object,
                                        ::jstream_rmi::__private::std::vec::Vec::as_slice(
                                            &__argument_0_slices_slices,
                                        ),
                                    ),
                                );
                            __replied
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
                _ if __method
                    == __Method::seat
                        as ::jstream_rmi::__private::core::primitive::usize => {
                    let _ = ::jstream_rmi::__private::core::option::Option::None::<
                        ::jstream_rmi::Call<u64>,
                    >;
                    let _ = ::jstream_rmi::__private::Method::new::<(), u64>;
                    let _ = ::jstream_rmi::__private::Method::lends::<
                        Remote<dyn Listener>,
                    >;
                    let (__message, mut __answer) = __call.into_parts();
                    let __arguments = __answer
                        .arguments::<
                            (
                                <::jstream_rmi::__private::std::vec::Vec<
                                    ::jstream_rmi::__private::std::vec::Vec<
                                        Remote<dyn Listener>,
                                    >,
                                > as ::jstream_rmi::Passed>::Wire,
                            ),
                        >(__message)?;
                    struct __Arguments(
                        ::jstream_rmi::Received<
                            (
                                <::jstream_rmi::__private::std::vec::Vec<
                                    ::jstream_rmi::__private::std::vec::Vec<
                                        Remote<dyn Listener>,
                                    >,
                                > as ::jstream_rmi::Passed>::Wire,
                            ),
                        >,
                    );
                    let __arguments = __Arguments(__arguments);
                    let (__argument_0,) = ::jstream_rmi::Received::get(&__arguments.0);
                    let __argument_0 = __answer
                        .references::<
                            ::jstream_rmi::__private::std::vec::Vec<
                                ::jstream_rmi::__private::std::vec::Vec<
                                    Remote<dyn Listener>,
                                >,
                            >,
                        >(__argument_0);
                    let __argument_0 = __argument_0?;
                    let __argument_0_slices = ::jstream_rmi::__private::slices(
                        &__argument_0,
                    );
                    let __result = __InPlace::seat(
                            &*__object,
                            ::jstream_rmi::__private::std::vec::Vec::as_slice(
                                &__argument_0_slices,
                            ),
                        )
                        .await;
                    __answer.reply(&__result)
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
///A mock of [`Room`] for tests: its `expect_` methods set what each method does.
#[derive(::jstream_rmi::__private::core::fmt::Debug)]
#[allow(dead_code, non_snake_case, reason = "a test may use only a part")]
struct RoomMock {
    method_join: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            &Remote<dyn Listener>,
        ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_invite: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            &[Option<Remote<dyn Listener>>],
            &str,
        ) -> Remote<
                dyn Listener,
            > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_pile: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            &[&[&[Remote<dyn Listener>]]],
        ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
    method_seat: ::jstream_rmi::mock::Expectation<
        dyn ::jstream_rmi::__private::core::ops::Fn(
            &[&[Remote<dyn Listener>]],
        ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
    >,
}
#[automatically_derived]
impl ::jstream_rmi::__private::core::default::Default for RoomMock {
    fn default() -> Self {
        Self {
            method_join: ::jstream_rmi::mock::Expectation::new("Room::join"),
            method_invite: ::jstream_rmi::mock::Expectation::new("Room::invite"),
            method_pile: ::jstream_rmi::mock::Expectation::new("Room::pile"),
            method_seat: ::jstream_rmi::mock::Expectation::new("Room::seat"),
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
    impl RoomMock {
        /// Checks that each method was called as often as expected.
        ///
        /// # Panics
        ///
        /// Panics if a method was called less often.
        fn check(&self) {
            self.method_join.check();
            self.method_invite.check();
            self.method_pile.check();
            self.method_seat.check();
        }
        ///Sets the function that `join` calls from now on.
        fn expect_join(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                &Remote<dyn Listener>,
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                &Remote<dyn Listener>,
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_join
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `join`.
        fn calls_of_join(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_join.calls()
        }
        ///Sets the function that `invite` calls from now on.
        fn expect_invite(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                &[Option<Remote<dyn Listener>>],
                &str,
            ) -> Remote<
                    dyn Listener,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                &[Option<Remote<dyn Listener>>],
                &str,
            ) -> Remote<
                    dyn Listener,
                > + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_invite
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `invite`.
        fn calls_of_invite(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_invite.calls()
        }
        ///Sets the function that `pile` calls from now on.
        fn expect_pile(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                &[&[&[Remote<dyn Listener>]]],
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                &[&[&[Remote<dyn Listener>]]],
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_pile
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `pile`.
        fn calls_of_pile(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_pile.calls()
        }
        ///Sets the function that `seat` calls from now on.
        fn expect_seat(
            &self,
            __answer: impl ::jstream_rmi::__private::core::ops::Fn(
                &[&[Remote<dyn Listener>]],
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        ) -> &::jstream_rmi::mock::Expectation<
            dyn ::jstream_rmi::__private::core::ops::Fn(
                &[&[Remote<dyn Listener>]],
            ) -> u64 + ::jstream_rmi::__private::core::marker::Send + ::jstream_rmi::__private::core::marker::Sync + 'static,
        > {
            self.method_seat
                .answer(::jstream_rmi::__private::std::sync::Arc::new(__answer))
        }
        ///Returns the number of calls of `seat`.
        fn calls_of_seat(&self) -> ::jstream_rmi::__private::core::primitive::u64 {
            self.method_seat.calls()
        }
    }
    #[automatically_derived]
    impl Room for RoomMock {
        fn join(&self, __argument_0: &Remote<dyn Listener>) -> u64 {
            self.method_join.called()(__argument_0)
        }
        fn invite(
            &self,
            __argument_0: &[Option<Remote<dyn Listener>>],
            __argument_1: &str,
        ) -> Remote<dyn Listener> {
            self.method_invite.called()(__argument_0, __argument_1)
        }
        fn pile(&self, __argument_0: &[&[&[Remote<dyn Listener>]]]) -> u64 {
            self.method_pile.called()(__argument_0)
        }
        fn seat<'call>(
            &'call self,
            __argument_0: &'call [&'call [Remote<dyn Listener>]],
        ) -> ::jstream_rmi::BoxFuture<'call, u64> {
            let __result = self.method_seat.called()(__argument_0);
            ::jstream_rmi::__private::std::boxed::Box::pin(
                ::jstream_rmi::__private::core::future::ready(__result),
            )
        }
    }
};
