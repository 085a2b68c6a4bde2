#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Named`], as it is in a receive buffer.
#[repr(C)]
struct NamedRef<'b> {
    name: &'b str,
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
        shield as __pass, shield as __place, shield as __restoring, shield as __schema,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &NamedRef<'b>) {
            let NamedRef { name: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for NamedRef<'b> {
        type InPlace<'__b> = NamedRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
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
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let NamedRef { name: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
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
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).name,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for NamedRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
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
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).name, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).name)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            __trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).name, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "NamedRef",
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
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for NamedRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                NamedRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<NamedRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<NamedRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Named {
        type InPlace<'__b> = NamedRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Named| match __of {
                        Named { name: __part_0 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_0)
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
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let Named { name: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Named {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Named {
        #[inline]
        fn restore<'__b>(
            __form @ _: &NamedRef<'__b>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__both @ _: (&Named, &NamedRef<'_>)| match __both {
                (Named { name: __part_0 @ _ }, NamedRef { name: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    NamedRef { name: __part_0 @ _ } => {
                        Named {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
    impl<'__b> NamedRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::jstream::__private::core::result::Result<
            Named,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Named>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for NamedRef<'__b>
    where
        &'__b Named: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                NamedRef { name: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_struct(
                            __formatter,
                            "NamedRef",
                        )
                        .field(
                            "name",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
