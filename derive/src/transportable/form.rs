//! The in-place form of a type that owns its parts.
//!
//! The form's fields are spelled out, mapped from the spelling of the type's own: projections would
//! make the form invariant in the buffer's lifetime. Nothing relies on the mapping being right: the
//! pointers through which fields are written have both types in them, and those must agree.

use proc_macro2::Span;
use quote::{ToTokens, format_ident, quote};
use syn::visit::Visit;
use syn::{
    AngleBracketedGenericArguments, Attribute, DeriveInput, Field, Fields, GenericArgument,
    GenericParam, Generics, Ident, Lifetime, PathArguments, Type, TypePath, parse_quote,
};

use super::parse::{Body, Own};

/// Whether the type's form is another one.
pub(super) fn is_needed(of: &Own) -> bool {
    let parts = of.parts();
    of.options.owned
        || parts.iter().any(|part| part.form.is_some())
        || parts.iter().any(|part| Owners::are_in(&part.ty))
}

/// Looks for types that own memory.
struct Owners {
    found: bool,
}

impl Owners {
    fn are_in(ty: &Type) -> bool {
        let mut owners = Self { found: false };
        owners.visit_type(ty);
        owners.found
    }
}

impl<'ast> Visit<'ast> for Owners {
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let last = path.path.segments.last();
        let known = ["String", "Vec", "Box"];
        self.found |= last.is_some_and(|last| {
            let map = map_form(&last.ident.to_string()).is_some();
            map || known.iter().any(|name| last.ident == name)
        });
        syn::visit::visit_type_path(self, path);
    }
}

/// The form of a map or set of std's, or of `indexmap`'s, in the module `map`.
fn map_form(owner: &str) -> Option<Ident> {
    let form = match owner {
        "BTreeMap" => "SortedMap",
        "BTreeSet" => "SortedSet",
        "HashMap" => "HashedMap",
        "HashSet" => "HashedSet",
        "IndexMap" => "IndexedMap",
        "IndexSet" => "IndexedSet",
        _ => return None,
    };
    Some(format_ident!("{form}"))
}

/// The name of a type's form.
pub(super) fn name(of: &Ident) -> Ident {
    format_ident!("{}Ref", of, span = of.span())
}

/// The buffer's lifetime: the type's own, where it has one.
pub(super) fn lifetime(of: &Own) -> Lifetime {
    let own = of.lifetimes.first().cloned();
    own.unwrap_or_else(|| Lifetime::new("'b", Span::call_site()))
}

