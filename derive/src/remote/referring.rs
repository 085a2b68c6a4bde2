//! Expansion of `#[derive(Referring)]`, for structs and enums that contain references to
//! remote objects.
//!
//! Decision 086 has the reasons.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Field, Fields, Ident, Index, Member, Path, Result, parse_quote,
};

use super::check::{HIDDEN, NESTED, Search};
use super::interface::passed;
use crate::crates::{resolve, support};
use crate::errors::Errors;
use crate::shield::shield;

/// Number of fields in a group: the wire type of the fields is a tuple of tuples, since tuples are
/// limited in length.
const TOGETHER: usize = 8;

/// A field, and the name of its value in generated code.
struct PassedField<'f> {
    member: Member,
    binding: Ident,
    field: &'f Field,
}

/// The fields of a struct, or of a variant of an enum.
struct Shape<'f> {
    /// The name of the variant, if it is one.
    variant: Option<&'f Ident>,
    parts: Vec<PassedField<'f>>,
}

impl PassedField<'_> {
    fn passes(&self) -> bool {
        passed(&self.field.ty)
    }

    fn span(&self) -> Span {
        Span::call_site().located_at(self.field.ty.span())
    }
}

pub(crate) fn referring(input: TokenStream) -> TokenStream {
    derived(input).unwrap_or_else(|error| error.to_compile_error())
}

fn derived(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let mut errors = Errors::default();
    let krate = krate(&input, &mut errors);
    if !input.generics.params.is_empty() {
        errors.add(Error::new_spanned(
            &input.generics,
            "a type with references to remote objects can't have generic parameters: name the types, in one struct or enum for each",
        ));
    }
    let shapes: Vec<_> = match &input.data {
        Data::Struct(data) => vec![Shape::new(None, &data.fields)],
        Data::Enum(data) => {
            let variants = data.variants.iter();
            let shapes = variants.map(|of| Shape::new(Some(&of.ident), &of.fields));
            shapes.collect()
        }
        Data::Union(_) => {
            errors.add(Error::new_spanned(
                &input.ident,
                "`Referring` supports only structs and enums",
            ));
            return errors.finish().map(|()| TokenStream::new());
        }
    };
    check(&input, &shapes, &mut errors);
    errors.finish()?;
    Ok(expand(&input, &krate, &shapes))
}

/// Parses `#[referring(crate = path)]`.
fn krate(input: &DeriveInput, errors: &mut Errors) -> Path {
    let mut krate: Path = parse_quote!(::jstream_rmi);
    let own = input.attrs.iter();
    for attr in own.filter(|attr| attr.path().is_ident("referring")) {
        let parsed = attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                krate = meta.value()?.parse()?;
                return Ok(());
            }
            Err(meta.error("unknown option: `referring` takes `crate = path`"))
        });
        if let Err(error) = parsed {
            errors.add(error);
        }
    }
    krate
}

