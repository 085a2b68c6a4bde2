///The in-place form of [`Order`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type OrderRef<'b> = Order<'b>;
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
        shield as __draft, shield as __index, shield as __long, shield as __of,
        shield as __part_0, shield as __part_1, shield as __part_2, shield as __part_3,
        shield as __pass, shield as __place, shield as __schema, shield as __slot,
        shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &Order<'b>) {
            let Order {
                symbol: __part_0 @ _,
                handle: __part_1 @ _,
                currency: __part_2 @ _,
                quantity: __part_3 @ _,
            } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Order<'b> {
        type InPlace<'__b> = Order<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Order<'b>| match __of {
                Order {
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).symbol
                        }),
                    )
                    .and(::jstream::__private::MemoryLayout::OTHER)
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).currency
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).quantity
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
            let _ = |__of @ _: &Order<'b>| match __of {
                Order {
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            let Order {
                symbol: __part_0 @ _,
                handle: __part_1 @ _,
                currency: __part_2 @ _,
                quantity: __part_3 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).symbol,
                    __part_0,
                    __draft,
                );
                let _ = __part_1;
                ::jstream::__private::write_field(
                    &raw mut (*__slot).currency,
                    __part_2,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).quantity,
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
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).symbol,
                    __draft,
                );
                ::jstream::__private::erase_field(&raw mut (*__place).handle, __draft);
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).currency,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).quantity,
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
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).symbol
                    }),
                )
                .and(::jstream::__private::Shape::MADE)
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).currency
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).quantity
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
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).symbol, __pass)?;
                ::jstream::__private::make_default(&raw mut (*__slot).handle);
                ::jstream::__private::read_own(&raw mut (*__slot).currency, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).quantity, __pass)?;
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
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).symbol)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).currency)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).quantity)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Order<'b>| match __of {
                Order {
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            __trace.enter("symbol");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).symbol, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("currency");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).currency, __trace);
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
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Order<'b>| match __of {
                Order {
                    symbol: __part_0 @ _,
                    handle: __part_1 @ _,
                    currency: __part_2 @ _,
                    quantity: __part_3 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                    ::jstream::__private::asked(__part_2).arrives_as_itself();
                    ::jstream::__private::asked(__part_3).arrives_as_itself();
                }
            };
            let __index @ _ = __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Order",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "symbol",
                                ::jstream::__private::core::mem::offset_of!(Self, symbol),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).symbol },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "currency",
                                ::jstream::__private::core::mem::offset_of!(Self, currency),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).currency },
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
                        ]),
                    ),
                );
            __schema
                .set_rules(
                    __index,
                    ::jstream::__private::type_rules(
                        &["Auftrag"],
                        ::jstream::__private::list([
                            (
                                0,
                                ::jstream::__private::field_rules(
                                    &["sym", "ticker"],
                                    ::jstream::__private::core::option::Option::None,
                                    false,
                                    false,
                                ),
                            ),
                            (
                                1,
                                ::jstream::__private::field_rules(
                                    &[],
                                    ::jstream::__private::core::option::Option::Some(|| {
                                        ::jstream::__private::check_type_of::<&'b str>()
                                            .write_value(|| ::jstream::__private::text_default("EUR"))
                                    }),
                                    false,
                                    true,
                                ),
                            ),
                            (
                                2,
                                ::jstream::__private::field_rules(
                                    &[],
                                    ::jstream::__private::core::option::Option::Some(|| {
                                        ::jstream::__private::check_type_of::<u16>().write_default()
                                    }),
                                    true,
                                    false,
                                ),
                            ),
                        ]),
                        ::jstream::__private::list([]),
                    ),
                );
            __index
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
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Player`], as it is in a receive buffer.
#[repr(C)]
struct PlayerRef<'b> {
    name: &'b ::jstream::__private::core::primitive::str,
    scores: ::jstream::map::HashedMap<'b, u32, u64>,
    weights: &'b mut [f64],
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
        shield as __index, shield as __long, shield as __of, shield as __part_0,
        shield as __part_0_form, shield as __part_1, shield as __part_1_form,
        shield as __part_2, shield as __part_2_form, shield as __pass, shield as __place,
        shield as __restoring, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &PlayerRef<'b>) {
            let PlayerRef {
                name: __part_0 @ _,
                scores: __part_1 @ _,
                weights: __part_2 @ _,
            } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for PlayerRef<'b> {
        type InPlace<'__b> = PlayerRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
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
                            &raw const (*__of).scores
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).weights
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { scores: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::written(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { weights: __part_2 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_2)
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
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let PlayerRef {
                name: __part_0 @ _,
                scores: __part_1 @ _,
                weights: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).scores,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).weights,
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
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).name,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).scores,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).weights,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for PlayerRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).scores
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).weights
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
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).name, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).scores, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).weights, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).scores)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).weights)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).name, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("scores");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).scores, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("weights");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).weights, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { scores: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::read_in_place(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { weights: __part_2 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_2)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                ]
            });
            let __index @ _ = __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "PlayerRef",
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
                                "scores",
                                ::jstream::__private::core::mem::offset_of!(Self, scores),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).scores },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "weights",
                                ::jstream::__private::core::mem::offset_of!(Self, weights),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).weights },
                                ),
                            ),
                        ]),
                    ),
                );
            __schema
                .set_rules(
                    __index,
                    ::jstream::__private::type_rules(
                        &["SpielerRef", "Spieler"],
                        ::jstream::__private::list([
                            (
                                0,
                                ::jstream::__private::field_rules(
                                    &[],
                                    ::jstream::__private::core::option::Option::Some(|| {
                                        ::jstream::__private::check_type_of::<String>()
                                            .write_value(|| Player::anonymous())
                                    }),
                                    false,
                                    false,
                                ),
                            ),
                            (
                                1,
                                ::jstream::__private::field_rules(
                                    &[],
                                    ::jstream::__private::core::option::Option::Some(|| {
                                        ::jstream::__private::check_type_of::<HashMap<u32, u64>>()
                                            .write_default()
                                    }),
                                    false,
                                    false,
                                ),
                            ),
                            (
                                2,
                                ::jstream::__private::field_rules(
                                    &[],
                                    ::jstream::__private::core::option::Option::Some(|| ::jstream::__private::exclusive_default(
                                        ::jstream::__private::check_type_of::<Vec<f64>>()
                                            .write_value(|| Vec::new()),
                                        ::jstream::__private::check_type_of::<&'b mut [f64]>(),
                                    )),
                                    false,
                                    false,
                                ),
                            ),
                        ]),
                        ::jstream::__private::list([]),
                    ),
                );
            __index
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for PlayerRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                PlayerRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<PlayerRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<PlayerRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Player {
        type InPlace<'__b> = PlayerRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Player| match __of {
                        Player { scores: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::written(|__of: &Player| match __of {
                        Player { weights: __part_2 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_2)
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
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let Player {
                name: __part_0 @ _,
                scores: __part_1 @ _,
                weights: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).scores,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_exclusive(
                    &raw mut (*__slot).weights,
                    __part_2,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Player {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Player {
        #[inline]
        fn restore<'__b>(
            __form @ _: &PlayerRef<'__b>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__both @ _: (&Player, &PlayerRef<'_>)| match __both {
                (
                    Player {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        scores: __part_1_form @ _,
                        weights: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_2_form;
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    PlayerRef {
                        name: __part_0 @ _,
                        scores: __part_1 @ _,
                        weights: __part_2 @ _,
                    } => {
                        Player {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            scores: ::jstream::__private::restore_field(
                                __part_1,
                                __restoring,
                            )?,
                            weights: ::jstream::__private::restore_exclusive(
                                &**__part_2,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
    impl<'__b> PlayerRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::jstream::__private::core::result::Result<
            Player,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Player>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for PlayerRef<'__b>
    where
        &'__b Player: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                PlayerRef {
                    name: __part_0 @ _,
                    scores: __part_1 @ _,
                    weights: __part_2 @ _,
                } => {
                    ::jstream::__private::core::fmt::Formatter::debug_struct(
                            __formatter,
                            "PlayerRef",
                        )
                        .field(
                            "name",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .field(
                            "scores",
                            (&::jstream::__private::Shown(__part_1)).shown_field(),
                        )
                        .field(
                            "weights",
                            (&::jstream::__private::Shown(__part_2)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Event`], as it is in a receive buffer.
