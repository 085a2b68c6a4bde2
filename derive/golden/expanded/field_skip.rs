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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(of @ _: &Order<'b>) {
            let Order { symbol: __part_0 @ _, handle: __part_1 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Order<'b> {
        type InPlace<'__b> = Order<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    let _ = __part_1;
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).symbol
                        }),
                    )
                    .and(::jstream::__private::MemoryLayout::OTHER)
                    .fills(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    let _ = __part_1;
                }
            };
            let Order { symbol: __part_0 @ _, handle: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).symbol,
                    __part_0,
                    draft,
                );
                let _ = __part_1;
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
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    let _ = __part_1;
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).symbol, draft);
                ::jstream::__private::erase_field(&raw mut (*place).handle, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for Order<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).symbol
                    }),
                )
                .and(::jstream::__private::Shape::MADE)
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).symbol, pass)?;
                ::jstream::__private::make_default(&raw mut (*slot).handle);
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).symbol)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
                }
            };
            trace.enter("symbol");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).symbol, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Order<'b>| match of {
                Order { symbol: __part_0 @ _, handle: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).has_a_default();
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
                                "symbol",
                                ::core::mem::offset_of!(Self, symbol),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).symbol },
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
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Owner`], as it is in a receive buffer.
#[repr(C)]
struct OwnerRef<'b> {
    name: &'b ::core::primitive::str,
    lock: (),
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
        fn all_fields<'b>(of @ _: &OwnerRef<'b>) {
            let OwnerRef { name: __part_0 @ _, lock: __part_1 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for OwnerRef<'b> {
        type InPlace<'__b> = OwnerRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).name
                        }),
                    )
                    .and(::jstream::__private::MemoryLayout::OTHER)
                    .fills(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let OwnerRef { name: __part_0 @ _, lock: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                let _ = __part_1;
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
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).name, draft);
                ::jstream::__private::erase_field(&raw mut (*place).lock, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for OwnerRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).name
                    }),
                )
                .and(::jstream::__private::Shape::MADE)
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).name, pass)?;
                ::jstream::__private::make_default(&raw mut (*slot).lock);
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).name)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).name, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            schema
                .define::<
                    Self,
                >(
                    "OwnerRef",
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
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for OwnerRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                OwnerRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<OwnerRef<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<OwnerRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Owner {
        type InPlace<'__b> = OwnerRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
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
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    let _ = __part_1;
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let Owner { name: __part_0 @ _, lock: __part_1 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                let _ = __part_1;
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Owner {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Owner {
        #[inline]
        fn restore<'__b>(
            form @ _: &OwnerRef<'__b>,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |both @ _: (&Owner, &OwnerRef<'_>)| match both {
                (
                    Owner { name: __part_0 @ _, lock: __part_1 @ _ },
                    OwnerRef { name: __part_0_form @ _, lock: __part_1_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).has_a_default();
                    ::jstream::__private::asked(__part_1_form).has_a_default();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::core::result::Result::Ok(
                match form {
                    OwnerRef { name: __part_0 @ _, lock: __part_1 @ _ } => {
                        Owner {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            lock: {
                                let _ = __part_1;
                                ::core::default::Default::default()
                            },
                        }
                    }
                },
            )
        }
    }
    impl<'__b> OwnerRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::core::result::Result<Owner, ::jstream::__private::RestoreError> {
            ::jstream::__private::restore::<Owner>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::core::fmt::Debug for OwnerRef<'__b>
    where
        &'__b Owner: ::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                OwnerRef { name: __part_0 @ _, lock: __part_1 @ _ } => {
                    ::core::fmt::Formatter::debug_struct(__formatter, "OwnerRef")
                        .field(
                            "name",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .field(
                            "lock",
                            (&::jstream::__private::Shown(__part_1)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
