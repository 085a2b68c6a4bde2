#[allow(
    dead_code,
    non_camel_case_types,
    reason = "created by reading; the program may use only a part"
)]
///The in-place form of [`Folder`], as it is in a receive buffer.
#[repr(C)]
struct FolderRef<'a, T: ?::jstream::__private::core::marker::Sized> {
    name: &'a ::jstream::__private::core::primitive::str,
    link: ::jstream::__private::core::option::Option<&'a str>,
    files: ::jstream::map::HashedMap<
        'a,
        &'a ::jstream::__private::core::primitive::str,
        &'a [&'a T],
    >,
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
    #[allow(unused_imports, reason = "hides constants of these names")]
    use ::jstream::__private::{
        shield as __draft, shield as __form, shield as __form_T,
        shield as __form___part_0, shield as __form___part_1, shield as __form___part_2,
        shield as __form___part_3, shield as __form___part_4, shield as __of,
        shield as __other, shield as __owned, shield as __part_0, shield as __part_1,
        shield as __part_2, shield as __part_3, shield as __part_4, shield as __pass,
        shield as __place, shield as __schema, shield as __slot, shield as __trace,
    };
    const _: () = {
        #[allow(unused_variables, reason = "only their presence matters")]
        fn all_fields<'a, T: ?::jstream::__private::core::marker::Sized>(
            __of @ _: &FolderRef<'a, T>,
        ) {
            let FolderRef {
                name: __part_0 @ _,
                link: __part_1 @ _,
                files: __part_2 @ _,
                opened: __part_3 @ _,
                rights: __part_4 @ _,
            } = __of;
        }
    };
    #[automatically_derived]
    unsafe impl<
        'a,
        T: ?::jstream::__private::core::marker::Sized
            + ::jstream::__private::Transportable,
    > ::jstream::__private::Transportable for FolderRef<'a, T> {
        type InPlace<'__b> = FolderRef<
            '__b,
            <T as ::jstream::__private::Transportable>::InPlace<'__b>,
        >
        where
            Self: '__b;
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).name
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).link
                        }),
                    )
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).files
                        }),
                    )
                    .and(::jstream::__private::MemoryLayout::OTHER)
                    .and(
                        ::jstream::__private::memory_of(|__of: *const Self| unsafe {
                            &raw const (*__of).rights
                        }),
                    )
                    .fills(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<T as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).link,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).files,
                    __part_2,
                    __draft,
                );
                let _ = __part_3;
                ::jstream::__private::write_field(
                    &raw mut (*__slot).rights,
                    __part_4,
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
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).name,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).link,
                    __draft,
                );
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).files,
                    __draft,
                );
                ::jstream::__private::erase_field(&raw mut (*__place).opened, __draft);
                ::jstream::__private::write_field_back(
                    &raw mut (*__place).rights,
                    __draft,
                );
            }
        }
    }
    #[automatically_derived]
    unsafe impl<
        'a,
        T: ?::jstream::__private::core::marker::Sized + ::jstream::__private::InPlace,
    > ::jstream::__private::InPlace for FolderRef<'a, T> {
        const SHAPE: ::jstream::__private::Shape = {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).name
                    }),
                )
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).link
                    }),
                )
                .and(
                    ::jstream::__private::shape_of(|__of: *const Self| unsafe {
                        &raw const (*__of).files
                    }),
                )
                .and(::jstream::__private::Shape::MADE)
                .and(
                    ::jstream::__private::shape_of_own(|__of: *const Self| unsafe {
                        &raw const (*__of).rights
                    }),
                )
                .within(::jstream::__private::core::mem::size_of::<Self>())
        };
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<T as ::jstream::__private::InPlace>::ENTRY_POINT);
        #[inline]
        unsafe fn read(
            __slot: *mut Self,
            __pass: &mut ::jstream::__private::Pass<'_>,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Fault,
        > {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
                ::jstream::__private::read_own(&raw mut (*__slot).name, __pass)?;
                ::jstream::__private::read_own(&raw mut (*__slot).link, __pass)?;
                ::jstream::__private::InPlace::read(&raw mut (*__slot).files, __pass)?;
                ::jstream::__private::make_default(&raw mut (*__slot).opened);
                ::jstream::__private::read_own(&raw mut (*__slot).rights, __pass)?;
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn verify(
            __slot: *const Self,
        ) -> ::jstream::__private::core::result::Result<
            (),
            ::jstream::__private::Refusal,
        > {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
                    ::jstream::__private::verify_own(&raw const (*__slot).name)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).link)?;
                    ::jstream::__private::InPlace::verify(&raw const (*__slot).files)?;
                    ::jstream::__private::verify_own(&raw const (*__slot).rights)?;
                }
                unsafe {}
            }
            ::jstream::__private::core::result::Result::Ok(())
        }
        unsafe fn trace(__slot: *const Self, __trace: &mut ::jstream::__private::Trace) {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
            __trace.enter("name");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).name, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("link");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).link, __trace);
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("files");
            unsafe {
                ::jstream::__private::InPlace::trace(
                    &raw const (*__slot).files,
                    __trace,
                );
            }
            if __trace.leave() {
                return;
            }
            __trace.enter("rights");
            unsafe {
                ::jstream::__private::trace_own(&raw const (*__slot).rights, __trace);
            }
            if __trace.leave() {
                return;
            }
        }
        fn describe(
            __schema: &mut ::jstream::__private::Schema,
        ) -> ::jstream::__private::TypeIndex {
            let _ = |__of @ _: &FolderRef<'a, T>| match __of {
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
            __schema
                .define(
                    ::jstream::__private::Schema::key_of::<Self>(),
                    "FolderRef",
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
                                "link",
                                ::jstream::__private::core::mem::offset_of!(Self, link),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).link },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "files",
                                ::jstream::__private::core::mem::offset_of!(Self, files),
                                ::jstream::__private::describe(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).files },
                                ),
                            ),
                            ::jstream::__private::FieldInfo::new(
                                "rights",
                                ::jstream::__private::core::mem::offset_of!(Self, rights),
                                ::jstream::__private::describe_own(
                                    __schema,
                                    |__of: *const Self| unsafe { &raw const (*__of).rights },
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
        const WIRE_IS_MEMORY: ::jstream::__private::core::primitive::bool = false;
        const ENTRY_POINT: ::jstream::__private::EntryPoint = ::jstream::__private::EntryPoint::NONE
            .or(<T as ::jstream::__private::Transportable>::ENTRY_POINT);
        #[inline]
        unsafe fn write<'__b>(
            &'__b self,
            __slot: *mut Self::InPlace<'__b>,
            __draft: &mut ::jstream::__private::Draft<'__b>,
        ) {
            let _ = |__of @ _: &Folder<'a, T>| match __of {
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
                    &raw mut (*__slot).name,
                    __part_0,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).link,
                    __part_1,
                    __draft,
                );
                ::jstream::__private::write_field(
                    &raw mut (*__slot).files,
                    __part_2,
                    __draft,
                );
                let _ = __part_3;
                ::jstream::__private::write_replaced(
                    &raw mut (*__slot).rights,
                    __part_4,
                    __draft,
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
        __form_T: ?::jstream::__private::core::marker::Sized,
    > ::jstream::__private::core::cmp::PartialEq<Folder<'a, T>>
    for FolderRef<'__b, __form_T>
    where
        __form_T: ::jstream::__private::core::cmp::PartialEq<T>,
    {
        fn eq(
            &self,
            __other @ _: &Folder<'a, T>,
        ) -> ::jstream::__private::core::primitive::bool {
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
        __form_T: ?::jstream::__private::core::marker::Sized,
    > ::jstream::__private::core::cmp::PartialEq<FolderRef<'__b, __form_T>>
    for Folder<'a, T>
    where
        __form_T: ::jstream::__private::core::cmp::PartialEq<T>,
    {
        fn eq(
            &self,
            __other @ _: &FolderRef<'__b, __form_T>,
        ) -> ::jstream::__private::core::primitive::bool {
            ::jstream::__private::core::cmp::PartialEq::eq(__other, self)
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
    Pair((&'b ::jstream::__private::core::primitive::str, Item2Ref<'b>)),
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
        shield as __both, shield as __draft, shield as __form, shield as __form___part_0,
        shield as __formatter, shield as __long, shield as __meant, shield as __of,
        shield as __other, shield as __part_0, shield as __part_0_form, shield as __pass,
        shield as __place, shield as __restoring, shield as __schema, shield as __slot,
        shield as __start, shield as __tag, shield as __trace, shield as __value,
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
        __part_0: (&'b ::jstream::__private::core::primitive::str, Item2Ref<'b>),
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
                ItemRef::Pair { 0: __part_0 @ _ } => {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &ItemRef<'b>| match __of {
                        ItemRef::Pair { 0: __part_0 @ _, .. } => {
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
                ItemRef::Pair { 0: __part_0 @ _ } => {
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
                        ItemRef::Pair { 0: ref __part_0 } => {
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::read_in_place(|__of: &ItemRef<'b>| match __of {
                        ItemRef::Pair { 0: __part_0 @ _, .. } => {
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
                                "Pair",
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
            ::jstream::__private::link(const {
                &[
                    ::jstream::__private::written(|__of: &Item| match __of {
                        Item::Pair { 0: __part_0 @ _, .. } => {
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
                Item::Pair { 0: __part_0 @ _ } => {
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
                    ItemRef::Pair { 0: __part_0 @ _ } => {
                        Item::Pair {
                            0: ::jstream::__private::restore_field(
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
                ItemRef::Pair { 0: __part_0 @ _ } => {
                    ::jstream::__private::core::fmt::Formatter::debug_tuple(
                            __formatter,
                            "Pair",
                        )
                        .field((&::jstream::__private::Shown(__part_0)).shown_field())
                        .finish()
                }
            }
        }
    }
    #[automatically_derived]
    impl<'__b> ::jstream::__private::core::cmp::PartialEq<Item> for ItemRef<'__b> {
        fn eq(&self, __other @ _: &Item) -> ::jstream::__private::core::primitive::bool {
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
    impl<'__b> ::jstream::__private::core::cmp::PartialEq<ItemRef<'__b>> for Item {
        fn eq(
            &self,
            __other @ _: &ItemRef<'__b>,
        ) -> ::jstream::__private::core::primitive::bool {
            ::jstream::__private::core::cmp::PartialEq::eq(__other, self)
        }
    }
};