#[repr(u8)]
enum EventRef<'b> {
    Unknown,
    Named(&'b ::jstream::__private::core::primitive::str),
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
        shield as __index, shield as __long, shield as __meant, shield as __of,
        shield as __part_0, shield as __part_0_form, shield as __pass, shield as __place,
        shield as __restoring, shield as __schema, shield as __slot, shield as __start,
        shield as __tag, shield as __trace, shield as __value,
    };
    const __TAG_0: ::jstream::__private::core::primitive::u8 = 0;
    const __TAG_1: ::jstream::__private::core::primitive::u8 = __TAG_0 + 1;
    #[repr(C)]
    struct __Variant1<'b> {
        tag: ::jstream::__private::core::primitive::u8,
        __part_0: &'b ::jstream::__private::core::primitive::str,
        of: ::jstream::__private::core::marker::PhantomData<EventRef<'b>>,
    }
    const _: () = {
        fn same_types<'b>(__of @ _: &mut EventRef<'b>) {
            match __of {
                EventRef::Unknown {} => {}
                EventRef::Named { 0: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |__of: *mut __Variant1<'b>| unsafe { &raw mut (*__of).__part_0 },
                    );
                }
            }
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for EventRef<'b> {
        type InPlace<'__b> = EventRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            false
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            match self {
                EventRef::Unknown {} => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_0)
                    };
                }
                EventRef::Named { 0: __part_0 @ _ } => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_1)
                    };
                    let __slot = __slot.cast::<__Variant1<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*__slot).__part_0,
                            __part_0,
                            __draft,
                        );
                    }
                }
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
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let __tag = unsafe {
                __place.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {}
                __TAG_1 => {
                    let __place = __place.cast::<__Variant1<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*__place).__part_0,
                            __draft,
                        );
                    }
                }
                _ => {}
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for EventRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            {
                ::jstream::__private::core::assert!(
                    ::jstream::__private::core::mem::size_of:: < Self > () >=
                    ::jstream::__private::core::mem::size_of:: <
                    ::jstream::__private::core::primitive::u8 > () &&
                    ::jstream::__private::core::mem::size_of:: < Self > () >=
                    ::jstream::__private::core::mem::size_of:: < __Variant1 < 'b > > (),
                    "the enum is not laid out as its `repr` says"
                );
                let mut __value = ::jstream::__private::core::mem::MaybeUninit::<
                    Self,
                >::uninit();
                let __start = __value.as_mut_ptr();
                unsafe {
                    ::jstream::__private::core::ptr::write_bytes(__start, 0xa5, 1)
                };
                unsafe {
                    __start
                        .cast::<::jstream::__private::core::primitive::u8>()
                        .write(__TAG_0)
                };
                let __meant = unsafe {
                    match *__start {
                        EventRef::Unknown {} => true,
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::jstream::__private::core::assert!(
                    __meant, "the enum is not laid out as its `repr` says"
                );
                let mut __value = ::jstream::__private::core::mem::MaybeUninit::<
                    Self,
                >::uninit();
                let __start = __value.as_mut_ptr();
                unsafe {
                    ::jstream::__private::core::ptr::write_bytes(__start, 0xa5, 1)
                };
                unsafe {
                    __start
                        .cast::<::jstream::__private::core::primitive::u8>()
                        .write(__TAG_1)
                };
                let __meant = unsafe {
                    match *__start {
                        EventRef::Named { 0: ref __part_0 } => {
                            true
                                && ::jstream::__private::offset_in(__start, __part_0)
                                    == ::jstream::__private::core::mem::offset_of!(
                                        __Variant1 < 'b >, __part_0
                                    )
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::jstream::__private::core::assert!(
                    __meant, "the enum is not laid out as its `repr` says"
                );
                ::jstream::__private::with_fields(
                    ::jstream::__private::Shape::NOTHING
                        .and(
                            ::jstream::__private::shape_of_own(|
                                __of: *const __Variant1<'b>|
                            unsafe { &raw const (*__of).__part_0 }),
                        ),
                    ::jstream::__private::core::mem::size_of::<Self>(),
                    ::jstream::__private::core::mem::size_of::<
                        ::jstream::__private::core::primitive::u8,
                    >(),
                    [
                        __TAG_0 as ::jstream::__private::core::primitive::i128,
                        __TAG_1 as ::jstream::__private::core::primitive::i128,
                    ],
                )
            }
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::READ;
        #[inline]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            const {
                ::jstream::__private::core::assert!(
                    ! < Self as ::jstream::__private::InPlace > ::SHAPE.plain
                )
            };
            let __tag = unsafe {
                __slot.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {}
                __TAG_1 => {
                    let __slot = __slot.cast::<__Variant1<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(
                            &raw mut (*__slot).__part_0,
                            __pass,
                        )?;
                    }
                }
                _ => {
                    return ::jstream::__private::core::result::Result::Err(
                        ::jstream::__private::Fault::new(
                            __slot,
                            ::jstream::__private::FaultKind::Invalid,
                        ),
                    );
                }
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                let __tag = unsafe {
                    __slot.cast::<::jstream::__private::core::primitive::u8>().read()
                };
                match __tag {
                    __TAG_0 => {}
                    __TAG_1 => {
                        let __slot = __slot.cast::<__Variant1<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*__slot).__part_0,
                            )?;
                        }
                    }
                    _ => {}
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if __trace.hit(__slot) {
                return;
            }
            let __tag = unsafe {
                __slot.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {}
                __TAG_1 => {
                    let __slot = __slot.cast::<__Variant1<'b>>();
                    unsafe {
                        __trace.enter("0");
                        ::jstream::__private::trace_own(
                            &raw const (*__slot).__part_0,
                            __trace,
                        );
                        if __trace.leave() {
                            return;
                        }
                    }
                }
                _ => {}
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let __index @ _ = __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "EventRef",
                    &mut |__schema| ::jstream::__private::Kind::Enum {
                        tag: ::jstream::__private::core::mem::size_of::<
                            ::jstream::__private::core::primitive::u8,
                        >(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "Unknown",
                                __TAG_0 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Named",
                                __TAG_1 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "0",
                                        ::jstream::__private::core::mem::offset_of!(
                                            __Variant1 < 'b >, __part_0
                                        ),
                                        ::jstream::__private::describe_own(
                                            __schema,
                                            |__of: *const __Variant1<'b>| unsafe {
                                                &raw const (*__of).__part_0
                                            },
                                        ),
                                    ),
                                ]),
                            ),
                        ]),
                    },
                );
            __schema
                .set_rules(
                    __index,
                    ::jstream::__private::type_rules(
                        &[],
                        ::jstream::__private::list([]),
                        ::jstream::__private::list([
                            (
                                0,
                                ::jstream::__private::variant_rules(
                                    &[],
                                    true,
                                    ::jstream::__private::list([]),
                                ),
                            ),
                            (
                                1,
                                ::jstream::__private::variant_rules(
                                    &["Called"],
                                    false,
                                    ::jstream::__private::list([
                                        (
                                            0,
                                            ::jstream::__private::field_rules(
                                                &[],
                                                ::jstream::__private::core::option::Option::Some(|| {
                                                    ::jstream::__private::check_type_of::<String>()
                                                        .write_value(|| ::jstream::__private::text_default("none"))
                                                }),
                                                false,
                                                false,
                                            ),
                                        ),
                                    ]),
                                ),
                            ),
                        ]),
                    ),
                );
            __index
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for EventRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                EventRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<EventRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<EventRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Event {
        type InPlace<'__b> = EventRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            match self {
                Event::Unknown {} => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_0)
                    };
                }
                Event::Named { 0: __part_0 @ _ } => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_1)
                    };
                    let __slot = __slot.cast::<__Variant1<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*__slot).__part_0,
                            __part_0,
                            __draft,
                        );
                    }
                }
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Event {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Event {
        #[inline]
        fn restore<'__b>(
            __form @ _: &EventRef<'__b>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__both @ _: (&Event, &EventRef<'_>)| match __both {
                (Event::Unknown {}, EventRef::Unknown {}) => {}
                (
                    Event::Named { 0: __part_0 @ _ },
                    EventRef::Named { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    EventRef::Unknown {} => Event::Unknown {},
                    EventRef::Named { 0: __part_0 @ _ } => {
                        Event::Named {
                            0: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
    impl<'__b> EventRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::jstream::__private::core::result::Result<
            Event,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Event>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for EventRef<'__b>
    where
        &'__b Event: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                EventRef::Unknown {} => {
                    ::jstream::__private::core::fmt::Formatter::write_str(
                        __formatter,
                        "Unknown",
                    )
                }
                EventRef::Named { 0: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_tuple(
                            __formatter,
                            "Named",
                        )
                        .field((&::jstream::__private::Shown(__part_0)).shown_field())
                        .finish()
                }
            }
        }
    }
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Generic`], as it is in a receive buffer.
#[repr(C)]
struct GenericRef<'b, T> {
    all: &'b [T],
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
        shield as __draft, shield as __form, shield as __index, shield as __of,
        shield as __part_0, shield as __pass, shield as __place, shield as __restoring,
        shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b, T>(__of @ _: &GenericRef<'b, T>) {
            let GenericRef { all: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<
        'b,
        T: ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for GenericRef<'b, T>
    where
        for<'__x> <T as ::jstream::__private::Transportable>::InPlace<'__x>: Default,
        for<'__x> <T as ::jstream::__private::Transportable>::InPlace<
            '__x,
        >: ::jstream::__private::Transportable,
    {
        type InPlace<'__b> = GenericRef<
            '__b,
            <T as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).all
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
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let GenericRef { all: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).all,
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
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*__place).all, __draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b, T: ::jstream::__private::InPlace> ::jstream::__private::InPlace
    for GenericRef<'b, T>
    where
        T: Default,
        T: ::jstream::__private::Transportable,
    {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).all
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
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            unsafe {
                ::jstream::__private::InPlace::read(&raw mut (*__slot).all, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).all)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            __trace.enter("all");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*__slot).all, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &GenericRef<'b, T>| match __of {
                GenericRef { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_in_place();
                }
            };
            let __index @ _ = __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "GenericRef",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "all",
                                ::jstream::__private::core::mem::offset_of!(Self, all),
                                ::jstream::__private::describe(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).all },
                                ),
                            ),
                        ]),
                    ),
                );
            __schema
                .set_rules(
                    __index,
                    ::jstream::__private::type_rules(
                        &[],
                        ::jstream::__private::list([
                            (
                                0,
                                ::jstream::__private::field_rules(
                                    &[],
                                    ::jstream::__private::core::option::Option::Some(|| {
                                        ::jstream::__private::check_type_of::<Vec<T>>()
                                            .write_default()
                                    }),
                                    false,
                                    false,
                                ),
                            ),
                        ]),
                        ::jstream::__private::list([]),
                    ),
                );
            __index
        }
    }
    #[automatically_derived]
    unsafe impl<
        T: Default + ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for Generic<T>
    where
        for<'__x> <T as ::jstream::__private::Transportable>::InPlace<'__x>: Default,
        for<'__x> <T as ::jstream::__private::Transportable>::InPlace<
            '__x,
        >: ::jstream::__private::Transportable,
    {
        type InPlace<'__b> = GenericRef<
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
            let _ = |__of @ _: &Generic<T>| match __of {
                Generic { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let Generic { all: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).all,
                    __part_0,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    impl<T: Default + ::jstream::__private::Restore> ::jstream::__private::Restore
    for Generic<T>
    where
        for<'__x> <T as ::jstream::__private::Transportable>::InPlace<'__x>: Default,
        for<'__x> <T as ::jstream::__private::Transportable>::InPlace<
            '__x,
        >: ::jstream::__private::Transportable,
    {
        #[inline]
        fn restore<'__b>(
            __form @ _: &GenericRef<
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
            let _ = |__of @ _: &Generic<T>| match __of {
                Generic { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).travels();
                }
            };
            let _ = |__of @ _: &Generic<T>| match __of {
                Generic { all: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    GenericRef { all: __part_0 @ _ } => {
                        Generic {
                            all: ::jstream::__private::restore_field(
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
