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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __long, shield as __meant, shield as __of,
        shield as __part_0, shield as __part_1, shield as __pass, shield as __place,
        shield as __schema, shield as __slot, shield as __start, shield as __tag,
        shield as __trace, shield as __value,
    };
    const __TAG_0: ::jstream::__private::core::primitive::u8 = 0;
    const __TAG_1: ::jstream::__private::core::primitive::u8 = 7;
    const __TAG_2: ::jstream::__private::core::primitive::u8 = __TAG_1 + 1;
    #[repr(C)]
    struct __Variant1<'b> {
        tag: ::jstream::__private::core::primitive::u8,
        __part_0: f64,
        of: ::jstream::__private::core::marker::PhantomData<Shape<'b>>,
    }
    #[repr(C)]
    struct __Variant2<'b> {
        tag: ::jstream::__private::core::primitive::u8,
        __part_0: &'b str,
        __part_1: &'b Shape<'b>,
        of: ::jstream::__private::core::marker::PhantomData<Shape<'b>>,
    }
    const _: () = {
        fn same_types<'b>(__of @ _: &mut Shape<'b>) {
            match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |__of: *mut __Variant1<'b>| unsafe { &raw mut (*__of).__part_0 },
                    );
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |__of: *mut __Variant2<'b>| unsafe { &raw mut (*__of).__part_0 },
                    );
                    ::jstream::__private::same_type(
                        __part_1,
                        |__of: *mut __Variant2<'b>| unsafe { &raw mut (*__of).__part_1 },
                    );
                }
            }
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for Shape<'b> {
        type InPlace<'__b> = Shape<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &Shape<'b>| match __of {
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
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Shape<'b>| match __of {
                        Shape::Named { of: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
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
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            match self {
                Shape::Point {} => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_0)
                    };
                }
                Shape::Circle { 0: __part_0 @ _ } => {
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
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_2)
                    };
                    let __slot = __slot.cast::<__Variant2<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*__slot).__part_0,
                            __part_0,
                            __draft,
                        );
                        ::jstream::__private::write_field(
                            &raw mut (*__slot).__part_1,
                            __part_1,
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
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
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
                __TAG_2 => {
                    let __place = __place.cast::<__Variant2<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*__place).__part_0,
                            __draft,
                        );
                        ::jstream::__private::write_field_back(
                            &raw mut (*__place).__part_1,
                            __draft,
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
            let _ = |__of @ _: &Shape<'b>| match __of {
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
                ::jstream::__private::core::assert!(
                    ::jstream::__private::core::mem::size_of:: < Self > () >=
                    ::jstream::__private::core::mem::size_of:: <
                    ::jstream::__private::core::primitive::u8 > () &&
                    ::jstream::__private::core::mem::size_of:: < Self > () >=
                    ::jstream::__private::core::mem::size_of:: < __Variant1 < 'b > > ()
                    && ::jstream::__private::core::mem::size_of:: < Self > () >=
                    ::jstream::__private::core::mem::size_of:: < __Variant2 < 'b > > (),
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
                        Shape::Point {} => true,
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
                        Shape::Circle { 0: ref __part_0 } => {
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
                        .write(__TAG_2)
                };
                let __meant = unsafe {
                    match *__start {
                        Shape::Named { name: ref __part_0, of: ref __part_1 } => {
                            true
                                && ::jstream::__private::offset_in(__start, __part_0)
                                    == ::jstream::__private::core::mem::offset_of!(
                                        __Variant2 < 'b >, __part_0
                                    )
                                && ::jstream::__private::offset_in(__start, __part_1)
                                    == ::jstream::__private::core::mem::offset_of!(
                                        __Variant2 < 'b >, __part_1
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
                        )
                        .and(
                            ::jstream::__private::shape_of_own(|
                                __of: *const __Variant2<'b>|
                            unsafe { &raw const (*__of).__part_0 }),
                        )
                        .and(
                            ::jstream::__private::shape_of_own(|
                                __of: *const __Variant2<'b>|
                            unsafe { &raw const (*__of).__part_1 }),
                        ),
                    ::jstream::__private::core::mem::size_of::<Self>(),
                    ::jstream::__private::core::mem::size_of::<
                        ::jstream::__private::core::primitive::u8,
                    >(),
                    [
                        __TAG_0 as ::jstream::__private::core::primitive::i128,
                        __TAG_1 as ::jstream::__private::core::primitive::i128,
                        __TAG_2 as ::jstream::__private::core::primitive::i128,
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
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::VERIFY);
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
                __TAG_2 => {
                    let __slot = __slot.cast::<__Variant2<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(
                            &raw mut (*__slot).__part_0,
                            __pass,
                        )?;
                        ::jstream::__private::read_own(
                            &raw mut (*__slot).__part_1,
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
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::TRACE);
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
                    __TAG_2 => {
                        let __slot = __slot.cast::<__Variant2<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*__slot).__part_0,
                            )?;
                            ::jstream::__private::verify_own(
                                &raw const (*__slot).__part_1,
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
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
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
                __TAG_2 => {
                    let __slot = __slot.cast::<__Variant2<'b>>();
                    unsafe {
                        __trace.enter("name");
                        ::jstream::__private::trace_own(
                            &raw const (*__slot).__part_0,
                            __trace,
                        );
                        if __trace.leave() {
                            return;
                        }
                        __trace.enter("of");
                        ::jstream::__private::trace_own(
                            &raw const (*__slot).__part_1,
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
            let _ = |__of @ _: &Shape<'b>| match __of {
                Shape::Point {} => {}
                Shape::Circle { 0: __part_0 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                }
                Shape::Named { name: __part_0 @ _, of: __part_1 @ _ } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                }
            };
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &Shape<'b>| match __of {
                        Shape::Named { of: __part_1 @ _, .. } => {
                            ::jstream::__private::core::option::Option::Some(__part_1)
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
                    "Shape",
                    &mut |__schema| ::jstream::__private::Kind::Enum {
                        tag: ::jstream::__private::core::mem::size_of::<
                            ::jstream::__private::core::primitive::u8,
                        >(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "Point",
                                __TAG_0 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Circle",
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
                            ::jstream::__private::VariantInfo::new(
                                "Named",
                                __TAG_2 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "name",
                                        ::jstream::__private::core::mem::offset_of!(
                                            __Variant2 < 'b >, __part_0
                                        ),
                                        ::jstream::__private::describe_own(
                                            __schema,
                                            |__of: *const __Variant2<'b>| unsafe {
                                                &raw const (*__of).__part_0
                                            },
                                        ),
                                    ),
                                    ::jstream::__private::FieldInfo::new(
                                        "of",
                                        ::jstream::__private::core::mem::offset_of!(
                                            __Variant2 < 'b >, __part_1
                                        ),
                                        ::jstream::__private::describe_own(
                                            __schema,
                                            |__of: *const __Variant2<'b>| unsafe {
                                                &raw const (*__of).__part_1
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
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                Shape<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<Shape<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<Shape<'static>>();
};
