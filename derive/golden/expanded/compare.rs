#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Folder`], as it is in a receive buffer.
#[repr(C)]
struct FolderRef<'a, T: ?::core::marker::Sized> {
    name: &'a ::core::primitive::str,
    link: ::core::option::Option<&'a str>,
    files: ::jstream::map::HashedMap<'a, &'a ::core::primitive::str, &'a [&'a T]>,
    opened: u32,
    rights: &'b str,
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
        fn all_fields<'a, T: ?::core::marker::Sized>(of @ _: &FolderRef<'a, T>) {
            let FolderRef {
                name: __part_0 @ _,
                link: __part_1 @ _,
                files: __part_2 @ _,
                opened: __part_3 @ _,
                rights: __part_4 @ _,
            } = of;
        }
    };
    #[automatically_derived]
    unsafe impl<
        'a,
        T: ?::core::marker::Sized + ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for FolderRef<'a, T> {
        type InPlace<'__b> = FolderRef<
            '__b,
            <T as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_3;
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
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
                            &raw const (*of).link
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).files
                        }),
                    )
                    .and(::jstream::__private::MemoryLayout::OTHER)
                    .and(
                        ::jstream::__private::memory_of(|of: *const Self| unsafe {
                            &raw const (*of).rights
                        }),
                    )
                    .fills(::core::mem::size_of::<Self>())
        };
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            slot: *mut Self::InPlace<'__b>,
            draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_3;
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            let FolderRef {
                name: __part_0 @ _,
                link: __part_1 @ _,
                files: __part_2 @ _,
                opened: __part_3 @ _,
                rights: __part_4 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).link,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).files,
                    __part_2,
                    draft,
                );
                let _ = __part_3;
                ::jstream::__private::write_field(
                    &raw mut (*slot).rights,
                    __part_4,
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
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_3;
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::write_field_back(&raw mut (*place).name, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).link, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).files, draft);
                ::jstream::__private::erase_field(&raw mut (*place).opened, draft);
                ::jstream::__private::write_field_back(&raw mut (*place).rights, draft);
            }
        }
    }
    #[automatically_derived]
    unsafe impl<
        'a,
        T: ?::core::marker::Sized + ::jstream::__private::InPlace,
    > ::jstream::__private::InPlace for FolderRef<'a, T> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).is_in_place();
                    ::jstream::__private::asked(__part_3).has_a_default();
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            ::jstream::__private::Shape::NOTHING
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).link
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|of: *const Self| unsafe {
                        &raw const (*of).files
                    }),
                )
                .and(::jstream::__private::Shape::MADE)
                .and(
                    ::jstream::__private::shape_of_own(|of: *const Self| unsafe {
                        &raw const (*of).rights
                    }),
                )
                .within(::core::mem::size_of::<Self>())
        };
        #[inline]
        unsafe fn read(
            slot: *mut Self,
            pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::core::result::Result<(), ::jstream::__private::Fault> {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).is_in_place();
                    ::jstream::__private::asked(__part_3).has_a_default();
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            unsafe {
                ::jstream::__private::read_own(&raw mut (*slot).name, pass)?;
                ::jstream::__private::read_own(&raw mut (*slot).link, pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*slot).files, pass)?;
                ::jstream::__private::make_default(&raw mut (*slot).opened);
                ::jstream::__private::read_own(&raw mut (*slot).rights, pass)?;
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn verify(
            slot: *const Self,
        ) -> ::core::result::Result<(), ::jstream::__private::Refusal> {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).is_in_place();
                    ::jstream::__private::asked(__part_3).has_a_default();
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            if <Self as ::jstream::__private::InPlace>::SHAPE.verified {
                unsafe {
                    ::jstream::__private::verify_own(&raw const (*slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*slot).link)?;
                    ::jstream::__private::InPlace::verify(&raw const (*slot).files)?;
                    ::jstream::__private::verify_own(&raw const (*slot).rights)?;
                }
                unsafe {}
            }
            ::core::result::Result::Ok(())
        }
        unsafe fn trace(slot: *const Self, trace: &mut ::jstream::__private::Trace) {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).is_in_place();
                    ::jstream::__private::asked(__part_3).has_a_default();
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).name, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("link");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).link, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("files");
            unsafe {
                ::jstream::__private::InPlace::trace(&raw const (*slot).files, trace);
            }
            if trace.leave() {
                return;
            }
            trace.enter("rights");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*slot).rights, trace);
            }
            if trace.leave() {
                return;
            }
        }
        fn describe(
            schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |of @ _: &FolderRef<'a, T>| match of {
                FolderRef {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).arrives_as_itself();
                    ::jstream::__private::asked(__part_1).arrives_as_itself();
                    ::jstream::__private::asked(__part_2).is_in_place();
                    ::jstream::__private::asked(__part_3).has_a_default();
                    ::jstream::__private::asked(__part_4).arrives_as_itself();
                }
            };
            schema
                .define::<
                    Self,
                >(
                    "FolderRef",
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
                                "link",
                                ::core::mem::offset_of!(Self, link),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).link },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "files",
                                ::core::mem::offset_of!(Self, files),
                                ::jstream::__private::describe(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).files },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "rights",
                                ::core::mem::offset_of!(Self, rights),
                                ::jstream::__private::describe_own(
                                    schema,
                                    |of: *const Self| unsafe { &raw const (*of).rights },
                                ),
                            ),
                        ]),
                    ),
                )
        }
    }
    #[automatically_derived]
    unsafe impl<
        'a,
        T: ?Sized + ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for Folder<'a, T> {
        type InPlace<'__b> = FolderRef<
            '__b,
            <T as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::core::primitive::bool = {
            let _ = |of @ _: &Folder<'a, T>| match of {
                Folder {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_3;
                    ::jstream::__private::asked(__part_4)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
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
            let _ = |of @ _: &Folder<'a, T>| match of {
                Folder {
                    name: __part_0 @ _,
                    link: __part_1 @ _,
                    files: __part_2 @ _,
                    opened: __part_3 @ _,
                    rights: __part_4 @ _,
                } => {
                    ::jstream::__private::asked(__part_0).travels();
                    ::jstream::__private::asked(__part_1).travels();
                    ::jstream::__private::asked(__part_2).travels();
                    let _ = __part_3;
                    ::jstream::__private::asked(__part_4)
                        .has_an_adapter(::jstream::__private::check_type_of::<AsText>());
                }
            };
            let Folder {
                name: __part_0 @ _,
                link: __part_1 @ _,
                files: __part_2 @ _,
                opened: __part_3 @ _,
                rights: __part_4 @ _,
            } = self;
            unsafe {
                ::jstream::__private::write_field(
                    &raw mut (*slot).name,
                    __part_0,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).link,
                    __part_1,
                    draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*slot).files,
                    __part_2,
                    draft,
                );
                let _ = __part_3;
                ::jstream::__private::write_replaced(
                    &raw mut (*slot).rights,
                    __part_4,
                    draft,
                    ::jstream::__private::check_type_of::<AsText>(),
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<
        'a,
        T: ?Sized + ::jstream::__private::Covariant,
    > ::jstream::__private::Covariant for Folder<'a, T> {}
    #[automatically_derived]
    impl<
        '__b,
        'a,
        T: ?Sized,
        __form_T: ?::core::marker::Sized,
    > ::core::cmp::PartialEq<Folder<'a, T>> for FolderRef<'__b, __form_T>
    where
        __form_T: ::core::cmp::PartialEq<T>,
    {
        fn eq(&self, __other @ _: &Folder<'a, T>) -> ::core::primitive::bool {
            match (self, __other) {
                (
                    FolderRef {
                        name: __form___part_0 @ _,
                        link: __form___part_1 @ _,
                        files: __form___part_2 @ _,
                        opened: __form___part_3 @ _,
                        rights: __form___part_4 @ _,
                    },
                    Folder {
                        name: __part_0 @ _,
                        link: __part_1 @ _,
                        files: __part_2 @ _,
                        opened: __part_3 @ _,
                        rights: __part_4 @ _,
                    },
                ) => {
                    true && ::jstream::__private::same(&**__part_0, &**__form___part_0)
                        && ::jstream::__private::same_options(
                            __form___part_1,
                            __part_1,
                            |__form @ _, __owned @ _| ::jstream::__private::same(
                                (&**__owned),
                                (&**__form),
                            ),
                        )
                        && ::jstream::__private::same_hashed_maps(
                            __form___part_2.iter(),
                            __part_2.iter(),
                            |__form @ _, __owned @ _| ::jstream::__private::same(
                                &**__owned,
                                &**__form,
                            ),
                            |__form @ _, __owned @ _| ::jstream::__private::same_slices(
                                __form,
                                __owned,
                                |__form @ _, __owned @ _| ::jstream::__private::same(
                                    (&**__owned),
                                    (&**__form),
                                ),
                            ),
                        )
                        && {
                            let _ = (__form___part_3, __part_3);
                            true
                        }
                        && ::jstream::__private::same_as_adapted(
                            ::jstream::__private::check_type_of::<AsText>(),
                            __part_4,
                            __form___part_4,
                        )
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => false,
            }
        }
    }
    #[automatically_derived]
    impl<
        '__b,
        'a,
        T: ?Sized,
        __form_T: ?::core::marker::Sized,
    > ::core::cmp::PartialEq<FolderRef<'__b, __form_T>> for Folder<'a, T>
    where
        __form_T: ::core::cmp::PartialEq<T>,
    {
        fn eq(
            &self,
            __other @ _: &FolderRef<'__b, __form_T>,
        ) -> ::core::primitive::bool {
            ::core::cmp::PartialEq::eq(__other, self)
        }
    }
};
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Item`], as it is in a receive buffer.
#[repr(u8)]
enum ItemRef<'b> {
    Coins(u32),
    Pair((&'b ::core::primitive::str, Item2Ref<'b>)),
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
        __part_0: (&'b ::core::primitive::str, Item2Ref<'b>),
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
                ItemRef::Pair { 0: __part_0 @ _ } => {
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                ItemRef::Pair { 0: __part_0 @ _ } => {
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                        ItemRef::Pair { 0: ref __part_0 } => {
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                                "Pair",
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                Item::Pair { 0: __part_0 @ _ } => {
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
                    Item::Pair { 0: __part_0 @ _ },
                    ItemRef::Pair { 0: __part_0_form @ _ },
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
                    ItemRef::Pair { 0: __part_0 @ _ } => {
                        Item::Pair {
                            0: ::jstream::__private::restore_field(__part_0, restoring)?,
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
                ItemRef::Pair { 0: __part_0 @ _ } => {
                    ::core::fmt::Formatter::debug_tuple(__formatter, "Pair")
                        .field((&::jstream::__private::Shown(__part_0)).shown_field())
                        .finish()
                }
            }
        }
    }
    #[automatically_derived]
    impl<'__b> ::core::cmp::PartialEq<Item> for ItemRef<'__b> {
        fn eq(&self, __other @ _: &Item) -> ::core::primitive::bool {
            match (self, __other) {
                (
                    ItemRef::Coins { 0: __form___part_0 @ _ },
                    Item::Coins { 0: __part_0 @ _ },
                ) => true && ::jstream::__private::same(__part_0, __form___part_0),
                (
                    ItemRef::Pair { 0: __form___part_0 @ _ },
                    Item::Pair { 0: __part_0 @ _ },
                ) => {
                    true
                        && (true
                            && ::jstream::__private::same(
                                &**(&(*__part_0).0),
                                &**(&(*__form___part_0).0),
                            )
                            && ::jstream::__private::same(
                                (&(*__part_0).1),
                                (&(*__form___part_0).1),
                            ))
                }
                #[allow(unreachable_patterns, reason = "where there is one variant")]
                _ => false,
            }
        }
    }
    #[automatically_derived]
    impl<'__b> ::core::cmp::PartialEq<ItemRef<'__b>> for Item {
        fn eq(&self, __other @ _: &ItemRef<'__b>) -> ::core::primitive::bool {
            ::core::cmp::PartialEq::eq(__other, self)
        }
    }
};
