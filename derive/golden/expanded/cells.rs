///The in-place form of [`Node`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type NodeRef<'b> = Node<'b>;
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
        shield as __draft, shield as __of, shield as __part_0, shield as __pass,
        shield as __place, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &Node<'b>) {
            let Node { next: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Node<'b> {
        type InPlace<'__b> = Node<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).next
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Node<'b>| match __of {
                        Node { next: __part_0 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_0)
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
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let Node { next: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).next,
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
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).next,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for Node<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).next
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
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).next, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).next)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("next");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).next, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Node<'b>| match __of {
                Node { next: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &Node<'b>| match __of {
                        Node { next: __part_0 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_0)
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
                    "Node",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "next",
                                ::jstream::__private::core::mem::offset_of!(Self, next),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).next },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    const _: () = ::jstream::__private::assert_form::<Node<'static>>();
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Graph`], as it is in a receive buffer.
#[repr(C)]
struct GraphRef<'b> {
    nodes: &'b [NodeRef<'b>],
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
        shield as __both, shield as __draft, shield as __of, shield as __part_0,
        shield as __part_0_form, shield as __pass, shield as __place, shield as __schema,
        shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &GraphRef<'b>) {
            let GraphRef { nodes: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for GraphRef<'b> {
        type InPlace<'__b> = GraphRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).nodes
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &GraphRef<'b>| match __of {
                        GraphRef { nodes: __part_0 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_0)
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
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let GraphRef { nodes: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).nodes,
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
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).nodes,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for GraphRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).nodes
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
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).nodes, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).nodes)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("nodes");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).nodes, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &GraphRef<'b>| match __of {
                        GraphRef { nodes: __part_0 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_0)
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
                    "GraphRef",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "nodes",
                                ::jstream::__private::core::mem::offset_of!(Self, nodes),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).nodes },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    const _: () = ::jstream::__private::assert_form::<GraphRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Graph {
        type InPlace<'__b> = GraphRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Graph| match __of {
                        Graph { nodes: __part_0 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_0)
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
            let _ = |__both @ _: (&Graph, &GraphRef<'_>)| match __both {
                (
                    Graph { nodes: __part_0 @ _ },
                    GraphRef { nodes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let Graph { nodes: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).nodes,
                    __part_0,
                    __draft,
                );
            }
        }
    }
};
