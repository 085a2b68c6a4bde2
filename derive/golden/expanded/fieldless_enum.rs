///The in-place form of [`Side`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type SideRef<'b> = Side;
#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    missing_docs,
    non_camel_case_types,
    single_use_lifetimes,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    reason = "generated code"
)]
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __form, shield as __long, shield as __meant,
        shield as __of, shield as __pass, shield as __restoring, shield as __schema,
        shield as __slot, shield as __start, shield as __tag, shield as __trace,
        shield as __value,
    };
    const __TAG_0: ::jstream::__private::core::primitive::u16 = 0;
    const __TAG_1: ::jstream::__private::core::primitive::u16 = 300;
    const _: () = {
        fn same_types(__of @ _: &mut Side) {
            match __of {
                Side::Buy {} => {}
                Side::Sell {} => {}
            }
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Side {
        type InPlace<'__b> = Side where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = { true };
        const OPTION_IS_MEMORY: ::jstream::__private::core::primitive::bool = <Self as ::jstream::__private::InPlace>::OPTION_SHAPE
            .most_as_is()
            .is_some();
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            match self {
                Side::Buy {} => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u16>()
                            .write(__TAG_0)
                    };
                }
                Side::Sell {} => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u16>()
                            .write(__TAG_1)
                    };
                }
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Side {
        const SHAPE: ::jstream::__private::Shape = {
            {
                ::jstream::__private::core::assert!(
                    ::jstream::__private::core::mem::size_of:: < Self > () ==
                    ::jstream::__private::core::mem::size_of:: <
                    ::jstream::__private::core::primitive::u16 > (),
                    "this fieldless enum is not one byte large: add `#[repr(u8)]`, or a larger integer"
                );
                let mut __value = ::jstream::__private::core::mem::MaybeUninit::<
                    Self,
                >::uninit();
                let __start = __value.as_mut_ptr();
                unsafe {
                    ::jstream::__private::core::ptr::write_bytes(__start, 0xa5, 1)
                };
                unsafe {
                    __start
                        .cast::<::jstream::__private::core::primitive::u16>()
                        .write(__TAG_0)
                };
                let __meant = unsafe {
                    match *__start {
                        Side::Buy {} => true,
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::jstream::__private::core::assert!(
                    __meant, "the enum is not laid out as its `repr` says"
                );
                let mut __value = ::jstream::__private::core::mem::MaybeUninit::<
                    Self,
                >::uninit();
                let __start = __value.as_mut_ptr();
                unsafe {
                    ::jstream::__private::core::ptr::write_bytes(__start, 0xa5, 1)
                };
                unsafe {
                    __start
                        .cast::<::jstream::__private::core::primitive::u16>()
                        .write(__TAG_1)
                };
                let __meant = unsafe {
                    match *__start {
                        Side::Sell {} => true,
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::jstream::__private::core::assert!(
                    __meant, "the enum is not laid out as its `repr` says"
                );
                ::jstream::__private::fieldless(
                    ::jstream::__private::core::mem::size_of::<Self>(),
                    [
                        __TAG_0 as ::jstream::__private::core::primitive::i128,
                        __TAG_1 as ::jstream::__private::core::primitive::i128,
                    ],
                )
            }
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::READ;
        #[inline]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            const {
                ::jstream::__private::core::assert!(
                    ! < Self as ::jstream::__private::InPlace > ::SHAPE.plain
                )
            };
            let __tag = unsafe {
                __slot.cast::<::jstream::__private::core::primitive::u16>().read()
            };
            match __tag {
                __TAG_0 => {}
                __TAG_1 => {}
                _ => {
                    return ::jstream::__private::core::result::Result::Err(
                        ::jstream::__private::Fault::new(
                            __slot,
                            ::jstream::__private::FaultKind::Invalid,
                        ),
                    );
                }
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                let __tag = unsafe {
                    __slot.cast::<::jstream::__private::core::primitive::u16>().read()
                };
                match __tag {
                    __TAG_0 => {}
                    __TAG_1 => {}
                    _ => {}
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            if __trace.hit(__slot) {
                return;
            }
            let __tag = unsafe {
                __slot.cast::<::jstream::__private::core::primitive::u16>().read()
            };
            match __tag {
                __TAG_0 => {}
                __TAG_1 => {}
                _ => {}
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Side",
                    &mut |__schema| ::jstream::__private::Kind::Enum {
                        tag: ::jstream::__private::core::mem::size_of::<
                            ::jstream::__private::core::primitive::u16,
                        >(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "Buy",
                                __TAG_0 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Sell",
                                __TAG_1 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([]),
                            ),
                        ]),
                    },
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Side {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Side>,
        ) -> ::jstream::__private::core::marker::PhantomData<Side> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Side>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Side {
        #[inline]
        fn restore<'__b>(
            __form @ _: &Side,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Side::Buy {} => Side::Buy {},
                    Side::Sell {} => Side::Sell {},
                },
            )
        }
    }
};
