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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(of @ _: &Turn) {
            let Turn { by: __part_0 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Turn {
        type InPlace<'__b> = Turn where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Turn| match of {
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
                    .fills(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |of @ _: &Turn| match of {
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
            let Turn { by: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_adapted(
                    ::jstream::__private::check_type_of::<AsRadians>(),
                    __part_0,
                    &raw mut (*slot).by,
                    draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Turn {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Turn| match of {
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
                        |of: *const Self| unsafe { &raw const (*of).by },
                    ),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Turn| match of {
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
                    &raw mut (*slot).by,
                    pass,
                )?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Turn| match of {
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
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Turn| match of {
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
            trace.enter("by");
            unsafe {
                let _ = trace.hit(&raw const (*slot).by);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Turn| match of {
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
            schema
                .define::<
                    Self,
                >(
                    "Turn",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "by",
                                ::core::mem::offset_of!(Self, by),
                                ::jstream::__private::describe_adapted(
                                    ::jstream::__private::check_type_of::<AsRadians>(),
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).by },
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
            long @ _: ::core::marker::PhantomData<Turn>,
        ) -> ::core::marker::PhantomData<Turn> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Turn>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Turn {
        const IS_COPY: bool = {
            let _ = |of @ _: &Turn| match of {
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
            false
        };
        #[inline]
        fn restore<'__b>(
            form @ _: &Turn,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Turn| match of {
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
            ::core::result::Result::Ok(
                match form {
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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(of @ _: &PathRef<'b>) {
            let PathRef { of: __part_0 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for PathRef<'b> {
        type InPlace<'__b> = PathRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).of
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
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                ::jstream::__private::write_field(&raw mut (*slot).of, __part_0, draft);
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
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                ::jstream::__private::write_field_back(&raw mut (*place).of, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for PathRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).of
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                ::jstream::__private::read_own(&raw mut (*slot).of, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                    ::jstream::__private::verify_own(&raw const (*slot).of)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
            trace.enter("of");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).of, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
            schema
                .define::<
                    Self,
                >(
                    "PathRef",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "of",
                                ::core::mem::offset_of!(Self, of),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).of },
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
            long @ _: ::core::marker::PhantomData<
                PathRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<PathRef<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<PathRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Path {
        type InPlace<'__b> = PathRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
            false
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
                    &raw mut (*slot).of,
                    __part_0,
                    draft,
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
            form @ _: &PathRef<'__b>,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |both @ _: (&Path, &PathRef<'_>)| match both {
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
            ::core::result::Result::Ok(
                match form {
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
        ) -> ::core::result::Result<Path, ::jstream::__private::RestoreError> {
            ::jstream::__private::restore::<Path>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::core::fmt::Debug for PathRef<'__b>
    where
        &'__b Path: ::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                PathRef { of: __part_0 @ _ } => {
                    ::core::fmt::Formatter::debug_struct(__formatter, "PathRef")
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
