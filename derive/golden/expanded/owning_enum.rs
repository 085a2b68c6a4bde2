#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Item`], as it is in a receive buffer.
#[repr(u8)]
enum ItemRef<'b> {
    Coins(u32),
    Book { pages: &'b [&'b ::core::primitive::str] },
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
    const __TAG_0: ::core::primitive::u8 = 0;
    const __TAG_1: ::core::primitive::u8 = __TAG_0 + 1;
    #[repr(C)]
    struct __Variant0<'b> {
        tag: ::core::primitive::u8,
        __part_0: u32,
        of: ::core::marker::PhantomData<ItemRef<'b>>,
    }
    #[repr(C)]
    struct __Variant1<'b> {
        tag: ::core::primitive::u8,
        __part_0: &'b [&'b ::core::primitive::str],
        of: ::core::marker::PhantomData<ItemRef<'b>>,
    }
    const _: () = {
        fn same_types<'b>(of @ _: &mut ItemRef<'b>) {
            match of {
                ItemRef::Coins { 0: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |of: *mut __Variant0<'b>| unsafe { &raw mut (*of).__part_0 },
                    );
                }
                ItemRef::Book { pages: __part_0 @ _ } => {
                    ::jstream::__private::same_type(
                        __part_0,
                        |of: *mut __Variant1<'b>| unsafe { &raw mut (*of).__part_0 },
                    );
                }
            }
        }
    };
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Transportable for ItemRef<'b> {
        type InPlace<'__b> = ItemRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            match self {
                ItemRef::Coins { 0: __part_0 @ _ } => {
                    unsafe { slot.cast::<::core::primitive::u8>().write(__TAG_0) };
                    let slot = slot.cast::<__Variant0<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*slot).__part_0,
                            __part_0,
                            draft,
                        );
                    }
                }
                ItemRef::Book { pages: __part_0 @ _ } => {
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
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            let tag = unsafe { place.cast::<::core::primitive::u8>().read() };
            match tag {
                __TAG_0 => {
                    let place = place.cast::<__Variant0<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*place).__part_0,
                            draft,
                        );
                    }
                }
                __TAG_1 => {
                    let place = place.cast::<__Variant1<'b>>();
                    unsafe {
                        ::jstream::__private::write_field_back(
                            &raw mut (*place).__part_0,
                            draft,
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
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
                ::core::assert!(
                    ::core::mem::size_of:: < Self > () >= ::core::mem::size_of:: <
                    ::core::primitive::u8 > () && ::core::mem::size_of:: < Self > () >=
                    ::core::mem::size_of:: < __Variant0 < 'b > > () &&
                    ::core::mem::size_of:: < Self > () >= ::core::mem::size_of:: <
                    __Variant1 < 'b > > (), "the enum is not laid out as its `repr` says"
                );
                let mut value = ::core::mem::MaybeUninit::<Self>::uninit();
                let start = value.as_mut_ptr();
                unsafe { ::core::ptr::write_bytes(start, 0xa5, 1) };
                unsafe { start.cast::<::core::primitive::u8>().write(__TAG_0) };
                let meant = unsafe {
                    match *start {
                        ItemRef::Coins { 0: ref __part_0 } => {
                            true
                                && ::jstream::__private::offset_in(start, __part_0)
                                    == ::core::mem::offset_of!(__Variant0 < 'b >, __part_0)
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
                unsafe { start.cast::<::core::primitive::u8>().write(__TAG_1) };
                let meant = unsafe {
                    match *start {
                        ItemRef::Book { pages: ref __part_0 } => {
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
                ::jstream::__private::Shape::NOTHING
                    .and(
                        ::jstream::__private::shape_of_own(|of: *const __Variant0<'b>| unsafe {
                            &raw const (*of).__part_0
                        }),
                    )
                    .and(
                        ::jstream::__private::shape_of_own(|of: *const __Variant1<'b>| unsafe {
                            &raw const (*of).__part_0
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
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            const {
                ::core::assert!(
                    ! < Self as ::jstream::__private::InPlace > ::SHAPE.plain
                )
            };
            let tag = unsafe { slot.cast::<::core::primitive::u8>().read() };
            match tag {
                __TAG_0 => {
                    let slot = slot.cast::<__Variant0<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(&raw mut (*slot).__part_0, pass)?;
                    }
                }
                __TAG_1 => {
                    let slot = slot.cast::<__Variant1<'b>>();
                    unsafe {
                        ::jstream::__private::read_own(&raw mut (*slot).__part_0, pass)?;
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
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                let tag = unsafe { slot.cast::<::core::primitive::u8>().read() };
                match tag {
                    __TAG_0 => {
                        let slot = slot.cast::<__Variant0<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*slot).__part_0,
                            )?;
                        }
                    }
                    __TAG_1 => {
                        let slot = slot.cast::<__Variant1<'b>>();
                        unsafe {
                            ::jstream::__private::verify_own(
                                &raw const (*slot).__part_0,
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
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            if trace.hit(slot) {
                return;
            }
            let tag = unsafe { slot.cast::<::core::primitive::u8>().read() };
            match tag {
                __TAG_0 => {
                    let slot = slot.cast::<__Variant0<'b>>();
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
                __TAG_1 => {
                    let slot = slot.cast::<__Variant1<'b>>();
                    unsafe {
                        trace.enter("pages");
                        ::jstream::__private::trace_own(
                            &raw const (*slot).__part_0,
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
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            schema
                .define::<
                    Self,
                >(
                    "ItemRef",
                    |schema| ::jstream::__private::Kind::Enum {
                        tag: ::core::mem::size_of::<::core::primitive::u8>(),
                        variants: ::jstream::__private::list([
                            ::jstream::__private::VariantInfo::new(
                                "Coins",
                                __TAG_0 as ::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "0",
                                        ::core::mem::offset_of!(__Variant0 < 'b >, __part_0),
                                        ::jstream::__private::describe_own(
                                            schema,
                                            |of: *const __Variant0<'b>| unsafe {
                                                &raw const (*of).__part_0
                                            },
                                        ),
                                    ),
                                ]),
                            ),
                            ::jstream::__private::VariantInfo::new(
                                "Book",
                                __TAG_1 as ::core::primitive::i128,
                                ::jstream::__private::list([
                                    ::jstream::__private::FieldInfo::new(
                                        "pages",
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
                        ]),
                    },
                )
        }
    }
    #[automatically_derived]
    unsafe impl<'b> ::jstream::__private::Covariant for ItemRef<'b> {}
    const _: () = {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short>(
            long @ _: ::core::marker::PhantomData<
                ItemRef<'long_unless_the_type_says_invariant>,
            >,
        ) -> ::core::marker::PhantomData<ItemRef<'short>> {
            long
        }
    };
    const _: () = ::jstream::__private::assert_form::<ItemRef<'static>>();
    #[automatically_derived]
    unsafe impl ::jstream::__private::Transportable for Item {
        type InPlace<'__b> = ItemRef<'__b> where Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            match self {
                Item::Coins { 0: __part_0 @ _ } => {
                    unsafe { slot.cast::<::core::primitive::u8>().write(__TAG_0) };
                    let slot = slot.cast::<__Variant0<'__b>>();
                    unsafe {
                        ::jstream::__private::write_field(
                            &raw mut (*slot).__part_0,
                            __part_0,
                            draft,
                        );
                    }
                }
                Item::Book { pages: __part_0 @ _ } => {
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
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::jstream::__private::Covariant for Item {}
    #[automatically_derived]
    impl ::jstream::__private::Restore for Item {
        #[inline]
        fn restore<'__b>(
            form @ _: &ItemRef<'__b>,
            restoring: &mut ::jstream::__private::Restoring,
        ) -> ::core::result::Result<Self, ::jstream::__private::RestoreError>
        where
            Self: '__b,
        {
            let _ = |both @ _: (&Item, &ItemRef<'_>)| match both {
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
            ::core::result::Result::Ok(
                match form {
                    ItemRef::Coins { 0: __part_0 @ _ } => {
                        Item::Coins {
                            0: ::jstream::__private::restore_field(__part_0, restoring)?,
                        }
                    }
                    ItemRef::Book { pages: __part_0 @ _ } => {
                        Item::Book {
                            pages: ::jstream::__private::restore_field(
                                __part_0,
                                restoring,
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
        ) -> ::core::result::Result<Item, ::jstream::__private::RestoreError> {
            ::jstream::__private::restore::<Item>(self)
        }
    }
    #[automatically_derived]
    impl<'__b> ::core::fmt::Debug for ItemRef<'__b>
    where
        &'__b Item: ::core::fmt::Debug,
    {
        fn fmt(
            &self,
            __formatter @ _: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            #[allow(unused_imports, reason = "the fields decide which is used")]
            use ::jstream::__private::{ShownByDebug as _, ShownByName as _};
            match self {
                ItemRef::Coins { 0: __part_0 @ _ } => {
                    ::core::fmt::Formatter::debug_tuple(__formatter, "Coins")
                        .field((&::jstream::__private::Shown(__part_0)).shown_field())
                        .finish()
                }
                ItemRef::Book { pages: __part_0 @ _ } => {
                    ::core::fmt::Formatter::debug_struct(__formatter, "Book")
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
