///The in-place form of [`Turn`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type TurnRef<'b> = Turn;
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
        shield as __part_0, shield as __pass, shield as __restoring, shield as __schema,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(__of @ _: &Turn) {
            let Turn { by: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Turn {
        type InPlace<'__b> = Turn where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(::jstream::__private::MemoryLayout::OTHER)
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
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    let _ = __part_0;
                }
            };
            let Turn { by: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_adapted(
                    ::jstream::__private::check_type_of::<AsRadians>(),
                    __part_0,
                    &raw mut (*__slot).by,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Turn {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::adapted_shape(
                        ::jstream::__private::check_type_of::<AsRadians>(),
                        |__of: *const Self| unsafe { &raw const (*__of).by },
                    ),
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
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            unsafe {
                ::jstream::__private::read_adapted(
                    ::jstream::__private::check_type_of::<AsRadians>(),
                    &raw mut (*__slot).by,
                    __pass,
                )?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {}
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            __trace.enter("by");
            unsafe {
                let _ = __trace.hit(&raw const (*__slot).by);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Turn",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "by",
                                ::jstream::__private::core::mem::offset_of!(Self, by),
                                ::jstream::__private::describe_adapted(
                                    ::jstream::__private::check_type_of::<AsRadians>(),
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).by },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Turn {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Turn>,
        ) -> ::jstream::__private::core::marker::PhantomData<Turn> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Turn>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Turn {
        const IS_COPY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    let _ = __part_0;
                }
            };
            false
        };
        #[inline]
        fn restore<'__b>(
            __form @ _: &Turn,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                    ::jstream::__private::asked(__part_0)
                        .fits_an_adapter(
                            ::jstream::__private::check_type_of::<AsRadians>(),
                        );
                }
            };
            let _ = |__of @ _: &Turn| match __of {
                Turn { by: __part_0 @ _ } => {
                    let _ = __part_0;
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Turn { by: __part_0 @ _ } => {
                        Turn {
                            by: ::jstream::__private::restore_adapted(__part_0),
                        }
                    }
                },
            )
        }
    }
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Path`], as it is in a receive buffer.
#[repr(C)]
struct PathRef<'b> {
    of: &'b str,
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
        fn all_fields<'b>(__of @ _: &PathRef<'b>) {
            let PathRef { of: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for PathRef<'b> {
        type InPlace<'__b> = PathRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).of
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
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let PathRef { of: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).of,
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
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*__place).of, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for PathRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).of
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
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).of, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).of)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            __trace.enter("of");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).of, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "PathRef",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "of",
                                ::jstream::__private::core::mem::offset_of!(Self, of),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).of },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for PathRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                PathRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<PathRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<PathRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Path {
        type InPlace<'__b> = PathRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let Path { of: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_replaced(
                    &raw mut (*__slot).of,
                    __part_0,
                    __draft,
                    ::jstream::__private::check_type_of::<AsText>(),
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Path {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Path {
        #[inline]
        fn restore<'__b>(
            __form @ _: &PathRef<'__b>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__both @ _: (&Path, &PathRef<'_>)| match __both {
                (Path { of: __part_0 @ _ }, PathRef { of: __part_0_form @ _ }) => {
                    ::jstream::__private::asked(__part_0)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree_through_adapter(
                            ::jstream::__private::check_type_of::<AsText>(),
                        );
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    PathRef { of: __part_0 @ _ } => {
                        Path {
                            of: ::jstream::__private::restore_replaced(
                                __part_0,
                                ::jstream::__private::check_type_of::<AsText>(),
                            )?,
                        }
                    }
                },
            )
        }
    }
    impl<'__b> PathRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::jstream::__private::core::result::Result<
            Path,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Path>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for PathRef<'__b>
    where
        &'__b Path: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                PathRef { of: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_struct(
                            __formatter,
                            "PathRef",
                        )
                        .field(
                            "of",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
