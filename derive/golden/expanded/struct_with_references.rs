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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __long, shield as __of, shield as __part_0,
        shield as __part_1, shield as __part_2, shield as __part_3, shield as __pass,
        shield as __place, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &Order<'b>) {
            let Order {
                id: __part_0 @ _,
                symbol: __part_1 @ _,
                legs: __part_2 @ _,
                parent: __part_3 @ _,
            } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Order<'b> {
        type InPlace<'__b> = Order<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Order<'b>| match __of {
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
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).id
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).symbol
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).legs
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).parent
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Order<'b>| match __of {
                        Order { legs: __part_2 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_2)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::written(|__of: &Order<'b>| match __of {
                        Order { parent: __part_3 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_3)
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
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let Order {
                id: __part_0 @ _,
                symbol: __part_1 @ _,
                legs: __part_2 @ _,
                parent: __part_3 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).id,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).symbol,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).legs,
                    __part_2,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).parent,
                    __part_3,
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
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*__place).id, __draft);
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).symbol,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).legs,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).parent,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for Order<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Order<'b>| match __of {
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
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).id
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).symbol
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).legs
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).parent
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
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).id, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).symbol, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).legs, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).parent, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).id)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).symbol)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).legs)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).parent)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("id");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).id, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("symbol");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).symbol, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("legs");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).legs, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("parent");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).parent, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Order<'b>| match __of {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &Order<'b>| match __of {
                        Order { legs: __part_2 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_2)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::read_in_place(|__of: &Order<'b>| match __of {
                        Order { parent: __part_3 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_3)
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
                    "Order",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "id",
                                ::jstream::__private::core::mem::offset_of!(Self, id),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).id },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "symbol",
                                ::jstream::__private::core::mem::offset_of!(Self, symbol),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).symbol },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "legs",
                                ::jstream::__private::core::mem::offset_of!(Self, legs),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).legs },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "parent",
                                ::jstream::__private::core::mem::offset_of!(Self, parent),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).parent },
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
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                Order<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<Order<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Order<'static>>();
};
