#[derive(Debug, PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Player`], as it is in a receive buffer.
#[repr(C)]
pub struct PlayerRef<'b> {
    pub name: &'b ::core::primitive::str,
    inventory: &'b [ItemRef<'b>],
    spouse: ::core::option::Option<&'b PlayerRef<'b>>,
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
        fn all_fields<'b>(of @ _: &PlayerRef<'b>) {
            let PlayerRef {
                name: __part_0 @ _,
                inventory: __part_1 @ _,
                spouse: __part_2 @ _,
            } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for PlayerRef<'b> {
        type InPlace<'__b> = PlayerRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
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
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).inventory
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).spouse
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
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let PlayerRef {
                name: __part_0 @ _,
                inventory: __part_1 @ _,
                spouse: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).inventory,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).spouse,
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
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).name, draft);
                ::jstream::__private::write_field_back(
                    &raw mut (*place).inventory,
                    draft,
                );
                ::jstream::__private::write_field_back(&raw mut (*place).spouse, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for PlayerRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
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
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).inventory
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).spouse
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).name, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).inventory, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).spouse, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*slot).inventory)?;
                    ::jstream::__private::verify_own(&raw const (*slot).spouse)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
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
            trace.enter("inventory");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).inventory, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("spouse");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).spouse, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            schema
                .define::<
                    Self,
                >(
                    "PlayerRef",
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
                                "inventory",
                                ::core::mem::offset_of!(Self, inventory),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).inventory },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "spouse",
                                ::core::mem::offset_of!(Self, spouse),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).spouse },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for PlayerRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                PlayerRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<PlayerRef<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<PlayerRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Player {
        type InPlace<'__b> = PlayerRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
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
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            let Player {
                name: __part_0 @ _,
                inventory: __part_1 @ _,
                spouse: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).inventory,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).spouse,
                    __part_2,
                    draft,
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
            form @ _: &PlayerRef<'__b>,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |both @ _: (&Player, &PlayerRef<'_>)| match both {
                (
                    Player {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    },
                    PlayerRef {
                        name: __part_0_form @ _,
                        inventory: __part_1_form @ _,
                        spouse: __part_2_form @ _,
                    },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::check_type_with_form(__part_1, __part_1_form)
                        .agree();
                    ::jstream::__private::asked(__part_2).travels();
                    ::jstream::__private::check_type_with_form(__part_2, __part_2_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::core::result::Result::Ok(
                match form {
                    PlayerRef {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    } => {
                        Player {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
                            )?,
                            inventory: ::jstream::__private::restore_field(
                                __part_1,
                                restoring,
                            )?,
                            spouse: ::jstream::__private::restore_field(
                                __part_2,
                                restoring,
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
        pub fn to_owned(
            &self,
        ) -> ::core::result::Result<Player, ::jstream::__private::RestoreError> {
            ::jstream::__private::restore::<Player>(self)
        }
    }
};
