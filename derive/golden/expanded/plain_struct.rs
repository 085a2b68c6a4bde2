///The in-place form of [`Leg`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
pub type LegRef<'b> = Leg;
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
        fn all_fields(__of @ _: &Leg) {
            let Leg {
                price: __part_0 @ _,
                quantity: __part_1 @ _,
                open: __part_2 @ _,
            } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Leg {
        type InPlace<'__b> = Leg where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).price
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).quantity
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).open
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
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                    ::jstream::__private::asked(__part_2).is_restored();
                }
            };
            let Leg {
                price: __part_0 @ _,
                quantity: __part_1 @ _,
                open: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).price,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).quantity,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).open,
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
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).price,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).quantity,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).open,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Leg {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).price
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).quantity
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).open
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
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).price, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).quantity, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).open, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).price)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).quantity)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).open)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            __trace.enter("price");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).price, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("quantity");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).quantity, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("open");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).open, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Leg",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "price",
                                ::jstream::__private::core::mem::offset_of!(Self, price),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).price },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "quantity",
                                ::jstream::__private::core::mem::offset_of!(Self, quantity),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).quantity },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "open",
                                ::jstream::__private::core::mem::offset_of!(Self, open),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).open },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Leg {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Leg>,
        ) -> ::jstream::__private::core::marker::PhantomData<Leg> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Leg>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Leg {
        const IS_COPY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                    ::jstream::__private::asked(__part_2).is_restored();
                }
            };
            ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                &raw const (*__of).price
            })
                && ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                    &raw const (*__of).quantity
                })
                && ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                    &raw const (*__of).open
                })
        };
        #[inline]
        fn restore<'__b>(
            __form @ _: &Leg,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Leg| match __of {
                Leg {
                    price: __part_0 @ _,
                    quantity: __part_1 @ _,
                    open: __part_2 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                    ::jstream::__private::asked(__part_2).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Leg {
                        price: __part_0 @ _,
                        quantity: __part_1 @ _,
                        open: __part_2 @ _,
                    } => {
                        Leg {
                            price: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            quantity: ::jstream::__private::restore_field(
                                __part_1,
                                __restoring,
                            )?,
                            open: ::jstream::__private::restore_field(
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
///The in-place form of [`Unit`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type UnitRef<'b> = Unit;
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
        shield as __pass, shield as __place, shield as __restoring, shield as __schema,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(__of @ _: &Unit) {
            let Unit {} = __of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Unit {
        type InPlace<'__b> = Unit where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            true
                && ::jstream::__private::MemoryLayout::NOTHING
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
            let Unit {} = self;
            unsafe {}
        }
        #[inline]
        unsafe fn write_back<'__b>(
            __place: *mut Self,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        )
        where
            Self: '__b,
        {
            unsafe {}
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Unit {
        const SHAPE: ::jstream::__private::Shape = {
            ::jstream::__private::Shape::NOTHING
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
            unsafe {}
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {}
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {}
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Unit",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Unit {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Unit>,
        ) -> ::jstream::__private::core::marker::PhantomData<Unit> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Unit>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Unit {
        #[inline]
        fn restore<'__b>(
            __form @ _: &Unit,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Unit {} => Unit {},
                },
            )
        }
    }
};
///The in-place form of [`Pair`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type PairRef<'b> = Pair;
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
        fn all_fields(__of @ _: &Pair) {
            let Pair { 0: __part_0 @ _, 1: __part_1 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Pair {
        type InPlace<'__b> = Pair where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).0
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).1
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Pair| match __of {
                        Pair { 1: __part_1 @ _, .. } => {
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
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let Pair { 0: __part_0 @ _, 1: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).0,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).1,
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
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*__place).0, __draft);
                ::jstream::__private::write_field_back(&raw mut (*__place).1, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Pair {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).0
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).1
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
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).0, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).1, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).0)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).1)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("0");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).0, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("1");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).1, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &Pair| match __of {
                        Pair { 1: __part_1 @ _, .. } => {
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
                    "Pair",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "0",
                                ::jstream::__private::core::mem::offset_of!(Self, 0),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).0 },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "1",
                                ::jstream::__private::core::mem::offset_of!(Self, 1),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).1 },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Pair {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Pair>,
        ) -> ::jstream::__private::core::marker::PhantomData<Pair> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Pair>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Pair {
        const IS_COPY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                &raw const (*__of).0
            })
                && ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                    &raw const (*__of).1
                })
        };
        #[inline]
        fn restore<'__b>(
            __form @ _: &Pair,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Pair| match __of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                    ::jstream::__private::asked(__part_1).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                        Pair {
                            0: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            1: ::jstream::__private::restore_field(
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
