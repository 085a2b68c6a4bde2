///The in-place form of [`r#struct`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type structRef<'b> = r#struct<'b>;
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
    use crate::r#mod::jstream::__private::{
        shield as __draft, shield as __long, shield as __of, shield as __part_0,
        shield as __part_1, shield as __pass, shield as __place, shield as __schema,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &r#struct<'b>) {
            let r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> crate::r#mod::jstream::__private::Transportable for r#struct<'b> {
        type InPlace<'__b> = r#struct<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: crate::r#mod::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            true
                && crate::r#mod::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        crate::r#mod::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).r#type
                        }),
                    )
                    .and(
                        crate::r#mod::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).r#fn
                        }),
                    )
                    .fills(
                        crate::r#mod::jstream::__private::core::mem::size_of::<Self>(),
                    )
        };
        const ENTRY_POINT: crate::r#mod::jstream::__private::EntryPoint = crate::r#mod::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(const {
                &[
                    crate::r#mod::jstream::__private::written(|__of: &r#struct<'b>| match __of {
                        r#struct { r#fn: __part_1 @ _, .. } => {
                            crate::r#mod::jstream::__private::core::option::Option::Some(
                                __part_1,
                            )
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => crate::r#mod::jstream::__private::core::option::Option::None,
                    }),
                ]
            });
        }
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut crate::r#mod::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(
                crate::r#mod::jstream::__private::Chain::<Self>::WRITE_BACK,
            );
            let r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } = self;
            unsafe {
                crate::r#mod::jstream::__private::write_field(
                    &raw mut (*__slot).r#type,
                    __part_0,
                    __draft,
                );
                crate::r#mod::jstream::__private::write_field(
                    &raw mut (*__slot).r#fn,
                    __part_1,
                    __draft,
                );
            }
        }
        #[inline]
        unsafe fn write_back<'__b>(
            __place: *mut Self,
            __draft: &mut crate::r#mod::jstream::__private::Draft<'__b>,
        )
        where
            Self: '__b,
        {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(
                crate::r#mod::jstream::__private::Chain::<Self>::NAME_PARTS,
            );
            unsafe {
                crate::r#mod::jstream::__private::write_field_back(
                    &raw mut (*__place).r#type,
                    __draft,
                );
                crate::r#mod::jstream::__private::write_field_back(
                    &raw mut (*__place).r#fn,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> crate::r#mod::jstream::__private::InPlace for r#struct<'b> {
        const SHAPE: crate::r#mod::jstream::__private::Shape = {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::Shape::NOTHING
                .and(
                    crate::r#mod::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).r#type
                    }),
                )
                .and(
                    crate::r#mod::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).r#fn
                    }),
                )
                .within(crate::r#mod::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: crate::r#mod::jstream::__private::EntryPoint = crate::r#mod::jstream::__private::Chain::<
            Self,
        >::READ;
        #[inline(always)]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut crate::r#mod::jstream::__private::Pass<'_>,
        ) -> crate::r#mod::jstream::__private::core::result::Result<
            (),
            crate::r#mod::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(
                crate::r#mod::jstream::__private::Chain::<Self>::VERIFY,
            );
            unsafe {
                crate::r#mod::jstream::__private::read_own(
                    &raw mut (*__slot).r#type,
                    __pass,
                )?;
                crate::r#mod::jstream::__private::read_own(
                    &raw mut (*__slot).r#fn,
                    __pass,
                )?;
            }
            crate::r#mod::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> crate::r#mod::jstream::__private::core::result::Result<
            (),
            crate::r#mod::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(
                crate::r#mod::jstream::__private::Chain::<Self>::TRACE,
            );
            if <Self as crate::r#mod::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    crate::r#mod::jstream::__private::verify_own(
                        &raw const (*__slot).r#type,
                    )?;
                    crate::r#mod::jstream::__private::verify_own(
                        &raw const (*__slot).r#fn,
                    )?;
                }
                unsafe {}
            }
            crate::r#mod::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(
            __slot: *const Self,
            __trace: &mut crate::r#mod::jstream::__private::Trace,
        ) {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(
                crate::r#mod::jstream::__private::Chain::<Self>::DESCRIBE,
            );
            __trace.enter("type");
            unsafe {
                crate::r#mod::jstream::__private::trace_own(
                    &raw const (*__slot).r#type,
                    __trace,
                );
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("fn");
            unsafe {
                crate::r#mod::jstream::__private::trace_own(
                    &raw const (*__slot).r#fn,
                    __trace,
                );
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut crate::r#mod::jstream::__private::Schema,
        ) -> crate::r#mod::jstream::__private::TypeIndex {
            let _ = |__of @ _: &r#struct<'b>| match __of {
                r#struct { r#type: __part_0 @ _, r#fn: __part_1 @ _ } => {
                    crate::r#mod::jstream::__private::asked(__part_0)
                        .arrives_as_itself();
                    crate::r#mod::jstream::__private::asked(__part_1)
                        .arrives_as_itself();
                }
            };
            crate::r#mod::jstream::__private::link(const {
                &[
                    crate::r#mod::jstream::__private::read_in_place(|
                        __of: &r#struct<'b>|
                    match __of {
                        r#struct { r#fn: __part_1 @ _, .. } => {
                            crate::r#mod::jstream::__private::core::option::Option::Some(
                                __part_1,
                            )
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => crate::r#mod::jstream::__private::core::option::Option::None,
                    }),
                ]
            });
            __schema
                .define(
                    crate::r#mod::jstream::__private::Schema::key_of::<Self>(),
                    "struct",
                    &mut |__schema| crate::r#mod::jstream::__private::Kind::Struct(
                        crate::r#mod::jstream::__private::list([
                            crate::r#mod::jstream::__private::FieldInfo::new(
                                "type",
                                crate::r#mod::jstream::__private::core::mem::offset_of!(
                                    Self, r#type
                                ),
                                crate::r#mod::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).r#type },
                                ),
                            ),
                            crate::r#mod::jstream::__private::FieldInfo::new(
                                "fn",
                                crate::r#mod::jstream::__private::core::mem::offset_of!(
                                    Self, r#fn
                                ),
                                crate::r#mod::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).r#fn },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> crate::r#mod::jstream::__private::Covariant for r#struct<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: crate::r#mod::jstream::__private::core::marker::PhantomData<
                r#struct<'long_unless_the_type_says_invariant>,
            >,
        ) -> crate::r#mod::jstream::__private::core::marker::PhantomData<
            r#struct<'short>,
        > {
            __long
        }
    };
    const _: () = crate::r#mod::jstream::__private::assert_form::<r#struct<'static>>();
};
///The in-place form of [`r#enum`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type enumRef<'b> = r#enum;
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
    const __TAG_0: ::jstream::__private::core::primitive::u8 = 0;
    const _: () = {
        fn same_types(__of @ _: &mut r#enum) {
            match __of {
                r#enum::r#impl {} => {}
            }
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for r#enum {
        type InPlace<'__b> = r#enum where Self: '__b;
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
                r#enum::r#impl {} => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_0)
                    };
                }
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for r#enum {
        const SHAPE: ::jstream::__private::Shape = {
            {
                ::jstream::__private::core::assert!(
                    ::jstream::__private::core::mem::size_of:: < Self > () ==
                    ::jstream::__private::core::mem::size_of:: <
                    ::jstream::__private::core::primitive::u8 > (),
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
                        .cast::<::jstream::__private::core::primitive::u8>()
                        .write(__TAG_0)
                };
                let __meant = unsafe {
                    match *__start {
                        r#enum::r#impl {} => true,
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
                    [__TAG_0 as ::jstream::__private::core::primitive::i128],
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
                __slot.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {}
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
                    __slot.cast::<::jstream::__private::core::primitive::u8>().read()
                };
                match __tag {
                    __TAG_0 => {}
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
                __slot.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {}
                _ => {}
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "enum",
                    &mut |__schema| ::jstream::__private::Kind::Enum {
                        tag: ::jstream::__private::core::mem::size_of::<
                            ::jstream::__private::core::primitive::u8,
                        >(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "impl",
                                __TAG_0 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([]),
                            ),
                        ]),
                    },
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for r#enum {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<r#enum>,
        ) -> ::jstream::__private::core::marker::PhantomData<r#enum> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<r#enum>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for r#enum {
        #[inline]
        fn restore<'__b>(
            __form @ _: &r#enum,
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
                    r#enum::r#impl {} => r#enum::r#impl {},
                },
            )
        }
    }
};
