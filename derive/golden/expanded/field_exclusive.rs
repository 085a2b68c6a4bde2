#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Column`], as it is in a receive buffer.
#[repr(C)]
struct ColumnRef<'b> {
    name: &'b ::jstream::__private::core::primitive::str,
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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __both, shield as __draft, shield as __form, shield as __formatter,
        shield as __long, shield as __of, shield as __part_0, shield as __part_0_form,
        shield as __part_1, shield as __part_1_form, shield as __pass, shield as __place,
        shield as __restoring, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &ColumnRef<'b>) {
            let ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for ColumnRef<'b> {
        type InPlace<'__b> = ColumnRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).name
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).values
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &ColumnRef<'b>| match __of {
                        ColumnRef { values: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                ]
            });
        }
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).values,
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
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).name,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).values,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for ColumnRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).values
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
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
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).name, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).values, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).values)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).name, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("values");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).values, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &ColumnRef<'b>| match __of {
                        ColumnRef { values: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                ]
            });
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "ColumnRef",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "name",
                                ::jstream::__private::core::mem::offset_of!(Self, name),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).name },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "values",
                                ::jstream::__private::core::mem::offset_of!(Self, values),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).values },
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
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                ColumnRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<ColumnRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<ColumnRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Column {
        type InPlace<'__b> = ColumnRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Column| match __of {
                        Column { values: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                ]
            });
        }
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let Column { name: __part_0 @ _, values: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_exclusive(
                    &raw mut (*__slot).values,
                    __part_1,
                    __draft,
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
            __form @ _: &ColumnRef<'__b>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__both @ _: (&Column, &ColumnRef<'_>)| match __both {
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
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } => {
                        Column {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            values: ::jstream::__private::restore_exclusive(
                                &**__part_1,
                                __restoring,
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
        ) -> ::jstream::__private::core::result::Result<
            Column,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Column>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for ColumnRef<'__b>
    where
        &'__b Column: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                ColumnRef { name: __part_0 @ _, values: __part_1 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_struct(
                            __formatter,
                            "ColumnRef",
                        )
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
