///The in-place form of [`Id`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type IdRef<'b, T: ?::jstream::__private::core::marker::Sized> = Id<T>;
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
        fn all_fields<T: ?Sized>(__of @ _: &Id<T>) {
            let Id { number: __part_0 @ _, of: __part_1 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<T: ?Sized> ::jstream::__private::Transportable for Id<T> {
        type InPlace<'__b> = Id<T> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            false
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).number
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).of
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE;
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    let _ = __part_1;
                }
            };
            let Id { number: __part_0 @ _, of: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).number,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).of,
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
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).number,
                    __draft,
                );
                ::jstream::__private::write_field_back(&raw mut (*__place).of, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<T: ?Sized> ::jstream::__private::InPlace for Id<T> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).number
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).of
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE;
        #[inline(always)]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).number, __pass)?;
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
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).number)?;
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).of)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            __trace.enter("number");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).number, __trace);
            }
            if __trace.leave() {
                return;
            }
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
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).is_in_place();
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Id",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "number",
                                ::jstream::__private::core::mem::offset_of!(Self, number),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).number },
                                ),
                            ),
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
    unsafe impl<T: ?Sized + 'static> ::jstream::__private::Covariant for Id<T> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short, T: ?Sized>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Id<T>>,
        ) -> ::jstream::__private::core::marker::PhantomData<Id<T>> {
            __long
        }
    };
    #[automatically_derived]
    impl<T: ?Sized> ::jstream::__private::Restore for Id<T> {
        const IS_COPY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                &raw const (*__of).number
            })
                && ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                    &raw const (*__of).of
                })
        };
        #[inline]
        fn restore<'__b>(
            __form @ _: &Id<T>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).travels();
                }
            };
            let _ = |__of @ _: &Id<T>| match __of {
                Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Id { number: __part_0 @ _, of: __part_1 @ _ } => {
                        Id {
                            number: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            of: ::jstream::__private::restore_field(
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
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Named`], as it is in a receive buffer.
#[repr(C)]
struct NamedRef<'b, T, U> {
    name: &'b ::jstream::__private::core::primitive::str,
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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __form, shield as __long, shield as __of,
        shield as __part_0, shield as __part_1, shield as __part_2, shield as __pass,
        shield as __place, shield as __restoring, shield as __schema, shield as __slot,
        shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b, T, U>(__of @ _: &NamedRef<'b, T, U>) {
            let NamedRef { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } = __of;
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
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).name
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).value
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).of
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<U as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).value,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).of,
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
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).name,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).value,
                    __draft,
                );
                ::jstream::__private::write_field_back(&raw mut (*__place).of, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b, T, U: ::jstream::__private::InPlace> ::jstream::__private::InPlace
    for NamedRef<'b, T, U> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).value
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).of
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<U as ::jstream::__private::InPlace>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                ::jstream::__private::read_own(&raw mut (*__slot).name, __pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*__slot).value, __pass)?;
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
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                    ::jstream::__private::verify_own(&raw const (*__slot).name)?;
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).value)?;
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).of)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
            __trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).name, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("value");
            unsafe {
                ::jstream::__private::InPlace::trace(
                    &raw const (*__slot).value,
                    __trace,
                );
            }
            if __trace.leave() {
                return;
            }
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
            let _ = |__of @ _: &NamedRef<'b, T, U>| match __of {
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
                            ::jstream::__private::FieldInfo::new(
                                "value",
                                ::jstream::__private::core::mem::offset_of!(Self, value),
                                ::jstream::__private::describe(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).value },
                                ),
                            ),
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
    unsafe impl<
        'b,
        T: 'static,
        U: ::jstream::__private::Covariant,
    > ::jstream::__private::Covariant for NamedRef<'b, T, U> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short, T>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                NamedRef<
                    'long_unless_the_type_says_invariant,
                    T,
                    &'long_unless_the_type_says_invariant (),
                >,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<
            NamedRef<'short, T, &'short ()>,
        > {
            __long
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
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<U as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &Named<T, U>| match __of {
                Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
            };
            let Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).value,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).of,
                    __part_2,
                    __draft,
                );
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
            __form @ _: &NamedRef<
                '__b,
                T,
                <U as ::jstream::__private::Transportable>::InPlace<'__b>,
            >,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Named<T, U>| match __of {
                Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                }
            };
            let _ = |__of @ _: &Named<T, U>| match __of {
                Named { name: __part_0 @ _, value: __part_1 @ _, of: __part_2 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                    ::jstream::__private::asked(__part_2).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    NamedRef {
                        name: __part_0 @ _,
                        value: __part_1 @ _,
                        of: __part_2 @ _,
                    } => {
                        Named {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            value: ::jstream::__private::restore_field(
                                __part_1,
                                __restoring,
                            )?,
                            of: ::jstream::__private::restore_field(
                                __part_2,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
};
