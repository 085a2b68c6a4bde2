//! Expansion of `#[derive(Referring)]`, for structs that contain references to remote objects.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Ident, Index, Member, Path, Result, parse_quote};

use super::check::{HIDDEN, NESTED, Search};
use super::interface::passed;
use crate::errors::Errors;

/// Number of fields in a group: the wire type of the struct is a tuple of tuples, since tuples are
/// limited in length.
const TOGETHER: usize = 8;

/// A field, and the name of its value in generated code.
struct Part<'f> {
    member: Member,
    binding: Ident,
    field: &'f Field,
}

impl Part<'_> {
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
            "a struct with references to remote objects can't have generic parameters",
        ));
    }
    let Data::Struct(data) = &input.data else {
        errors.add(Error::new_spanned(
            &input.ident,
            "`Referring` supports only structs: instead of an enum, pass an `Option` or `Result` \
             of a struct, or a struct of several `Option`s",
        ));
        return errors.finish().map(|()| TokenStream::new());
    };
    let each = data.fields.iter().enumerate();
    let parts: Vec<_> = each
        .map(|(i, field)| Part {
            member: match &field.ident {
                Some(name) => name.clone().into(),
                None => Index::from(i).into(),
            },
            binding: format_ident!("__field_{i}"),
            field,
        })
        .collect();
    check(&input, &parts, &mut errors);
    errors.finish()?;
    Ok(expand(&input, &krate, &parts))
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

fn check(input: &DeriveInput, parts: &[Part<'_>], errors: &mut Errors) {
    if !parts.iter().any(Part::passes) {
        errors.add(Error::new_spanned(
            &input.ident,
            "no field is a reference to a remote object: derive `Transportable` instead, and pass \
             the struct directly",
        ));
    }
    for part in parts {
        let search = Search::of(&part.field.ty);
        if search.remotes && !part.passes() {
            errors.add(Error::new_spanned(&part.field.ty, HIDDEN));
        }
        if search.streams {
            errors.add(Error::new_spanned(&part.field.ty, NESTED));
        }
    }
}

fn expand(input: &DeriveInput, krate: &Path, parts: &[Part<'_>]) -> TokenStream {
    let name = &input.ident;
    let text = format!("{}{{", name.unraw());
    let together = |each: &dyn Fn(&Part<'_>) -> TokenStream| {
        let chunks = parts.chunks(TOGETHER).map(|chunk| {
            let each = chunk.iter().map(each);
            quote!((#(#each,)*))
        });
        quote!((#(#chunks,)*))
    };
    let wires = together(&|part| {
        let ty = &part.field.ty;
        match part.passes() {
            true => quote_spanned!(part.span()=> <#ty as #krate::Passed>::Wire),
            false => quote!(#ty),
        }
    });
    let bindings = together(&|part| {
        let binding = &part.binding;
        quote!(#binding @ _)
    });
    let given = together(&|part| {
        let (ty, binding) = (&part.field.ty, &part.binding);
        match part.passes() {
            true => quote!(<#ty as #krate::Passed>::give(#binding, __giving)),
            false => quote!(#binding),
        }
    });
    let described = parts.iter().map(|part| {
        let ty = &part.field.ty;
        let name = match &part.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let describe = part
            .passes()
            .then(|| quote!(<#ty as #krate::Passed>::describe(__text);));
        quote! {
            ::std::string::String::push_str(__text, #name);
            #describe
            ::std::string::String::push(__text, ',');
        }
    });
    // References are taken first, so that none is lost if another field fails.
    let (references, values): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.passes());
    let taken = references.into_iter().chain(values).map(|part| {
        let (ty, binding) = (&part.field.ty, &part.binding);
        match part.passes() {
            true => quote! {
                let #binding @ _ = <#ty as #krate::Passed>::take(#binding, __taking)?;
            },
            false => quote_spanned! {part.span()=>
                let #binding @ _ = #krate::__private::owned::<#ty>(#binding)?;
            },
        }
    });
    let members: Vec<_> = parts.iter().map(|part| &part.member).collect();
    let names: Vec<_> = parts.iter().map(|part| &part.binding).collect();
    let fields = quote!(#(#members: #names),*);
    quote! {
        #[automatically_derived]
        impl #krate::Passed for #name {
            type Wire = #wires;

            fn describe(__text: &mut ::std::string::String) {
                ::std::string::String::push_str(__text, #text);
                #(#described)*
                ::std::string::String::push(__text, '}');
            }

            fn give(self, __giving: &mut #krate::__private::Giving) -> Self::Wire {
                let Self { #(#members: #names @ _),* } = self;
                #given
            }

            fn take(
                __form: &#krate::__private::Form<'_, Self::Wire>,
                __taking: &#krate::__private::Taking,
            ) -> ::core::result::Result<Self, #krate::__private::Unfit> {
                let #bindings = __form;
                #(#taken)*
                ::core::result::Result::Ok(Self { #fields })
            }
        }
    }
}
