#[derive(Debug, PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Player`], as it is in a receive buffer.
#[repr(C)]
pub struct PlayerRef<'b> {
    pub name: &'b ::jstream::__private::core::primitive::str,
    inventory: &'b [ItemRef<'b>],
    spouse: ::jstream::__private::core::option::Option<&'b PlayerRef<'b>>,
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
        shield as __both, shield as __draft, shield as __form, shield as __long,
        shield as __of, shield as __part_0, shield as __part_0_form, shield as __part_1,
        shield as __part_1_form, shield as __part_2, shield as __part_2_form,
        shield as __pass, shield as __place, shield as __restoring, shield as __schema,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &PlayerRef<'b>) {
            let PlayerRef {
                name: __part_0 @ _,
                inventory: __part_1 @ _,
                spouse: __part_2 @ _,
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
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).name
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).inventory
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).spouse
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { inventory: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::written(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { spouse: __part_2 @ _, .. } => {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let PlayerRef {
                name: __part_0 @ _,
                inventory: __part_1 @ _,
                spouse: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).inventory,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).spouse,
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).name,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).inventory,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).spouse,
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
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).inventory
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).spouse
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).name, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).inventory, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).spouse, __pass)?;
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).inventory)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).spouse)?;
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).name, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("inventory");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).inventory, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("spouse");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).spouse, __trace);
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { inventory: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::read_in_place(|__of: &PlayerRef<'b>| match __of {
                        PlayerRef { spouse: __part_2 @ _, .. } => {
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
            __schema
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
                                "inventory",
                                ::jstream::__private::core::mem::offset_of!(
                                    Self, inventory
                                ),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).inventory },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "spouse",
                                ::jstream::__private::core::mem::offset_of!(Self, spouse),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).spouse },
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Player| match __of {
                        Player { inventory: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => ::jstream::__private::core::option::Option::None,
                    }),
                    ::jstream::__private::written(|__of: &Player| match __of {
                        Player { spouse: __part_2 @ _, .. } => {
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
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let Player {
                name: __part_0 @ _,
                inventory: __part_1 @ _,
                spouse: __part_2 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).inventory,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).spouse,
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
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    PlayerRef {
                        name: __part_0 @ _,
                        inventory: __part_1 @ _,
                        spouse: __part_2 @ _,
                    } => {
                        Player {
                            name: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                            inventory: ::jstream::__private::restore_field(
                                __part_1,
                                __restoring,
                            )?,
                            spouse: ::jstream::__private::restore_field(
                                __part_2,
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
        pub fn to_owned(
            &self,
        ) -> ::jstream::__private::core::result::Result<
            Player,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Player>(self)
        }
    }
};
