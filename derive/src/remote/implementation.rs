//! Expansion of `#[remote]` on an `impl` block: an `async fn` becomes the two methods of the trait.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Error, ImplItem, ImplItemFn, ItemImpl, Path, parse_quote};

use super::{asynchronous, attributes};
use crate::crates::{resolve, support};
use crate::errors::Errors;
use crate::shield::shield;

pub(super) fn implementation(options: TokenStream, mut of: ItemImpl) -> TokenStream {
    let mut errors = Errors::default();
    let mut krate: Path = parse_quote!(::jstream_rmi);
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            krate = meta.value()?.parse()?;
            Ok(())
        } else {
            Err(meta.error("unknown option: on an `impl` block, `remote` takes `crate = path`"))
        }
    });
    if let Err(error) = parser.parse2(options) {
        errors.add(error);
    }
    let Some((interface, _)) = of.trait_.clone() else {
        errors.add(Error::new_spanned(
            &of.self_ty,
            "`remote` applies to a trait or an `impl` block of a trait: name the trait here",
        ));
        let errors = errors.finish().err().map(|all| all.to_compile_error());
        return quote!(#of #errors);
    };
    let whole = of.to_token_stream();
    let items = std::mem::take(&mut of.items);
    let around = of.to_token_stream();
    let mut generated = TokenStream::new();
    for item in items {
        match item {
            ImplItem::Fn(method) if method.sig.asyncness.is_some() => {
                let [boxed, hidden] = both(&krate, &interface, method, &around);
                boxed.to_tokens(&mut generated);
                of.items.extend([boxed, hidden]);
            }
            other => of.items.push(other),
        }
    }
    let errors = errors.finish().err().map(|all| all.to_compile_error());
    let support = support(&krate);
    let shield = shield(&support, &generated, &whole);
    let code = quote! {
        const _: () = {
            #shield
            #of
        };
        #errors
    };
    resolve(code, &support)
}

/// Returns the program's method under its hidden name, and the method that boxes its future.
fn both(
    krate: &Path,
    interface: &Path,
    mut method: ImplItemFn,
    around: &TokenStream,
) -> [ImplItem; 2] {
    let conditions = attributes::conditions(&method.attrs);
    let mut boxed = asynchronous::boxed(krate, &method.sig);
    let names = asynchronous::named(&mut boxed);
    let hidden = asynchronous::hidden(&method.sig.ident);
    let boxed = parse_quote! {
        #(#conditions)*
        #[allow(clippy::too_many_arguments, reason = "as in the trait's method")]
        #boxed {
            ::__std::boxed::Box::pin(<Self as #interface>::#hidden(self, #(#names),*))
        }
    };
    method.sig = asynchronous::implemented(&method, around);
    method.sig.ident = hidden;
    [ImplItem::Fn(boxed), ImplItem::Fn(method)]
}