fn check(input: &DeriveInput, shapes: &[Shape<'_>], errors: &mut Errors) {
    let parts = || shapes.iter().flat_map(|shape| &shape.parts);
    if !parts().any(PassedField::passes) {
        errors.add(Error::new_spanned(
            &input.ident,
            "no field is a reference to a remote object: derive `Transportable` instead, and pass \
             the type directly",
        ));
    }
    for part in parts() {
        let search = Search::new(&part.field.ty);
        if search.remotes && !part.passes() {
            errors.add(Error::new_spanned(&part.field.ty, HIDDEN));
        }
        if search.streams {
            errors.add(Error::new_spanned(&part.field.ty, NESTED));
        }
    }
}

impl<'f> Shape<'f> {
    fn new(variant: Option<&'f Ident>, fields: &'f Fields) -> Self {
        let each = fields.iter().enumerate();
        let parts = each.map(|(i, field)| PassedField {
            member: match &field.ident {
                Some(name) => name.clone().into(),
                None => Index::from(i).into(),
            },
            binding: format_ident!("__field_{i}"),
            field,
        });
        Self {
            variant,
            parts: parts.collect(),
        }
    }

    /// Returns the path of the struct or variant, for patterns and expressions.
    fn path(&self) -> TokenStream {
        match self.variant {
            Some(name) => quote!(Self::#name),
            None => quote!(Self),
        }
    }

    /// Returns a tuple of tuples with something for each field.
    fn together(&self, each: &dyn Fn(&PassedField<'_>) -> TokenStream) -> TokenStream {
        let chunks = self.parts.chunks(TOGETHER).map(|chunk| {
            let each = chunk.iter().map(each);
            quote!((#(#each,)*))
        });
        quote!((#(#chunks,)*))
    }

    fn wire(&self, krate: &Path) -> TokenStream {
        self.together(&|part| {
            let ty = &part.field.ty;
            match part.passes() {
                true => quote_spanned!(part.span()=> <#ty as #krate::Passed>::Wire),
                false => quote!(#ty),
            }
        })
    }

    fn bindings(&self) -> TokenStream {
        self.together(&|part| {
            let binding = &part.binding;
            quote!(#binding @ _)
        })
    }

    fn given(&self, krate: &Path) -> TokenStream {
        self.together(&|part| {
            let (ty, binding) = (&part.field.ty, &part.binding);
            match part.passes() {
                true => quote!(<#ty as #krate::Passed>::give(#binding, __giving)),
                false => quote!(#binding),
            }
        })
    }

    /// Returns statements that add the interfaces of the references.
    fn reached(&self, krate: &Path) -> TokenStream {
        let references = self.parts.iter().filter(|part| part.passes());
        let each = references.map(|part| {
            let ty = &part.field.ty;
            quote!(<#ty as #krate::Passed>::reach(__interfaces);)
        });
        quote!(#(#each)*)
    }

    fn described(&self, krate: &Path) -> TokenStream {
        let each = self.parts.iter().map(|part| {
            let ty = &part.field.ty;
            let name = match &part.member {
                Member::Named(name) => name.unraw().to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            let describe = part
                .passes()
                .then(|| quote!(<#ty as #krate::Passed>::describe(__text);));
            quote! {
                ::__std::string::String::push_str(__text, #name);
                #describe
                ::__std::string::String::push(__text, ',');
            }
        });
        quote!(#(#each)*)
    }

    /// Returns statements that convert the fields. All references are taken before anything can
    /// fail: those that are not taken are not given back.
    fn taken(&self, krate: &Path) -> TokenStream {
        let (references, values): (Vec<_>, Vec<_>) =
            self.parts.iter().partition(|part| part.passes());
        let taken = references.iter().map(|part| {
            let (ty, binding) = (&part.field.ty, &part.binding);
            quote! {
                let #binding @ _ = <#ty as #krate::Passed>::take(#binding, __taking);
            }
        });
        let checked = references.iter().map(|part| {
            let binding = &part.binding;
            quote!(let #binding @ _ = #binding?;)
        });
        let owned = values.iter().map(|part| {
            let (ty, binding) = (&part.field.ty, &part.binding);
            quote_spanned! {part.span()=>
                let #binding @ _ = #krate::__private::owned::<#ty>(#binding)?;
            }
        });
        quote!(#(#taken)* #(#checked)* #(#owned)*)
    }
}

/// Returns the wire type of one of these shapes: a balanced tree of `Result`s.
fn either(wires: &[TokenStream]) -> TokenStream {
    let (first, second) = wires.split_at(wires.len() / 2);
    if first.is_empty() {
        return quote!(#(#second)*);
    }
    let (first, second) = (either(first), either(second));
    quote!(::__core::result::Result<#first, #second>)
}

/// Returns the value, or the pattern, of the shape with this index in the tree of [`either`].
fn nth(index: usize, count: usize, value: &TokenStream) -> TokenStream {
    let half = count / 2;
    if half == 0 {
        return value.clone();
    }
    if index < half {
        let value = nth(index, half, value);
        quote!(::__core::result::Result::Ok(#value))
    } else {
        let value = nth(
            index.saturating_sub(half),
            count.saturating_sub(half),
            value,
        );
        quote!(::__core::result::Result::Err(#value))
    }
}

fn expand(input: &DeriveInput, krate: &Path, shapes: &[Shape<'_>]) -> TokenStream {
    let name = &input.ident;
    let is_enum = matches!(input.data, Data::Enum(_));
    let text = format!("{}{}{{", name.unraw(), if is_enum { "|" } else { "" });
    let wires: Vec<_> = shapes.iter().map(|shape| shape.wire(krate)).collect();
    let wire = either(&wires);
    let described = shapes.iter().map(|shape| {
        let fields = shape.described(krate);
        let Some(variant) = shape.variant else {
            return fields;
        };
        let text = format!("{}{{", variant.unraw());
        quote! {
            ::__std::string::String::push_str(__text, #text);
            #fields
            ::__std::string::String::push(__text, '}');
        }
    });
    let reached = shapes.iter().map(|shape| shape.reached(krate));
    let (mut given, mut taken) = (TokenStream::new(), TokenStream::new());
    for (index, shape) in shapes.iter().enumerate() {
        let path = shape.path();
        let members: Vec<_> = shape.parts.iter().map(|part| &part.member).collect();
        let names: Vec<_> = shape.parts.iter().map(|part| &part.binding).collect();
        let value = nth(index, shapes.len(), &shape.given(krate));
        given.extend(quote!(#path { #(#members: #names @ _),* } => #value,));
        let form = nth(index, shapes.len(), &shape.bindings());
        let statements = shape.taken(krate);
        taken.extend(quote! {
            #form => {
                #statements
                ::__core::result::Result::Ok(#path { #(#members: #names),* })
            }
        });
    }
    let code = quote! {
        #[automatically_derived]
        impl #krate::Passed for #name {
            type Wire = #wire;

            fn describe(__text: &mut ::__std::string::String) {
                ::__std::string::String::push_str(__text, #text);
                #(#described)*
                ::__std::string::String::push(__text, '}');
            }

            fn reach(__interfaces: &mut ::__std::vec::Vec<&'static #krate::Interface>) {
                #(#reached)*
            }

            fn give(self, __giving: &mut #krate::__private::Giving) -> <Self as #krate::Passed>::Wire {
                match self {
                    #given
                }
            }

            fn take(
                __form: &#krate::__private::Form<'_, <Self as #krate::Passed>::Wire>,
                __taking: &#krate::__private::Taking,
            ) -> ::__core::result::Result<Self, #krate::__private::Unfit> {
                match __form {
                    #taken
                }
            }
        }
    };
    let support = support(krate);
    let shield = shield(&support, &code, input);
    let code = quote! {
        const _: () = {
            #shield
            #code
        };
    };
    resolve(code, &support)
}
