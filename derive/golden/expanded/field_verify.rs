///The in-place form of [`Range`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type RangeRef<'b> = Range;
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
        shield as __draft, shield as __form, shield as __long, shield as __of,
        shield as __part_0, shield as __part_1, shield as __pass, shield as __place,
        shield as __restoring, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(__of @ _: &Range) {
            let Range { from: __part_0 @ _, to: __part_1 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Range {
        type InPlace<'__b> = Range where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).from
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).to
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            let Range { from: __part_0 @ _, to: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).from,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).to,
                    __part_1,
                    __draft,
                );
            }
        }
        #[inline]
        unsafe fn write_back<'__b>(
            __place: *mut Self,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        )
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).from,
                    __draft,
                );
                ::jstream::__private::write_field_back(&raw mut (*__place).to, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Range {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                            &raw const (*__of).from
                        })
                        .verified(),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).to
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
                .verified()
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::READ;
        #[inline(always)]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).from, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).to, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).from)?;
                    ::jstream::__private::approve(&raw const (*__slot).from, positive)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).to)?;
                }
                unsafe {
                    ::jstream::__private::approve(__slot, in_order)?;
                    ::jstream::__private::approve(__slot, rules::not_empty)?;
                }
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if __trace.hit_verified(__slot) {
                return;
            }
            __trace.enter("from");
            unsafe {
                if __trace.hit_verified(&raw const (*__slot).from) {
                    return;
                }
                ::jstream::__private::trace_own(&raw const (*__slot).from, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("to");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).to, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Range",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "from",
                                ::jstream::__private::core::mem::offset_of!(Self, from),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).from },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "to",
                                ::jstream::__private::core::mem::offset_of!(Self, to),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).to },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Range {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Range>,
        ) -> ::jstream::__private::core::marker::PhantomData<Range> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Range>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Range {
        const IS_COPY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                &raw const (*__of).from
            })
                && ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                    &raw const (*__of).to
                })
        };
        #[inline]
        fn restore<'__b>(
            __form @ _: &Range,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Range| match __of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                        Range {
                            from: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            to: ::jstream::__private::restore_field(
                                __part_1,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
};
