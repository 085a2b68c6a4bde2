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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(of @ _: &Leg) {
            let Leg {
                price: __part_0 @ _,
                quantity: __part_1 @ _,
                open: __part_2 @ _,
            } = of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Leg {
        type InPlace<'__b> = Leg where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Leg| match of {
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
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).price
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).quantity
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).open
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
            let _ = |of @ _: &Leg| match of {
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
            let Leg {
                price: __part_0 @ _,
                quantity: __part_1 @ _,
                open: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).price,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).quantity,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).open,
                    __part_2,
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
            let _ = |of @ _: &Leg| match of {
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
                ::jstream::__private::write_field_back(&raw mut (*place).price, draft);
                ::jstream::__private::write_field_back(
                    &raw mut (*place).quantity,
                    draft,
                );
                ::jstream::__private::write_field_back(&raw mut (*place).open, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Leg {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Leg| match of {
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
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).price
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).quantity
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).open
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Leg| match of {
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
                ::jstream::__private::read_own(&raw mut (*slot).price, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).quantity, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).open, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Leg| match of {
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
                    ::jstream::__private::verify_own(&raw const (*slot).price)?;
                    ::jstream::__private::verify_own(&raw const (*slot).quantity)?;
                    ::jstream::__private::verify_own(&raw const (*slot).open)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Leg| match of {
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
            trace.enter("price");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).price, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("quantity");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).quantity, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("open");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).open, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Leg| match of {
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
            schema
                .define::<
                    Self,
                >(
                    "Leg",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "price",
                                ::core::mem::offset_of!(Self, price),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).price },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "quantity",
                                ::core::mem::offset_of!(Self, quantity),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).quantity },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "open",
                                ::core::mem::offset_of!(Self, open),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).open },
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
            long @ _: ::core::marker::PhantomData<Leg>,
        ) -> ::core::marker::PhantomData<Leg> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Leg>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Leg {
        const IS_COPY: bool = {
            let _ = |of @ _: &Leg| match of {
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
            ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                &raw const (*of).price
            })
                && ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                    &raw const (*of).quantity
                })
                && ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                    &raw const (*of).open
                })
        };
        #[inline]
        fn restore<'__b>(
            form @ _: &Leg,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Leg| match of {
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
            ::core::result::Result::Ok(
                match form {
                    Leg {
                        price: __part_0 @ _,
                        quantity: __part_1 @ _,
                        open: __part_2 @ _,
                    } => {
                        Leg {
                            price: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            quantity: ::jstream::__private::restore_field(
                                __part_1,
                                restoring,
                            )?,
                            open: ::jstream::__private::restore_field(
                                __part_2,
                                restoring,
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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(of @ _: &Unit) {
            let Unit {} = of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Unit {
        type InPlace<'__b> = Unit where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .fills(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let Unit {} = self;
            unsafe {}
        }
        #[inline]
        unsafe fn write_back<'__b>(
            place: *mut Self,
            draft: &mut ::jstream::__private::Draft<'__b>,
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
            ::jstream::__private::Shape::NOTHING.within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            unsafe {}
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {}
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {}
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            schema
                .define::<
                    Self,
                >(
                    "Unit",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Unit {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<Unit>,
        ) -> ::core::marker::PhantomData<Unit> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Unit>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Unit {
        #[inline]
        fn restore<'__b>(
            form @ _: &Unit,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            ::core::result::Result::Ok(
                match form {
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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(of @ _: &Pair) {
            let Pair { 0: __part_0 @ _, 1: __part_1 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Pair {
        type InPlace<'__b> = Pair where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).0
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).1
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
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let Pair { 0: __part_0 @ _, 1: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(&raw mut (*slot).0, __part_0, draft);
                ::jstream::__private::write_field(&raw mut (*slot).1, __part_1, draft);
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
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).0, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).1, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Pair {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).0
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).1
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).0, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).1, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).0)?;
                    ::jstream::__private::verify_own(&raw const (*slot).1)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            trace.enter("0");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).0, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("1");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).1, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
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
                                "0",
                                ::core::mem::offset_of!(Self, 0),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).0 },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "1",
                                ::core::mem::offset_of!(Self, 1),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).1 },
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
            long @ _: ::core::marker::PhantomData<Pair>,
        ) -> ::core::marker::PhantomData<Pair> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Pair>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Pair {
        const IS_COPY: bool = {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                &raw const (*of).0
            })
                && ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                    &raw const (*of).1
                })
        };
        #[inline]
        fn restore<'__b>(
            form @ _: &Pair,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Pair| match of {
                Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::core::result::Result::Ok(
                match form {
                    Pair { 0: __part_0 @ _, 1: __part_1 @ _ } => {
                        Pair {
                            0: ::jstream::__private::restore_field(__part_0, restoring)?,
                            1: ::jstream::__private::restore_field(__part_1, restoring)?,
                        }
                    }
                },
            )
        }
    }
};
