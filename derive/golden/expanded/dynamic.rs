pub trait Shape: ::jstream::__private::Dynamic {
    fn area(&self) -> f64;
}
#[doc(hidden)]
#[allow(non_camel_case_types, reason = "named after the trait")]
pub struct __ShapeImplementation(
    ::jstream::__private::Castable<
        for<'x> fn(
            *const ::core::primitive::u8,
            ::core::marker::PhantomData<&'x ()>,
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
    ::jstream::__private::inventory::collect!(__ShapeImplementation);
    unsafe impl ::jstream::__private::Implementation for __ShapeImplementation {
        const TRAIT: &'static ::core::primitive::str = "Shape";
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
                        ::core::iter::IntoIterator::into_iter(
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
                __form @ _: *const ::core::primitive::u8,
                _: ::core::marker::PhantomData<&'x ()>,
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
            edge: ::jstream::__private::Edge,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<*const Self, ::jstream::__private::Fault> {
            let registry = <__ShapeImplementation as ::jstream::__private::Implementation>::registry();
            let one = registry.of_edge(&edge)?;
            let target = one.0.class().claim(edge, pass)?;
            ::core::result::Result::Ok(
                (one.0.cast())(target, ::core::marker::PhantomData),
            )
        }
        unsafe fn read_now(
            target: *const Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            unsafe { ::jstream::__private::Class::read_now(target.cast(), pass) }
        }
        unsafe fn trace_target(
            slot: *const &Self,
            target: *const Self,
            trace: &mut ::jstream::__private::Trace,
        ) {
            unsafe { trace.dynamic(slot, target.cast()) };
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            ::jstream::__private::describe_dynamic::<dyn Shape>(schema, "Shape")
        }
    }
    unsafe impl<'x> ::jstream::__private::Target for dyn Shape + 'x {
        type InPlace<'b> = dyn Shape + 'b where Self: 'b;
        fn write_target<'b>(
            &'b self,
            draft: &mut ::jstream::__private::Draft<'b>,
        ) -> [u64; 2] {
            ::jstream::__private::write_dynamic::<__ShapeImplementation>(self, draft)
        }
        fn meta(&self) -> u64 {
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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields(of @ _: &Circle) {
            let Circle { radius: __part_0 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Circle {
        type InPlace<'__b> = Circle where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            true
                && ::jstream::__private::MemoryLayout::NOTHING
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).radius
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
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            let Circle { radius: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).radius,
                    __part_0,
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
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).radius, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::InPlace for Circle {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).radius
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).radius, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).radius)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            trace.enter("radius");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).radius, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "Circle",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "radius",
                                ::core::mem::offset_of!(Self, radius),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).radius },
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
            long @ _: ::core::marker::PhantomData<Circle>,
        ) -> ::core::marker::PhantomData<Circle> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Circle>();
    #[automatically_derived]
    impl ::jstream::__private::Restore for Circle {
        const IS_COPY: bool = {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::jstream::__private::is_copy_of(|of: *const Self| unsafe {
                &raw const (*of).radius
            })
        };
        #[inline]
        fn restore<'__b>(
            form @ _: &Circle,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |of @ _: &Circle| match of {
                Circle { radius: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
            };
            ::core::result::Result::Ok(
                match form {
                    Circle { radius: __part_0 @ _ } => {
                        Circle {
                            radius: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
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
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'b>(of @ _: &DrawingRef<'b>) {
            let DrawingRef { shapes: __part_0 @ _ } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for DrawingRef<'b> {
        type InPlace<'__b> = DrawingRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).shapes
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
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            let DrawingRef { shapes: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).shapes,
                    __part_0,
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
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).shapes, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for DrawingRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).shapes
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline(always)]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).shapes, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).shapes)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            trace.enter("shapes");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).shapes, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            schema
                .define::<
                    Self,
                >(
                    "DrawingRef",
                    |schema| ::jstream::__private::Kind::Struct(
                        ::jstream::__private::list([
                            ::jstream::__private::FieldInfo::new(
                                "shapes",
                                ::core::mem::offset_of!(Self, shapes),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).shapes },
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
            long @ _: ::core::marker::PhantomData<
                DrawingRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<DrawingRef<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<DrawingRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Drawing {
        type InPlace<'__b> = DrawingRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            false
        };
        #[inline(always)]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |both @ _: (&Drawing, &DrawingRef<'_>)| match both {
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
            let Drawing { shapes: __part_0 @ _ } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).shapes,
                    __part_0,
                    draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Drawing {}
    #[automatically_derived]
    impl<'__b> ::core::fmt::Debug for DrawingRef<'__b>
    where
        &'__b Drawing: ::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                DrawingRef { shapes: __part_0 @ _ } => {
                    ::core::fmt::Formatter::debug_struct(__formatter, "DrawingRef")
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
