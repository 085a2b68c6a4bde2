#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Item`], as it is in a receive buffer.
#[repr(u8)]
enum ItemRef<'b> {
    Coins(u32),
    Book { pages: &'b [&'b ::jstream::__private::core::primitive::str] },
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
        shield as __long, shield as __meant, shield as __of, shield as __part_0,
        shield as __part_0_form, shield as __pass, shield as __place,
        shield as __restoring, shield as __schema, shield as __slot, shield as __start,
        shield as __tag, shield as __trace, shield as __value,
    };
    const __TAG_0: ::jstream::__private::core::primitive::u8 = 0;
    const __TAG_1: ::jstream::__private::core::primitive::u8 = __TAG_0 + 1;
    #[repr(C)]
    struct __Variant0<'b> {
        tag: ::jstream::__private::core::primitive::u8,
        __part_0: u32,
        of: ::jstream::__private::core::marker::PhantomData<ItemRef<'b>>,
    }
    #[repr(C)]
    struct __Variant1<'b> {
        tag: ::jstream::__private::core::primitive::u8,
        __part_0: &'b [&'b ::jstream::__private::core::primitive::str],
        of: ::jstream::__private::core::marker::PhantomData<ItemRef<'b>>,
    }
    const _: () = {
        fn same_types<'b>(__of @ _: &mut ItemRef<'b>) {
            match __of {
                ItemRef::Coins { 0: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |__of: *mut __Variant0<'b>| unsafe { &raw mut (*__of).__part_0 },
                    );
                }
                ItemRef::Book { pages: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |__of: *mut __Variant1<'b>| unsafe { &raw mut (*__of).__part_0 },
                    );
                }
            }
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for ItemRef<'b> {
        type InPlace<'__b> = ItemRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
                    ::jstream::__private::written(|__of: &ItemRef<'b>| match __of {
                        ItemRef::Book { pages: __part_0 @ _, .. } => {
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
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::WRITE_BACK);
            match self {
                ItemRef::Coins { 0: __part_0 @ _ } => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_0)
                    };
                    let __slot = __slot.cast::<__Variant0<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*__slot).__part_0,
                            __part_0,
                            __draft,
                        );
                    }
                }
                ItemRef::Book { pages: __part_0 @ _ } => {
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
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            let __tag = unsafe {
                __place.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {
                    let __place = __place.cast::<__Variant0<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*__place).__part_0,
                            __draft,
                        );
                    }
                }
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
    unsafe impl<'b> ::jstream::__private::InPlace for ItemRef<'b> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
                    ::jstream::__private::core::mem::size_of:: < __Variant0 < 'b > > ()
                    && ::jstream::__private::core::mem::size_of:: < Self > () >=
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
                        ItemRef::Coins { 0: ref __part_0 } => {
                            true
                                && ::jstream::__private::offset_in(__start, __part_0)
                                    == ::jstream::__private::core::mem::offset_of!(
                                        __Variant0 < 'b >, __part_0
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
                        .write(__TAG_1)
                };
                let __meant = unsafe {
                    match *__start {
                        ItemRef::Book { pages: ref __part_0 } => {
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
                                __of: *const __Variant0<'b>|
                            unsafe { &raw const (*__of).__part_0 }),
                        )
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
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
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
                __TAG_0 => {
                    let __slot = __slot.cast::<__Variant0<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(
                            &raw mut (*__slot).__part_0,
                            __pass,
                        )?;
                    }
                }
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
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
                let __tag = unsafe {
                    __slot.cast::<::jstream::__private::core::primitive::u8>().read()
                };
                match __tag {
                    __TAG_0 => {
                        let __slot = __slot.cast::<__Variant0<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*__slot).__part_0,
                            )?;
                        }
                    }
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
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::DESCRIBE);
            if __trace.hit(__slot) {
                return;
            }
            let __tag = unsafe {
                __slot.cast::<::jstream::__private::core::primitive::u8>().read()
            };
            match __tag {
                __TAG_0 => {
                    let __slot = __slot.cast::<__Variant0<'b>>();
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
                __TAG_1 => {
                    let __slot = __slot.cast::<__Variant1<'b>>();
                    unsafe {
                        __trace.enter("pages");
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
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
                    ::jstream::__private::read_in_place(|__of: &ItemRef<'b>| match __of {
                        ItemRef::Book { pages: __part_0 @ _, .. } => {
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
                    "ItemRef",
                    &mut |__schema| ::jstream::__private::Kind::Enum {
                        tag: ::jstream::__private::core::mem::size_of::<
                            ::jstream::__private::core::primitive::u8,
                        >(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "Coins",
                                __TAG_0 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "0",
                                        ::jstream::__private::core::mem::offset_of!(
                                            __Variant0 < 'b >, __part_0
                                        ),
                                        ::jstream::__private::describe_own(
                                            __schema,
                                            |__of: *const __Variant0<'b>| unsafe {
                                                &raw const (*__of).__part_0
                                            },
                                        ),
                                    ),
                                ]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Book",
                                __TAG_1 as ::jstream::__private::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "pages",
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
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for ItemRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            __long @ _: ::jstream::__private::core::marker::PhantomData<
                ItemRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::jstream::__private::core::marker::PhantomData<ItemRef<'short>> {
            __long
        }
    };
    const _: () = ::jstream::__private::assert_form::<ItemRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Item {
        type InPlace<'__b> = ItemRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::Chain::<
            Self,
        >::WRITE;
        #[inline(never)]
        fn name_parts() {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
                    ::jstream::__private::written(|__of: &Item| match __of {
                        Item::Book { pages: __part_0 @ _, .. } => {
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
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => {}
            };
            ::jstream::__private::link(::jstream::__private::Chain::<Self>::NAME_PARTS);
            match self {
                Item::Coins { 0: __part_0 @ _ } => {
                    unsafe {
                        __slot
                            .cast::<::jstream::__private::core::primitive::u8>()
                            .write(__TAG_0)
                    };
                    let __slot = __slot.cast::<__Variant0<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*__slot).__part_0,
                            __part_0,
                            __draft,
                        );
                    }
                }
                Item::Book { pages: __part_0 @ _ } => {
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
    unsafe impl ::jstream::__private::Covariant for Item {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Item {
        #[inline]
        fn restore<'__b>(
            __form @ _: &ItemRef<'__b>,
            __restoring: &mut ::jstream::__private::Restoring,
        ) -> ::jstream::__private::core::result::Result<
            Self,
            ::jstream::__private::RestoreError,
        >
        where
            Self: '__b,
        {
            let _ = |__both @ _: (&Item, &ItemRef<'_>)| match __both {
                (
                    Item::Coins { 0: __part_0 @ _ },
                    ItemRef::Coins { 0: __part_0_form @ _ },
                ) => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::check_type_with_form(__part_0, __part_0_form)
                        .agree();
                }
                (
                    Item::Book { pages: __part_0 @ _ },
                    ItemRef::Book { pages: __part_0_form @ _ },
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
                    ItemRef::Coins { 0: __part_0 @ _ } => {
                        Item::Coins {
                            0: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                        }
                    }
                    ItemRef::Book { pages: __part_0 @ _ } => {
                        Item::Book {
                            pages: ::jstream::__private::restore_field(
                                __part_0,
                                __restoring,
                            )?,
                        }
                    }
                },
            )
        }
    }
    impl<'__b> ItemRef<'__b> {
        /// Returns the owned value of this form, made from copies of all parts.
        ///
        /// # Errors
        ///
        /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
        fn to_owned(
            &self,
        ) -> ::jstream::__private::core::result::Result<
            Item,
            ::jstream::__private::RestoreError,
        > {
            ::jstream::__private::restore::<Item>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::fmt::Debug for ItemRef<'__b>
    where
        &'__b Item: ::jstream::__private::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::jstream::__private::core::fmt::Formatter<'_>,
        ) -> ::jstream::__private::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                ItemRef::Coins { 0: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_tuple(
                            __formatter,
                            "Coins",
                        )
                        .field((&::jstream::__private::Shown(__part_0)).shown_field())
                        .finish()
                }
                ItemRef::Book { pages: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_struct(
                            __formatter,
                            "Book",
                        )
                        .field(
                            "pages",
                            (&::jstream::__private::Shown(__part_0)).shown_field(),
                        )
                        .finish()
                }
            }
        }
    }
};
