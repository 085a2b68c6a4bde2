#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Column`], as it is in a receive buffer.
#[repr(C)]
struct ColumnRef<'b> {
    name: &'b ::core::primitive::str,
    values: &'b mut [f64],
}
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
        fn all_fields<'b>(of @ _: &ColumnRef<'b>) {
            let ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for ColumnRef<'b> {
        type InPlace<'__b> = ColumnRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).name
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).values
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
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).values,
                    __part_1,
                    draft,
                );
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
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).name, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).values, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for ColumnRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).values
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).name, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).values, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*slot).values)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).name, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("values");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).values, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            schema
                .define::<
                    Self,
                >(
                    "ColumnRef",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "name",
                                ::core::mem::offset_of!(Self, name),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).name },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "values",
                                ::core::mem::offset_of!(Self, values),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).values },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for ColumnRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                ColumnRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<ColumnRef<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<ColumnRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Column {
        type InPlace<'__b> = ColumnRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            false
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let Column { name: __part_0 @ _, values: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_exclusive(
                    &raw mut (*slot).values,
                    __part_1,
                    draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Column {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Column {
        #[inline]
        fn restore<'__b>(
            form @ _: &ColumnRef<'__b>,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |both @ _: (&Column, &ColumnRef<'_>)| match both {
                (
                    Column { name: __part_0 @ _, values: __part_1 @ _ },
                    ColumnRef { name: __part_0_form @ _, values: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    let _ = __part_1_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::core::result::Result::Ok(
                match form {
                    ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } => {
                        Column {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            values: ::jstream::__private::restore_exclusive(
                                &**__part_1,
                                restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
    impl<'__b> ColumnRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::core::result::Result<Column, ::jstream::__private::RestoreError> {
            ::jstream::__private::restore::<Column>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::core::fmt::Debug for ColumnRef<'__b>
    where
        &'__b Column: ::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } => {
                    ::core::fmt::Formatter::debug_struct(__formatter, "ColumnRef")
                        .field(
                            "name",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .field(
                            "values",
                            (&::jstream::__private::Shown(__part_1)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
