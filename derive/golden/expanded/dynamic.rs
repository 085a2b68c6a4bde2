pub trait Shape: ::jstream::__private::Dynamic {
    fn area(&self) -> f64;
}
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "named after the trait")]
pub struct __ShapeImplementation(
    ::jstream::__private::Castable<
        for<'x> fn(
            *const ::jstream::__private::core::primitive::u8,
            ::jstream::__private::core::marker::PhantomData<&'x ()>,
        ) -> *const (dyn Shape + 'x),
    >,
);
#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    reason = "generated code"
)]
const _: () = {
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __cast, shield as __draft, shield as __edge, shield as __form,
        shield as __has_the_attribute_transportable, shield as __one, shield as __pass,
        shield as __registry, shield as __schema, shield as __slot, shield as __target,
        shield as __trace,
    };
    ::jstream::__private::inventory::collect!(__ShapeImplementation);
    unsafe impl ::jstream::__private::Implementation for __ShapeImplementation {
        const TRAIT: &'static ::jstream::__private::core::primitive::str = "Shape";
        fn class(&self) -> &::jstream::__private::Class {
            self.0.class()
        }
        fn registry() -> &'static ::jstream::__private::Registry<Self> {
            static REGISTRY: ::jstream::__private::OnceLock<
                ::jstream::__private::Registry<__ShapeImplementation>,
            > = ::jstream::__private::OnceLock::new();
            REGISTRY
                .get_or_init(|| {
                    ::jstream::__private::Registry::new(
                        ::jstream::__private::core::iter::IntoIterator::into_iter(
                            ::jstream::__private::inventory::iter::<
                                __ShapeImplementation,
                            >,
                        ),
                    )
                })
        }
    }
    impl ::jstream::__private::Registered for dyn Shape {
        type Implementation = __ShapeImplementation;
    }
    impl dyn Shape {
        /// Returns the entry of one implementation for the registry. Class and cast are made
        /// from the same type parameter, so they always belong together.
        #[doc(hidden)]
        pub const fn __has_the_attribute_transportable<__T>() -> __ShapeImplementation
        where
            __T: ::jstream::__private::Transportable + 'static,
            for<'x> <__T as ::jstream::__private::Transportable>::InPlace<'x>: Shape,
        {
            fn __cast<'x, __T>(
                __form @ _: *const ::jstream::__private::core::primitive::u8,
                _: ::jstream::__private::core::marker::PhantomData<&'x ()>,
            ) -> *const (dyn Shape + 'x)
            where
                __T: ::jstream::__private::Transportable + 'static,
                for<'y> <__T as ::jstream::__private::Transportable>::InPlace<'y>: Shape,
            {
                __form
                    .cast::<<__T as ::jstream::__private::Transportable>::InPlace<'x>>()
            }
            __ShapeImplementation(unsafe {
                ::jstream::__private::Castable::new(
                    ::jstream::__private::Class::of::<__T>(),
                    __cast::<__T>,
                )
            })
        }
    }
    unsafe impl<'x> ::jstream::__private::Pointee for dyn Shape + 'x {
        fn claim(
            __edge: ::jstream::__private::Edge,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            *const Self,
            ::jstream::__private::Fault,
        > {
            let __registry = <__ShapeImplementation as ::jstream::__private::Implementation>::registry();
            let __one = __registry.of_edge(&__edge)?;
            let __target = __one.0.class().claim(__edge, __pass)?;
            ::jstream::__private::core::result::Result::Ok(
                (__one
                    .0
                    .cast())(__target, ::jstream::__private::core::marker::PhantomData),
            )
        }
        unsafe fn read_now(
            __target: *const Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            unsafe { ::jstream::__private::Class::read_now(__target.cast(), __pass) }
        }
        unsafe fn trace_target(
            __slot: *const &Self,
            __target: *const Self,
            __trace: &mut ::jstream::__private::Trace,
        ) {
            unsafe { __trace.dynamic(__slot, __target.cast()) };
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            ::jstream::__private::describe_dynamic::<dyn Shape>(__schema, "Shape")
        }
    }
    unsafe impl<'x> ::jstream::__private::Target for dyn Shape + 'x {
        type InPlace<'b> = dyn Shape + 'b where Self: 'b;
        fn write_target<'b>(
            &'b self,
            __draft: &mut ::jstream::__private::Draft<'b>,
        ) -> [::jstream::__private::core::primitive::u64; 2] {
            ::jstream::__private::write_dynamic::<__ShapeImplementation>(self, __draft)
        }
        fn meta(&self) -> ::jstream::__private::core::primitive::u64 {
            ::jstream::__private::class_of::<__ShapeImplementation>(self)
        }
    }
    unsafe impl<'x> ::jstream::__private::CovariantTarget for dyn Shape + 'x {}
};
///The in-place form of [`Circle`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type CircleRef<'b> = Circle;
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
        shield as __part_0, shield as __pass, shield as __place, shield as __restoring,
        shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(__of @ _: &Circle) {
            let Circle { radius: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Circle {
        type InPlace<'__b> = Circle where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).radius
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
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                }
            };
            let Circle { radius: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).radius,
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
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).radius,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Circle {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).radius
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
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*__slot).radius, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*__slot).radius)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            __trace.enter("radius");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).radius, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "Circle",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "radius",
                                ::jstream::__private::core::mem::offset_of!(Self, radius),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).radius },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Circle {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<Circle>,
        ) -> ::jstream::__private::core::marker::PhantomData<Circle> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Circle>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Circle {
        const IS_COPY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                }
            };
            ::jstream::__private::is_copy_of(|__of: *const Self| unsafe {
                &raw const (*__of).radius
            })
        };
        #[inline]
        fn restore<'__b>(
            __form @ _: &Circle,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            let _ = |__of @ _: &Circle| match __of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).is_restored();
                }
            };
            ::jstream::__private::core::result::Result::Ok(
                match __form {
                    Circle { radius: __part_0 @ _ } => {
                        Circle {
                            radius: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
    ::jstream::implements!(Shape : Circle);
    ::jstream::implements!(other::Named : Circle);
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Drawing`], as it is in a receive buffer.
#[repr(C)]
struct DrawingRef<'b> {
    shapes: &'b [&'b (dyn Shape + 'b)],
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
        shield as __both, shield as __draft, shield as __formatter, shield as __long,
        shield as __of, shield as __part_0, shield as __part_0_form, shield as __pass,
        shield as __place, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(__of @ _: &DrawingRef<'b>) {
            let DrawingRef { shapes: __part_0 @ _ } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for DrawingRef<'b> {
        type InPlace<'__b> = DrawingRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                            &raw const (*__of).shapes
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                    ::jstream::__private::written(|__of: &DrawingRef<'b>| match __of {
                        DrawingRef { shapes: __part_0 @ _, .. } => {
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
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            let DrawingRef { shapes: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).shapes,
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
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                    &raw mut (*__place).shapes,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for DrawingRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                        &raw const (*__of).shapes
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
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                ::jstream::__private::read_own(&raw mut (*__slot).shapes, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                    ::jstream::__private::verify_own(&raw const (*__slot).shapes)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            __trace.enter("shapes");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).shapes, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                    ::jstream::__private::read_in_place(|__of: &DrawingRef<'b>| match __of {
                        DrawingRef { shapes: __part_0 @ _, .. } => {
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
                    "DrawingRef",
                    &mut |__schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "shapes",
                                ::jstream::__private::core::mem::offset_of!(Self, shapes),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).shapes },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for DrawingRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                DrawingRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<DrawingRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<DrawingRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Drawing {
        type InPlace<'__b> = DrawingRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
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
                    ::jstream::__private::written(|__of: &Drawing| match __of {
                        Drawing { shapes: __part_0 @ _, .. } => {
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
            let _ = |__both @ _: (&Drawing, &DrawingRef<'_>)| match __both {
                (
                    Drawing { shapes: __part_0 @ _ },
                    DrawingRef { shapes: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let Drawing { shapes: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*__slot).shapes,
                    __part_0,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Drawing {}
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for DrawingRef<'__b>
    where
        &'__b Drawing: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                DrawingRef { shapes: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_struct(
                            __formatter,
                            "DrawingRef",
                        )
                        .field(
                            "shapes",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
