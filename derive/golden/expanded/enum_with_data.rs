///The in-place form of [`Shape`], which is the type itself.
#[allow(
    dead_code,
    non_camel_case_types,
    type_alias_bounds,
    reason = "used by the forms of other types"
)]
type ShapeRef<'b> = Shape<'b>;
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
    const __TAG_0: ::core::primitive::u8 = 0;
    const __TAG_1: ::core::primitive::u8 = 7;
    const __TAG_2: ::core::primitive::u8 = __TAG_1 + 1;
    #[repr(C)]
    struct __Variant1<'b> {
        tag: ::core::primitive::u8,
        __part_0: f64,
        of: ::core::marker::PhantomData<Shape<'b>>,
    }
    #[repr(C)]
    struct __Variant2<'b> {
        tag: ::core::primitive::u8,
        __part_0: &'b str,
        __part_1: &'b Shape<'b>,
        of: ::core::marker::PhantomData<Shape<'b>>,
    }
    const _: () = {
        fn same_types<'b>(of @ _: &mut Shape<'b>) {
            match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |of: *mut __Variant1<'b>| unsafe { &raw mut (*of).__part_0 },
                    );
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |of: *mut __Variant2<'b>| unsafe { &raw mut (*of).__part_0 },
                    );
                    ::jstream::__private::same_type(
                        __part_1,
                        |of: *mut __Variant2<'b>| unsafe { &raw mut (*of).__part_1 },
                    );
                }
            }
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Shape<'b> {
        type InPlace<'__b> = Shape<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            false
        };
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            match self {
                Shape::Point {} => {
                    unsafe { slot.cast::<::core::primitive::u8>().write(__TAG_0) };
                }
                Shape::Circle { 0: __part_0 @ _ } => {
                    unsafe { slot.cast::<::core::primitive::u8>().write(__TAG_1) };
                    let slot = slot.cast::<__Variant1<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*slot).__part_0,
                            __part_0,
                            draft,
                        );
                    }
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    unsafe { slot.cast::<::core::primitive::u8>().write(__TAG_2) };
                    let slot = slot.cast::<__Variant2<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*slot).__part_0,
                            __part_0,
                            draft,
                        );
                        ::jstream::__private::write_field(
                            &raw mut (*slot).__part_1,
                            __part_1,
                            draft,
                        );
                    }
                }
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
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            let tag = unsafe { place.cast::<::core::primitive::u8>().read() };
            match tag {
                __TAG_0 => {}
                __TAG_1 => {
                    let place = place.cast::<__Variant1<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*place).__part_0,
                            draft,
                        );
                    }
                }
                __TAG_2 => {
                    let place = place.cast::<__Variant2<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*place).__part_0,
                            draft,
                        );
                        ::jstream::__private::write_field_back(
                            &raw mut (*place).__part_1,
                            draft,
                        );
                    }
                }
                _ => {}
            }
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::InPlace for Shape<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            {
                ::core::assert!(
                    ::core::mem::size_of:: < Self > () >= ::core::mem::size_of:: <
                    ::core::primitive::u8 > () && ::core::mem::size_of:: < Self > () >=
                    ::core::mem::size_of:: < __Variant1 < 'b > > () &&
                    ::core::mem::size_of:: < Self > () >= ::core::mem::size_of:: <
                    __Variant2 < 'b > > (), "the enum is not laid out as its `repr` says"
                );
                let mut value = ::core::mem::MaybeUninit::<Self>::uninit();
                let start = value.as_mut_ptr();
                unsafe { ::core::ptr::write_bytes(start, 0xa5, 1) };
                unsafe { start.cast::<::core::primitive::u8>().write(__TAG_0) };
                let meant = unsafe {
                    match *start {
                        Shape::Point {} => true,
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::core::assert!(meant, "the enum is not laid out as its `repr` says");
                let mut value = ::core::mem::MaybeUninit::<Self>::uninit();
                let start = value.as_mut_ptr();
                unsafe { ::core::ptr::write_bytes(start, 0xa5, 1) };
                unsafe { start.cast::<::core::primitive::u8>().write(__TAG_1) };
                let meant = unsafe {
                    match *start {
                        Shape::Circle { 0: ref __part_0 } => {
                            true
                                && ::jstream::__private::offset_in(start, __part_0)
                                    == ::core::mem::offset_of!(__Variant1 < 'b >, __part_0)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::core::assert!(meant, "the enum is not laid out as its `repr` says");
                let mut value = ::core::mem::MaybeUninit::<Self>::uninit();
                let start = value.as_mut_ptr();
                unsafe { ::core::ptr::write_bytes(start, 0xa5, 1) };
                unsafe { start.cast::<::core::primitive::u8>().write(__TAG_2) };
                let meant = unsafe {
                    match *start {
                        Shape::Named { name: ref __part_0, of: ref __part_1 } => {
                            true
                                && ::jstream::__private::offset_in(start, __part_0)
                                    == ::core::mem::offset_of!(__Variant2 < 'b >, __part_0)
                                && ::jstream::__private::offset_in(start, __part_1)
                                    == ::core::mem::offset_of!(__Variant2 < 'b >, __part_1)
                        }
                        #[allow(
                            unreachable_patterns,
                            reason = "where there is one variant"
                        )]
                        _ => false,
                    }
                };
                ::core::assert!(meant, "the enum is not laid out as its `repr` says");
                ::jstream::__private::Shape::NOTHING
                    .and(
                        ::jstream::__private::shape_of_own(|of: *const __Variant1<'b>| unsafe {
                            &raw const (*of).__part_0
                        }),
                    )
                    .and(
                        ::jstream::__private::shape_of_own(|of: *const __Variant2<'b>| unsafe {
                            &raw const (*of).__part_0
                        }),
                    )
                    .and(
                        ::jstream::__private::shape_of_own(|of: *const __Variant2<'b>| unsafe {
                            &raw const (*of).__part_1
                        }),
                    )
                    .tagged(::core::mem::size_of::<Self>())
            }
        };
        #[inline]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            const {
                ::core::assert!(
                    ! < Self as ::jstream::__private::InPlace > ::SHAPE.plain
                )
            };
            let tag = unsafe { slot.cast::<::core::primitive::u8>().read() };
            match tag {
                __TAG_0 => {}
                __TAG_1 => {
                    let slot = slot.cast::<__Variant1<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(&raw mut (*slot).__part_0, pass)?;
                    }
                }
                __TAG_2 => {
                    let slot = slot.cast::<__Variant2<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(&raw mut (*slot).__part_0, pass)?;
                        ::jstream::__private::read_own(&raw mut (*slot).__part_1, pass)?;
                    }
                }
                _ => {
                    return ::core::result::Result::Err(
                        ::jstream::__private::Fault::new(
                            slot,
                            ::jstream::__private::FaultKind::Invalid,
                        ),
                    );
                }
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                let tag = unsafe { slot.cast::<::core::primitive::u8>().read() };
                match tag {
                    __TAG_0 => {}
                    __TAG_1 => {
                        let slot = slot.cast::<__Variant1<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*slot).__part_0,
                            )?;
                        }
                    }
                    __TAG_2 => {
                        let slot = slot.cast::<__Variant2<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*slot).__part_0,
                            )?;
                            ::jstream::__private::verify_own(
                                &raw const (*slot).__part_1,
                            )?;
                        }
                    }
                    _ => {}
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            if trace.hit(slot) {
                return;
            }
            let tag = unsafe { slot.cast::<::core::primitive::u8>().read() };
            match tag {
                __TAG_0 => {}
                __TAG_1 => {
                    let slot = slot.cast::<__Variant1<'b>>();
                    unsafe {
                        trace.enter("0");
                        ::jstream::__private::trace_own(
                            &raw const (*slot).__part_0,
                            trace,
                        );
                        if trace.leave() {
                            return;
                        }
                    }
                }
                __TAG_2 => {
                    let slot = slot.cast::<__Variant2<'b>>();
                    unsafe {
                        trace.enter("name");
                        ::jstream::__private::trace_own(
                            &raw const (*slot).__part_0,
                            trace,
                        );
                        if trace.leave() {
                            return;
                        }
                        trace.enter("of");
                        ::jstream::__private::trace_own(
                            &raw const (*slot).__part_1,
                            trace,
                        );
                        if trace.leave() {
                            return;
                        }
                    }
                }
                _ => {}
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &Shape<'b>| match of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "Shape",
                    |schema| ::jstream::__private::Kind::Enum {
                        tag: ::core::mem::size_of::<::core::primitive::u8>(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "Point",
                                __TAG_0 as ::core::primitive::i128,
                                ::jstream::__private::list([]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Circle",
                                __TAG_1 as ::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "0",
                                        ::core::mem::offset_of!(__Variant1 < 'b >, __part_0),
                                        ::jstream::__private::describe_own(
                                            schema,
                                            |of: *const __Variant1<'b>| unsafe {
                                                &raw const (*of).__part_0
                                            },
                                        ),
                                    ),
                                ]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Named",
                                __TAG_2 as ::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "name",
                                        ::core::mem::offset_of!(__Variant2 < 'b >, __part_0),
                                        ::jstream::__private::describe_own(
                                            schema,
                                            |of: *const __Variant2<'b>| unsafe {
                                                &raw const (*of).__part_0
                                            },
                                        ),
                                    ),
                                    ::jstream::__private::FieldInfo::new(
                                        "of",
                                        ::core::mem::offset_of!(__Variant2 < 'b >, __part_1),
                                        ::jstream::__private::describe_own(
                                            schema,
                                            |of: *const __Variant2<'b>| unsafe {
                                                &raw const (*of).__part_1
                                            },
                                        ),
                                    ),
                                ]),
                            ),
                        ]),
                    },
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for Shape<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                Shape<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<Shape<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Shape<'static>>();
};
