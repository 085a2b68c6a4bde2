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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(of @ _: &Range) {
            let Range { from: __part_0 @ _, to: __part_1 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Range {
        type InPlace<'__b> = Range where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).from
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).to
                        }),
                    )
                    .fills(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let Range { from: __part_0 @ _, to: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).from,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(&raw mut (*slot).to, __part_1, draft);
            }
        }
        #[inline]
        unsafe fn write_back<'__b>(
            place: *mut Self,
            draft: &mut ::jstream::__private::Draft<'__b>,
        )
        where
            Self: '__b,
        {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).from, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).to, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Range {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                            &raw const (*of).from
                        })
                        .verified(),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).to
                    }),
                )
                .within(::core::mem::size_of::<Self>())
                .verified()
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).from, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).to, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).from)?;
                    ::jstream::__private::approve(&raw const (*slot).from, positive)?;
                    ::jstream::__private::verify_own(&raw const (*slot).to)?;
                }
                unsafe {
                    ::jstream::__private::approve(slot, in_order)?;
                    ::jstream::__private::approve(slot, rules::not_empty)?;
                }
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if trace.hit_verified(slot) {
                return;
            }
            trace.enter("from");
            unsafe {
                if trace.hit_verified(&raw const (*slot).from) {
                    return;
                }
                ::jstream::__private::trace_own(&raw const (*slot).from, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("to");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).to, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "Range",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "from",
                                ::core::mem::offset_of!(Self, from),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).from },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "to",
                                ::core::mem::offset_of!(Self, to),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).to },
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
            long @ _: ::core::marker::PhantomData<Range>,
        ) -> ::core::marker::PhantomData<Range> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Range>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Range {
        const IS_COPY: bool = {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                &raw const (*of).from
            })
                && ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                    &raw const (*of).to
                })
        };
        #[inline]
        fn restore<'__b>(
            form @ _: &Range,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Range| match of {
                Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::core::result::Result::Ok(
                match form {
                    Range { from: __part_0 @ _, to: __part_1 @ _ } => {
                        Range {
                            from: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            to: ::jstream::__private::restore_field(__part_1, restoring)?,
                        }
                    }
                },
            )
        }
    }
};
