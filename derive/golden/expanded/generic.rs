///The in-place form of [`Pair`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type PairRef<'b, A, B, const N: usize> = Pair<'b, A, B, N>;
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
        fn all_fields<'b, A, B: Copy, const N: usize>(of @ _: &Pair<'b, A, B, N>)
        where
            A: PartialEq,
        {
            let Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<
        'b,
        A: ::jstream::__private::Transportable,
        B: Copy + ::jstream::__private::Transportable,
        const N: usize,
    > ::jstream::__private::Transportable for Pair<'b, A, B, N>
    where
        A: PartialEq,
        for<'__x> <B as ::jstream::__private::Transportable>::InPlace<'__x>: Copy,
        for<'__x> <A as ::jstream::__private::Transportable>::InPlace<'__x>: PartialEq,
    {
        type InPlace<'__b> = Pair<
            '__b,
            <A as ::jstream::__private::Transportable>::InPlace<'__b>,
            <B as ::jstream::__private::Transportable>::InPlace<'__b>,
            N,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            false
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).a
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).b
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).id
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
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            let Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(&raw mut (*slot).a, __part_0, draft);
                ::jstream::__private::write_field(&raw mut (*slot).b, __part_1, draft);
                ::jstream::__private::write_field(&raw mut (*slot).id, __part_2, draft);
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
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).a, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).b, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).id, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<
        'b,
        A: ::jstream::__private::InPlace,
        B: Copy + ::jstream::__private::InPlace,
        const N: usize,
    > ::jstream::__private::InPlace for Pair<'b, A, B, N>
    where
        A: PartialEq,
    {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of(|of: *const Self| unsafe {
                        &raw const (*of).a
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|of: *const Self| unsafe {
                        &raw const (*of).b
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).id
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::InPlace::read(&raw mut (*slot).a, pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*slot).b, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).id, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::InPlace::verify(&raw const (*slot).a)?;
                    ::jstream::__private::InPlace::verify(&raw const (*slot).b)?;
                    ::jstream::__private::verify_own(&raw const (*slot).id)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            trace.enter("a");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*slot).a, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("b");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*slot).b, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("id");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).id, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Pair<'b, A, B, N>| match of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "Pair",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "a",
                                ::core::mem::offset_of!(Self, a),
                                ::jstream::__private::describe(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).a },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "b",
                                ::core::mem::offset_of!(Self, b),
                                ::jstream::__private::describe(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).b },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "id",
                                ::core::mem::offset_of!(Self, id),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).id },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`List`], as it is in a receive buffer.
#[repr(C)]
struct ListRef<'b, T> {
    of: &'b [T],
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
        fn all_fields<'b, T>(of @ _: &ListRef<'b, T>) {
            let ListRef { of: __part_0 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<
        'b,
        T: ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for ListRef<'b, T> {
        type InPlace<'__b> = ListRef<
            '__b,
            <T as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
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
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let ListRef { of: __part_0 @ _ } = self;
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
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).of, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b, T: ::jstream::__private::InPlace> ::jstream::__private::InPlace
    for ListRef<'b, T> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of(|of: *const Self| unsafe {
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
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            unsafe {
                ::jstream::__private::InPlace::read(&raw mut (*slot).of, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::InPlace::verify(&raw const (*slot).of)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            trace.enter("of");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*slot).of, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &ListRef<'b, T>| match of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "ListRef",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "of",
                                ::core::mem::offset_of!(Self, of),
                                ::jstream::__private::describe(
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
    unsafe impl<'b, T: ::jstream::__private::Covariant> ::jstream::__private::Covariant
    for ListRef<'b, T> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                ListRef<
                    'long_unless_the_type_says_invariant,
                    &'long_unless_the_type_says_invariant (),
                >,
            >,
        ) -> ::core::marker::PhantomData<ListRef<'short, &'short ()>> {
            long
        }
    };
    #[automatically_derived]
    unsafe impl<
        T: ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for List<T> {
        type InPlace<'__b> = ListRef<
            '__b,
            <T as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &List<T>| match of {
                List { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            false
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |of @ _: &List<T>| match of {
                List { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let List { of: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(&raw mut (*slot).of, __part_0, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<T: ::jstream::__private::Covariant> ::jstream::__private::Covariant
    for List<T> {}
    #[automatically_derived]
    impl<T: ::jstream::__private::Restore> ::jstream::__private::Restore for List<T> {
        #[inline]
        fn restore<'__b>(
            form @ _: &ListRef<
                '__b,
                <T as ::jstream::__private::Transportable>::InPlace<'__b>,
            >,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &List<T>| match of {
                List { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            ::core::result::Result::Ok(
                match form {
                    ListRef { of: __part_0 @ _ } => {
                        List {
                            of: ::jstream::__private::restore_field(__part_0, restoring)?,
                        }
                    }
                },
            )
        }
    }
};
