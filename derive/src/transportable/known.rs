//! Types that the derive recognises by their names.
//!
//! The names only determine the spelling of forms. If a name is misleading, the types do not agree,
//! and the program does not compile.
//!
//! Decision 005 has the reasons.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Lifetime, Path, Type, TypeArray, parse_quote};

use super::model::Own;

/// Types that are their own forms.
const LEAVES: [&str; 76] = [
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "bool",
    "char",
    "str",
    "OsStr",
    "PhantomData",
    "Ordering",
    "RangeFull",
    "Duration",
    "SystemTime",
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "SocketAddr",
    "SocketAddrV4",
    "SocketAddrV6",
    "Uuid",
    "Timestamp",
    "SignedDuration",
    "Date",
    "Time",
    "DateTime",
    "BStr",
    "NaiveDate",
    "NaiveTime",
    "NaiveDateTime",
    "FixedOffset",
    "TimeDelta",
    "Weekday",
    "Month",
    "PrimitiveDateTime",
    "OffsetDateTime",
    "UtcDateTime",
    "UtcOffset",
    "f16",
    "bf16",
    "Vec2",
    "Vec3",
    "Vec4",
    "DVec2",
    "DVec3",
    "DVec4",
    "IVec2",
    "IVec3",
    "IVec4",
    "UVec2",
    "UVec3",
    "UVec4",
    "Vec3A",
    "Quat",
    "DQuat",
    "Mat2",
    "Mat3",
    "Mat4",
    "DMat2",
    "DMat3",
    "DMat4",
    "Mat3A",
    "Affine2",
    "Affine3",
    "Affine3A",
    "DAffine2",
    "DAffine3",
];

/// Types whose form is the same type with the forms of its arguments.
const PARTS: [&str; 9] = [
    "Cell",
    "Range",
    "RangeFrom",
    "RangeTo",
    "RangeInclusive",
    "RangeToInclusive",
    "Bound",
    "Wrapping",
    "Saturating",
];

/// Types that own their contents, and have a different form.
const OWNERS: [&str; 16] = [
    "String",
    "PathBuf",
    "OsString",
    "Vec",
    "Box",
    "Rc",
    "Arc",
    "Cow",
    "Bytes",
    "BytesMut",
    "BString",
    "SmallVec",
    "ArrayVec",
    "ArrayString",
    "Rkyv",
    "RkyvBuf",
];

/// Returns true if a type is its own form. A type with arguments that has the name of a leaf
/// without arguments is the program's.
pub(super) fn is_leaf(of: &Path, name: &str) -> bool {
    let has_arguments = of
        .segments
        .last()
        .is_some_and(|last| !last.arguments.is_empty());
    if has_arguments {
        return matches!(name, "PhantomData" | "NonZero" | "DateTime" | "Checked");
    }
    LEAVES.contains(&name) || name.starts_with("NonZero") || is_path_of_std(of)
}

/// Returns true if a type is spelled as the `Path` of `std`. A bare `Path` may be the program's:
/// see `bare_path`.
fn is_path_of_std(of: &Path) -> bool {
    let mut names = of.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|last| last == "Path") && names.next().is_some_and(|of| of == "path")
}

/// Returns true if a type's form is the same type with the forms of its arguments.
pub(super) fn is_of_parts(name: &str) -> bool {
    PARTS.contains(&name)
}

/// Returns true if a type owns its contents.
pub(super) fn is_owner(name: &str) -> bool {
    OWNERS.contains(&name) || dimensions(name).is_some() || map(name).is_some()
}

/// Returns the form of a type whose first argument is an rkyv type, which has no form of its own.
pub(super) fn archive(of: &Own, name: &str, lifetime: &Lifetime, argument: &Type) -> Option<Type> {
    let krate = of.krate();
    match name {
        "Rkyv" | "RkyvBuf" => Some(parse_quote!(&#lifetime #krate::RkyvArchive<#argument>)),
        "RkyvArchive" => Some(parse_quote!(#krate::RkyvArchive<#argument>)),
        _ => None,
    }
}

/// Returns the form of an owner, or of a wrapper of `std`, for arguments with these forms.
pub(super) fn form(of: &Own, name: &str, lifetime: &Lifetime, arguments: &[Type]) -> Option<Type> {
    let krate = of.krate();
    Some(match (name, arguments) {
        ("String" | "ArrayString", _) => parse_quote!(&#lifetime ::__core::primitive::str),
        ("PathBuf", []) => parse_quote!(&#lifetime ::__std::path::Path),
        ("OsString", []) => parse_quote!(&#lifetime ::__std::ffi::OsStr),
        ("Vec" | "ArrayVec", [element, ..]) => parse_quote!(&#lifetime [#element]),
        ("SmallVec", [Type::Array(TypeArray { elem, .. })]) => parse_quote!(&#lifetime [#elem]),
        ("Bytes" | "BytesMut", []) => parse_quote!(&#lifetime [::__core::primitive::u8]),
        ("BString", []) => parse_quote!(&#lifetime #krate::__private::BStr),
        ("Box" | "Cow", [target, ..]) => parse_quote!(&#lifetime #target),
        ("Rc" | "Arc", [target, ..]) => parse_quote!(#krate::Shared<#lifetime, #target>),
        ("Option", [payload]) => parse_quote!(::__core::option::Option<#payload>),
        ("Result", [ok, err]) => parse_quote!(::__core::result::Result<#ok, #err>),
        (_, [element]) if dimensions(name).is_some() => {
            let shape = shape(dimensions(name).flatten(), lifetime);
            parse_quote!(#krate::NdArray<#lifetime, #element, #shape>)
        }
        _ => {
            let (form, parts) = map(name)?;
            let form = format_ident!("{form}");
            // The argument after keys and values is the hasher, which is not sent.
            let arguments = arguments.iter().take(parts);
            parse_quote!(#krate::map::#form<#lifetime, #(#arguments),*>)
        }
    })
}

/// Returns the form of a map or set, in the module `map`, and its number of parts.
fn map(owner: &str) -> Option<(&'static str, usize)> {
    Some(match owner {
        "BTreeMap" => ("SortedMap", 2),
        "BTreeSet" => ("SortedSet", 1),
        "HashMap" => ("HashedMap", 2),
        "HashSet" => ("HashedSet", 1),
        "IndexMap" => ("IndexedMap", 2),
        "IndexSet" => ("IndexedSet", 1),
        _ => return None,
    })
}

/// Returns the number of dimensions of an `ndarray` array: 2 for `Array2`, unknown for `ArrayD`.
fn dimensions(name: &str) -> Option<Option<usize>> {
    match name.strip_prefix("Array")? {
        "D" => Some(None),
        "0" | "1" | "2" | "3" | "4" | "5" | "6" => Some(name.get(5..)?.parse().ok()),
        _ => None,
    }
}

/// Returns the type of the lengths of an array with this number of dimensions.
fn shape(dimensions: Option<usize>, lifetime: &Lifetime) -> TokenStream {
    match dimensions {
        Some(count) => quote!([::__core::primitive::usize; #count]),
        None => quote!(&#lifetime [::__core::primitive::usize]),
    }
}
