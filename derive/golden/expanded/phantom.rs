///The in-place form of [`Id`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type IdRef<'b, T: ?::core::marker::Sized> = Id<T>;
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
        fn all_fields<T: ?Sized>(of @ _: &Id<T>) {
            let Id { number: __part_0 @ _, of: __part_1 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<T: ?Sized> ::jstream::__private::Transportable for Id<T> {
        type InPlace<'__b> = Id<T> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            false
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).number
                        }),
                    )
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
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            let Id { number: __part_0 @ _, of: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).number,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(&raw mut (*slot).of, __part_1, draft);
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
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).number, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).of, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<T: ?Sized> ::jstream::__private::InPlace for Id<T> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).number
                    }),
                )
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
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).number, pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*slot).of, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).number)?;
                    ::jstream::__private::InPlace::verify(&raw const (*slot).of)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            trace.enter("number");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).number, trace);
            }
            if trace.leave() {
                return;
            }
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
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "Id",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "number",
                                ::core::mem::offset_of!(Self, number),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).number },
                                ),
                            ),
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
    unsafe impl<T: ?Sized + 'static> ::jstream::__private::Covariant for Id<T> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short, T: ?Sized>(
            long @ _: ::core::marker::PhantomData<Id<T>>,
        ) -> ::core::marker::PhantomData<Id<T>> {
            long
        }
    };
    #[automatically_derived]
    impl<T: ?Sized> ::jstream::__private::Restore for Id<T> {
        const IS_COPY: bool = {
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                &raw const (*of).number
            })
                && ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                    &raw const (*of).of
                })
        };
        #[inline]
        fn restore<'__b>(
            form @ _: &Id<T>,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Id<T>| match of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            ::core::result::Result::Ok(
                match form {
                    Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                        Id {
                            number: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            of: ::jstream::__private::restore_field(__part_1, restoring)?,
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
///The in-place form of [`Named`], as it is in a receive buffer.
#[repr(C)]
struct NamedRef<'b, T, U> {
    name: &'b ::core::primitive::str,
    value: U,
    of: PhantomData<T>,
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
        fn all_fields<'b, T, U>(of @ _: &NamedRef<'b, T, U>) {
            let NamedRef { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<
        'b,
        T,
        U: ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for NamedRef<'b, T, U> {
        type InPlace<'__b> = NamedRef<
            '__b,
            T,
            <U as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
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
                            &raw const (*of).value
                        }),
                    )
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
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
            };
            let NamedRef { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).value,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(&raw mut (*slot).of, __part_2, draft);
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
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).name, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).value, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).of, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b, T, U: ::jstream::__private::InPlace> ::jstream::__private::InPlace
    for NamedRef<'b, T, U> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).is_in_place();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|of: *const Self| unsafe {
                        &raw const (*of).value
                    }),
                )
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
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).is_in_place();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).name, pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*slot).value, pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*slot).of, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).is_in_place();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).name)?;
                    ::jstream::__private::InPlace::verify(&raw const (*slot).value)?;
                    ::jstream::__private::InPlace::verify(&raw const (*slot).of)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).is_in_place();
                }
            };
            trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).name, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("value");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*slot).value, trace);
            }
            if trace.leave() {
                return;
            }
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
            let _ = |of @ _: &NamedRef<'b, T, U>| match of {
                NamedRef {
                    name: __part_0 @ _,
                    value: __part_1 @ _,
                    of: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                    ::jstream::__private::asked(__part_2).is_in_place();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "NamedRef",
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
                                "value",
                                ::core::mem::offset_of!(Self, value),
                                ::jstream::__private::describe(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).value },
                                ),
                            ),
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
    unsafe impl<
        'b,
        T: 'static,
        U: ::jstream::__private::Covariant,
    > ::jstream::__private::Covariant for NamedRef<'b, T, U> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short, T>(
            long @ _: ::core::marker::PhantomData<
                NamedRef<
                    'long_unless_the_type_says_invariant,
                    T,
                    &'long_unless_the_type_says_invariant (),
                >,
            >,
        ) -> ::core::marker::PhantomData<NamedRef<'short, T, &'short ()>> {
            long
        }
    };
    #[automatically_derived]
    unsafe impl<
        T: Entity,
        U: ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for Named<T, U> {
        type InPlace<'__b> = NamedRef<
            '__b,
            T,
            <U as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Named<T, U>| match of {
                Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
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
            let _ = |of @ _: &Named<T, U>| match of {
                Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
            };
            let Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).value,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(&raw mut (*slot).of, __part_2, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<
        T: Entity + 'static,
        U: ::jstream::__private::Covariant,
    > ::jstream::__private::Covariant for Named<T, U> {}
    #[automatically_derived]
    impl<T: Entity, U: ::jstream::__private::Restore> ::jstream::__private::Restore
    for Named<T, U> {
        #[inline]
        fn restore<'__b>(
            form @ _: &NamedRef<
                '__b,
                T,
                <U as ::jstream::__private::Transportable>::InPlace<'__b>,
            >,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Named<T, U>| match of {
                Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
            };
            ::core::result::Result::Ok(
                match form {
                    NamedRef {
                        name: __part_0 @ _,
                        value: __part_1 @ _,
                        of: __part_2 @ _,
                    } => {
                        Named {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            value: ::jstream::__private::restore_field(
                                __part_1,
                                restoring,
                            )?,
                            of: ::jstream::__private::restore_field(__part_2, restoring)?,
                        }
                    }
                },
            )
        }
    }
};
