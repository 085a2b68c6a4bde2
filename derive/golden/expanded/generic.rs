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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __first, shield as __long, shield as __mirror,
        shield as __of, shield as __part_0, shield as __part_1, shield as __part_2,
        shield as __pass, shield as __place, shield as __schema, shield as __second,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b, A, B: Copy, const N: usize>(__of @ _: &Pair<'b, A, B, N>)
        where
            A: PartialEq,
        {
            let Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } = __of;
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
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            false
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).a
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).b
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).id
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<A as ::jstream::__private::Transportable>::ENTRY_POINT)
            .or(<B as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            let Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).a,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).b,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).id,
                    __part_2,
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
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*__place).a, __draft);
                ::jstream::__private::write_field_back(&raw mut (*__place).b, __draft);
                ::jstream::__private::write_field_back(&raw mut (*__place).id, __draft);
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
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).a
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).b
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).id
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<A as ::jstream::__private::InPlace>::ENTRY_POINT)
            .or(<B as ::jstream::__private::InPlace>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::InPlace::read(&raw mut (*__slot).a, __pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*__slot).b, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).id, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).a)?;
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).b)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).id)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            __trace.enter("a");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*__slot).a, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("b");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*__slot).b, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("id");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).id, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Pair<'b, A, B, N>| match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Pair",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "a",
                                ::jstream::__private::core::mem::offset_of!(Self, a),
                                ::jstream::__private::describe(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).a },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "b",
                                ::jstream::__private::core::mem::offset_of!(Self, b),
                                ::jstream::__private::describe(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).b },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "id",
                                ::jstream::__private::core::mem::offset_of!(Self, id),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).id },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<
        'b,
        A: ::jstream::__private::Covariant,
        B: Copy + ::jstream::__private::Covariant,
        const N: usize,
    > ::jstream::__private::Covariant for Pair<'b, A, B, N>
    where
        A: PartialEq,
        for<'__x> <B as ::jstream::__private::Transportable>::InPlace<'__x>: Copy,
        for<'__x> <A as ::jstream::__private::Transportable>::InPlace<'__x>: PartialEq,
    {}
    const _: () = {
        #[allow(dead_code, reason = "only its variance matters")]
        struct __Mirror<'b, A, B, const N: usize> {
            field_0: &'b A,
            field_1: [B; N],
            field_2: u64,
        }
        #[allow(dead_code, unused_variables, reason = "only the types matter")]
        fn same_types<'b, A, B: Copy, const N: usize>(
            __of @ _: &mut Pair<'b, A, B, N>,
            __mirror @ _: &mut __Mirror<'b, A, B, N>,
        )
        where
            A: PartialEq,
        {
            match __of {
                Pair { a: __part_0 @ _, b: __part_1 @ _, id: __part_2 @ _ } => {
                    let __first = ::jstream::__private::exact_type(__part_0);
                    let __second = ::jstream::__private::exact_type(
                        &mut __mirror.field_0,
                    );
                    ::jstream::__private::same_exact_type(__first, __second);
                    let __first = ::jstream::__private::exact_type(__part_1);
                    let __second = ::jstream::__private::exact_type(
                        &mut __mirror.field_1,
                    );
                    ::jstream::__private::same_exact_type(__first, __second);
                    let __first = ::jstream::__private::exact_type(__part_2);
                    let __second = ::jstream::__private::exact_type(
                        &mut __mirror.field_2,
                    );
                    ::jstream::__private::same_exact_type(__first, __second);
                }
            }
        }
        fn covariant<
            'long_unless_the_type_says_invariant: 'short,
            'short,
            const N: usize,
        >(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                __Mirror<
                    'long_unless_the_type_says_invariant,
                    &'long_unless_the_type_says_invariant (),
                    &'long_unless_the_type_says_invariant (),
                    N,
                >,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<
            __Mirror<'short, &'short (), &'short (), N>,
        > {
            __long
        }
    };
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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __form, shield as __long, shield as __of,
        shield as __part_0, shield as __pass, shield as __place, shield as __restoring,
        shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b, T>(__of @ _: &ListRef<'b, T>) {
            let ListRef { of: __part_0 @ _ } = __of;
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
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
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
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<T as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let ListRef { of: __part_0 @ _ } = self;
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
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*__place).of, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b, T: ::jstream::__private::InPlace> ::jstream::__private::InPlace
    for ListRef<'b, T> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).of
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<T as ::jstream::__private::InPlace>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            unsafe {
                ::jstream::__private::InPlace::read(&raw mut (*__slot).of, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).of)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            __trace.enter("of");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*__slot).of, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &ListRef<'b, T>| match __of {
                ListRef { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "ListRef",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "of",
                                ::jstream::__private::core::mem::offset_of!(Self, of),
                                ::jstream::__private::describe(
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
    unsafe impl<'b, T: ::jstream::__private::Covariant> ::jstream::__private::Covariant
    for ListRef<'b, T> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                ListRef<
                    'long_unless_the_type_says_invariant,
                    &'long_unless_the_type_says_invariant (),
                >,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<
            ListRef<'short, &'short ()>,
        > {
            __long
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
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<T as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &List<T>| match __of {
                List { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let List { of: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).of,
                    __part_0,
                    __draft,
                );
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
            __form @ _: &ListRef<
                '__b,
                <T as ::jstream::__private::Transportable>::InPlace<'__b>,
            >,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &List<T>| match __of {
                List { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let _ = |__of @ _: &List<T>| match __of {
                List { of: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    ListRef { of: __part_0 @ _ } => {
                        List {
                            of: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
};