/// The type's parameters behind the buffer's lifetime, without bounds and defaults.
pub(super) fn generics(of: &Own) -> Generics {
    let lifetime = lifetime(of);
    let mut generics = Generics::default();
    generics.params.push(parse_quote!(#lifetime));
    for param in &of.generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(of) => {
                let name = &of.ident;
                generics.params.push(parse_quote!(#name));
            }
            GenericParam::Const(of) => {
                let (name, ty) = (&of.ident, &of.ty);
                generics.params.push(parse_quote!(const #name: #ty));
            }
        }
    }
    generics
}

/// The definition of the form.
pub(super) fn definition(input: &DeriveInput, of: &Own) -> DeriveInput {
    let mut form = input.clone();
    form.ident = name(&of.name);
    form.generics = generics(of);
    let doc = format!(
        "The in-place form of [`{}`]: what it is in a receive buffer.",
        of.name
    );
    form.attrs
        .retain(|attr| attr.path().is_ident("repr") || is_crate(attr));
    form.attrs.push(parse_quote!(#[doc = #doc]));
    if matches!(of.body, Body::Enum(_)) && of.repr.int.is_none() {
        form.attrs.push(parse_quote!(#[repr(u8)]));
    }
    let mapping = Mapping {
        of,
        lifetime: lifetime(of),
    };
    let mut forms = of.parts().into_iter();
    let mut each = |field: &mut Field| {
        field.attrs.retain(|attr| attr.path().is_ident("doc"));
        if let Some(part) = forms.next() {
            field.ty = part.form.clone().unwrap_or_else(|| mapping.map(&part.ty));
        }
    };
    let mut all = |fields: &mut Fields| fields.iter_mut().for_each(&mut each);
    match &mut form.data {
        syn::Data::Struct(of) => all(&mut of.fields),
        syn::Data::Enum(of) => {
            for variant in &mut of.variants {
                variant.attrs.retain(|attr| attr.path().is_ident("doc"));
                all(&mut variant.fields);
            }
        }
        syn::Data::Union(_) => {}
    }
    form
}

/// Whether this is `transportable(crate = ..)`, which the form needs too.
fn is_crate(attr: &Attribute) -> bool {
    attr.path().is_ident("transportable") && attr.to_token_stream().to_string().contains("crate")
}

/// From a type, as it is spelled, to its form.
struct Mapping<'o> {
    of: &'o Own,
    lifetime: Lifetime,
}

impl Mapping<'_> {
    fn map(&self, ty: &Type) -> Type {
        let lifetime = &self.lifetime;
        match ty {
            Type::Reference(of) => {
                let target = self.map(&of.elem);
                parse_quote!(&#lifetime #target)
            }
            Type::Slice(of) => {
                let element = self.map(&of.elem);
                parse_quote!([#element])
            }
            Type::Array(of) => {
                let (element, len) = (self.map(&of.elem), &of.len);
                parse_quote!([#element; #len])
            }
            Type::Tuple(of) => {
                let parts = of.elems.iter().map(|part| self.map(part));
                parse_quote!((#(#parts,)*))
            }
            Type::Paren(of) => self.map(&of.elem),
            Type::Group(of) => self.map(&of.elem),
            Type::Path(of) => self.path(of),
            other => other.clone(),
        }
    }

    fn path(&self, of: &TypePath) -> Type {
        let lifetime = &self.lifetime;
        let Some(last) = of.path.segments.last() else {
            return Type::Path(of.clone());
        };
        let name = last.ident.to_string();
        let arguments: Vec<Type> = match &last.arguments {
            PathArguments::AngleBracketed(args) => types(args).map(|ty| self.map(ty)).collect(),
            _ => Vec::new(),
        };
        if let Some(form) = map_form(&name) {
            let support = self.of.support();
            // Behind keys and values comes what hashes them, which does not travel.
            let parts = arguments
                .iter()
                .take(if name.ends_with("Set") { 1 } else { 2 });
            return parse_quote!(#support::map::#form<#lifetime, #(#parts),*>);
        }
        match (name.as_str(), arguments.as_slice()) {
            ("String", _) => parse_quote!(&#lifetime ::core::primitive::str),
            ("Vec", [element, ..]) => parse_quote!(&#lifetime [#element]),
            ("Box", [target, ..]) => parse_quote!(&#lifetime #target),
            ("Option", [payload]) => parse_quote!(::core::option::Option<#payload>),
            ("Result", [ok, err]) => parse_quote!(::core::result::Result<#ok, #err>),
            ("Self", _) => {
                let name = self::name(&self.of.name);
                let generics = generics(self.of);
                let (_, args, _) = generics.split_for_impl();
                parse_quote!(#name #args)
            }
            _ if self.is_its_own(of, &name) => Type::Path(of.clone()),
            _ => self.renamed(of),
        }
    }

    /// Whether the type is its own form, for what its name tells.
    fn is_its_own(&self, of: &TypePath, name: &str) -> bool {
        const LEAVES: [&str; 18] = [
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
            "PhantomData",
        ];
        let mut params = self.of.generics.type_params();
        LEAVES.contains(&name)
            || name.starts_with("NonZero")
            || of.qself.is_some()
            || params.any(|param| of.path.is_ident(&param.ident))
    }

    /// The form of a type of the program's: `a::Foo<X>` is `a::FooRef<'b, X's form>`.
    fn renamed(&self, of: &TypePath) -> Type {
        let lifetime = &self.lifetime;
        let mut of = of.clone();
        if let Some(last) = of.path.segments.last_mut() {
            last.ident = name(&last.ident);
            let others: Vec<GenericArgument> = match &last.arguments {
                PathArguments::AngleBracketed(args) => args
                    .args
                    .iter()
                    .filter_map(|argument| match argument {
                        GenericArgument::Lifetime(_) => None,
                        GenericArgument::Type(ty) => Some(GenericArgument::Type(self.map(ty))),
                        other => Some(other.clone()),
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let args: AngleBracketedGenericArguments = parse_quote!(<#lifetime, #(#others),*>);
            last.arguments = PathArguments::AngleBracketed(args);
        }
        Type::Path(of)
    }
}

fn types(args: &AngleBracketedGenericArguments) -> impl Iterator<Item = &Type> {
    args.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The alias by which others name the form of a type that is its own.
pub(super) fn alias(of: &Own) -> proc_macro2::TokenStream {
    let (vis, own) = (&of.vis, &of.name);
    let name = name(own);
    let generics = generics(of);
    let (_, args, _) = of.generics.split_for_impl();
    let doc = format!("The in-place form of [`{own}`]: itself.");
    quote! {
        #[doc = #doc]
        #[allow(dead_code, type_alias_bounds, reason = "for types that have it as a part")]
        #vis type #name #generics = #own #args;
    }
}
