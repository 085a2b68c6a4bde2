///The in-place form of [`Order`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
pub type OrderRef<'b> = Order<'b>;
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
        fn all_fields<'b>(of @ _: &Order<'b>) {
            let Order {
                id: __part_0 @ _,
                symbol: __part_1 @ _,
                legs: __part_2 @ _,
                parent: __part_3 @ _,
            } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Order<'b> {
        type InPlace<'__b> = Order<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).id
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).symbol
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).legs
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).parent
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
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            let Order {
                id: __part_0 @ _,
                symbol: __part_1 @ _,
                legs: __part_2 @ _,
                parent: __part_3 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(&raw mut (*slot).id, __part_0, draft);
                ::jstream::__private::write_field(
                    &raw mut (*slot).symbol,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).legs,
                    __part_2,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).parent,
                    __part_3,
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
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).id, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).symbol, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).legs, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).parent, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for Order<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).id
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).symbol
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).legs
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).parent
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).id, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).symbol, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).legs, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).parent, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).id)?;
                    ::jstream::__private::verify_own(&raw const (*slot).symbol)?;
                    ::jstream::__private::verify_own(&raw const (*slot).legs)?;
                    ::jstream::__private::verify_own(&raw const (*slot).parent)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            trace.enter("id");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).id, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("symbol");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).symbol, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("legs");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).legs, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("parent");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).parent, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Order<'b>| match of {
                Order {
                    id: __part_0 @ _,
                    symbol: __part_1 @ _,
                    legs: __part_2 @ _,
                    parent: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "Order",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "id",
                                ::core::mem::offset_of!(Self, id),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).id },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "symbol",
                                ::core::mem::offset_of!(Self, symbol),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).symbol },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "legs",
                                ::core::mem::offset_of!(Self, legs),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).legs },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "parent",
                                ::core::mem::offset_of!(Self, parent),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).parent },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for Order<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                Order<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<Order<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Order<'static>>();
};
