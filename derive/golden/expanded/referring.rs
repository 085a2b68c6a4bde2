const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{
        shield as __field_0, shield as __field_1, shield as __field_2,
        shield as __field_3, shield as __field_4, shield as __field_5,
        shield as __field_6, shield as __field_7, shield as __field_8, shield as __form,
        shield as __giving, shield as __interfaces, shield as __taking, shield as __text,
    };
    #[automatically_derived]
    impl ::jstream_rmi::Passed for Guest {
        type Wire = (
            (
                String,
                <Remote<dyn Listener> as ::jstream_rmi::Passed>::Wire,
                Vec<u8>,
                <Vec<Referring<Friend>> as ::jstream_rmi::Passed>::Wire,
                u8,
                u8,
                u8,
                u8,
            ),
            (<Option<Remote<dyn Listener>> as ::jstream_rmi::Passed>::Wire,),
        );
        fn describe(__text: &mut ::jstream_rmi::__private::std::string::String) {
            ::jstream_rmi::__private::std::string::String::push_str(__text, "Guest{");
            ::jstream_rmi::__private::std::string::String::push_str(__text, "name");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "listener");
            <Remote<dyn Listener> as ::jstream_rmi::Passed>::describe(__text);
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "type");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "friends");
            <Vec<Referring<Friend>> as ::jstream_rmi::Passed>::describe(__text);
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "a");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "b");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "c");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "d");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "last");
            <Option<Remote<dyn Listener>> as ::jstream_rmi::Passed>::describe(__text);
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push(__text, '}');
        }
        fn reach(
            __interfaces: &mut ::jstream_rmi::__private::std::vec::Vec<
                &'static ::jstream_rmi::Interface,
            >,
        ) {
            <Remote<dyn Listener> as ::jstream_rmi::Passed>::reach(__interfaces);
            <Vec<Referring<Friend>> as ::jstream_rmi::Passed>::reach(__interfaces);
            <Option<Remote<dyn Listener>> as ::jstream_rmi::Passed>::reach(__interfaces);
        }
        fn give(
            self,
            __giving: &mut ::jstream_rmi::__private::Giving,
        ) -> <Self as ::jstream_rmi::Passed>::Wire {
            match self {
                Self {
                    name: __field_0 @ _,
                    listener: __field_1 @ _,
                    r#type: __field_2 @ _,
                    friends: __field_3 @ _,
                    a: __field_4 @ _,
                    b: __field_5 @ _,
                    c: __field_6 @ _,
                    d: __field_7 @ _,
                    last: __field_8 @ _,
                } => {
                    (
                        (
                            __field_0,
                            <Remote<
                                dyn Listener,
                            > as ::jstream_rmi::Passed>::give(__field_1, __giving),
                            __field_2,
                            <Vec<
                                Referring<Friend>,
                            > as ::jstream_rmi::Passed>::give(__field_3, __giving),
                            __field_4,
                            __field_5,
                            __field_6,
                            __field_7,
                        ),
                        (
                            <Option<
                                Remote<dyn Listener>,
                            > as ::jstream_rmi::Passed>::give(__field_8, __giving),
                        ),
                    )
                }
            }
        }
        fn take(
            __form: &::jstream_rmi::__private::Form<
                '_,
                <Self as ::jstream_rmi::Passed>::Wire,
            >,
            __taking: &::jstream_rmi::__private::Taking,
        ) -> ::jstream_rmi::__private::core::result::Result<
            Self,
            ::jstream_rmi::__private::Unfit,
        > {
            match __form {
                (
                    (
                        __field_0 @ _,
                        __field_1 @ _,
                        __field_2 @ _,
                        __field_3 @ _,
                        __field_4 @ _,
                        __field_5 @ _,
                        __field_6 @ _,
                        __field_7 @ _,
                    ),
                    (__field_8 @ _,),
                ) => {
                    let __field_1 @ _ = <Remote<
                        dyn Listener,
                    > as ::jstream_rmi::Passed>::take(__field_1, __taking);
                    let __field_3 @ _ = <Vec<
                        Referring<Friend>,
                    > as ::jstream_rmi::Passed>::take(__field_3, __taking);
                    let __field_8 @ _ = <Option<
                        Remote<dyn Listener>,
                    > as ::jstream_rmi::Passed>::take(__field_8, __taking);
                    let __field_1 @ _ = __field_1?;
                    let __field_3 @ _ = __field_3?;
                    let __field_8 @ _ = __field_8?;
                    let __field_0 @ _ = ::jstream_rmi::__private::owned::<
                        String,
                    >(__field_0)?;
                    let __field_2 @ _ = ::jstream_rmi::__private::owned::<
                        Vec<u8>,
                    >(__field_2)?;
                    let __field_4 @ _ = ::jstream_rmi::__private::owned::<
                        u8,
                    >(__field_4)?;
                    let __field_5 @ _ = ::jstream_rmi::__private::owned::<
                        u8,
                    >(__field_5)?;
                    let __field_6 @ _ = ::jstream_rmi::__private::owned::<
                        u8,
                    >(__field_6)?;
                    let __field_7 @ _ = ::jstream_rmi::__private::owned::<
                        u8,
                    >(__field_7)?;
                    ::jstream_rmi::__private::core::result::Result::Ok(Self {
                        name: __field_0,
                        listener: __field_1,
                        r#type: __field_2,
                        friends: __field_3,
                        a: __field_4,
                        b: __field_5,
                        c: __field_6,
                        d: __field_7,
                        last: __field_8,
                    })
                }
            }
        }
    }
};
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use my::rmi::__private::{
        shield as __field_0, shield as __field_1, shield as __form, shield as __giving,
        shield as __interfaces, shield as __taking, shield as __text,
    };
    #[automatically_derived]
    impl my::rmi::Passed for Friend {
        type Wire = ((<Remote<dyn Listener> as my::rmi::Passed>::Wire, u64),);
        fn describe(__text: &mut my::rmi::__private::std::string::String) {
            my::rmi::__private::std::string::String::push_str(__text, "Friend{");
            my::rmi::__private::std::string::String::push_str(__text, "0");
            <Remote<dyn Listener> as my::rmi::Passed>::describe(__text);
            my::rmi::__private::std::string::String::push(__text, ',');
            my::rmi::__private::std::string::String::push_str(__text, "1");
            my::rmi::__private::std::string::String::push(__text, ',');
            my::rmi::__private::std::string::String::push(__text, '}');
        }
        fn reach(
            __interfaces: &mut my::rmi::__private::std::vec::Vec<
                &'static my::rmi::Interface,
            >,
        ) {
            <Remote<dyn Listener> as my::rmi::Passed>::reach(__interfaces);
        }
        fn give(
            self,
            __giving: &mut my::rmi::__private::Giving,
        ) -> <Self as my::rmi::Passed>::Wire {
            match self {
                Self { 0: __field_0 @ _, 1: __field_1 @ _ } => {
                    (
                        (
                            <Remote<
                                dyn Listener,
                            > as my::rmi::Passed>::give(__field_0, __giving),
                            __field_1,
                        ),
                    )
                }
            }
        }
        fn take(
            __form: &my::rmi::__private::Form<'_, <Self as my::rmi::Passed>::Wire>,
            __taking: &my::rmi::__private::Taking,
        ) -> my::rmi::__private::core::result::Result<Self, my::rmi::__private::Unfit> {
            match __form {
                ((__field_0 @ _, __field_1 @ _),) => {
                    let __field_0 @ _ = <Remote<
                        dyn Listener,
                    > as my::rmi::Passed>::take(__field_0, __taking);
                    let __field_0 @ _ = __field_0?;
                    let __field_1 @ _ = my::rmi::__private::owned::<u64>(__field_1)?;
                    my::rmi::__private::core::result::Result::Ok(Self {
                        0: __field_0,
                        1: __field_1,
                    })
                }
            }
        }
    }
};
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream_rmi::__private::{
        shield as __field_0, shield as __field_1, shield as __form, shield as __giving,
        shield as __interfaces, shield as __taking, shield as __text,
    };
    #[automatically_derived]
    impl ::jstream_rmi::Passed for Notice {
        type Wire = ::jstream_rmi::__private::core::result::Result<
            (),
            ::jstream_rmi::__private::core::result::Result<
                ((<Remote<dyn Listener> as ::jstream_rmi::Passed>::Wire, u8),),
                (
                    (
                        <[Remote<dyn Listener>; 2] as ::jstream_rmi::Passed>::Wire,
                        <Referring<Friend> as ::jstream_rmi::Passed>::Wire,
                    ),
                ),
            >,
        >;
        fn describe(__text: &mut ::jstream_rmi::__private::std::string::String) {
            ::jstream_rmi::__private::std::string::String::push_str(__text, "Notice|{");
            ::jstream_rmi::__private::std::string::String::push_str(__text, "None{");
            ::jstream_rmi::__private::std::string::String::push(__text, '}');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "One{");
            ::jstream_rmi::__private::std::string::String::push_str(__text, "0");
            <Remote<dyn Listener> as ::jstream_rmi::Passed>::describe(__text);
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "1");
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push(__text, '}');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "Some{");
            ::jstream_rmi::__private::std::string::String::push_str(__text, "all");
            <[Remote<dyn Listener>; 2] as ::jstream_rmi::Passed>::describe(__text);
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push_str(__text, "for");
            <Referring<Friend> as ::jstream_rmi::Passed>::describe(__text);
            ::jstream_rmi::__private::std::string::String::push(__text, ',');
            ::jstream_rmi::__private::std::string::String::push(__text, '}');
            ::jstream_rmi::__private::std::string::String::push(__text, '}');
        }
        fn reach(
            __interfaces: &mut ::jstream_rmi::__private::std::vec::Vec<
                &'static ::jstream_rmi::Interface,
            >,
        ) {
            <Remote<dyn Listener> as ::jstream_rmi::Passed>::reach(__interfaces);
            <[Remote<dyn Listener>; 2] as ::jstream_rmi::Passed>::reach(__interfaces);
            <Referring<Friend> as ::jstream_rmi::Passed>::reach(__interfaces);
        }
        fn give(
            self,
            __giving: &mut ::jstream_rmi::__private::Giving,
        ) -> <Self as ::jstream_rmi::Passed>::Wire {
            match self {
                Self::None {} => ::jstream_rmi::__private::core::result::Result::Ok(()),
                Self::One { 0: __field_0 @ _, 1: __field_1 @ _ } => {
                    ::jstream_rmi::__private::core::result::Result::Err(
                        ::jstream_rmi::__private::core::result::Result::Ok((
                            (
                                <Remote<
                                    dyn Listener,
                                > as ::jstream_rmi::Passed>::give(__field_0, __giving),
                                __field_1,
                            ),
                        )),
                    )
                }
                Self::Some { all: __field_0 @ _, r#for: __field_1 @ _ } => {
                    ::jstream_rmi::__private::core::result::Result::Err(
                        ::jstream_rmi::__private::core::result::Result::Err((
                            (
                                <[Remote<
                                    dyn Listener,
                                >; 2] as ::jstream_rmi::Passed>::give(__field_0, __giving),
                                <Referring<
                                    Friend,
                                > as ::jstream_rmi::Passed>::give(__field_1, __giving),
                            ),
                        )),
                    )
                }
            }
        }
        fn take(
            __form: &::jstream_rmi::__private::Form<
                '_,
                <Self as ::jstream_rmi::Passed>::Wire,
            >,
            __taking: &::jstream_rmi::__private::Taking,
        ) -> ::jstream_rmi::__private::core::result::Result<
            Self,
            ::jstream_rmi::__private::Unfit,
        > {
            match __form {
                ::jstream_rmi::__private::core::result::Result::Ok(()) => {
                    ::jstream_rmi::__private::core::result::Result::Ok(Self::None {})
                }
                ::jstream_rmi::__private::core::result::Result::Err(
                    ::jstream_rmi::__private::core::result::Result::Ok(
                        ((__field_0 @ _, __field_1 @ _),),
                    ),
                ) => {
                    let __field_0 @ _ = <Remote<
                        dyn Listener,
                    > as ::jstream_rmi::Passed>::take(__field_0, __taking);
                    let __field_0 @ _ = __field_0?;
                    let __field_1 @ _ = ::jstream_rmi::__private::owned::<
                        u8,
                    >(__field_1)?;
                    ::jstream_rmi::__private::core::result::Result::Ok(Self::One {
                        0: __field_0,
                        1: __field_1,
                    })
                }
                ::jstream_rmi::__private::core::result::Result::Err(
                    ::jstream_rmi::__private::core::result::Result::Err(
                        ((__field_0 @ _, __field_1 @ _),),
                    ),
                ) => {
                    let __field_0 @ _ = <[Remote<
                        dyn Listener,
                    >; 2] as ::jstream_rmi::Passed>::take(__field_0, __taking);
                    let __field_1 @ _ = <Referring<
                        Friend,
                    > as ::jstream_rmi::Passed>::take(__field_1, __taking);
                    let __field_0 @ _ = __field_0?;
                    let __field_1 @ _ = __field_1?;
                    ::jstream_rmi::__private::core::result::Result::Ok(Self::Some {
                        all: __field_0,
                        r#for: __field_1,
                    })
                }
            }
        }
    }
};
