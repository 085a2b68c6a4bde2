//! How one field is written, read, walked and described.
//!
//! Everything is a call whose argument is the field's place, so that the field's type is inferred and
//! not spelled.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Path, Type, TypePath, TypeReference, parse_quote};

use super::parse::{Own, Part};

/// How a field gets to the wire and back.
pub(super) enum Mode {
    /// As its type says.
    Plain,
    /// Not at all.
    Skipped,
    /// By a value that an adapter makes, and from it back.
    Adapted(Path),
    /// By a value that an adapter makes, whose form is what arrives.
    Replaced(Path),
    /// As this type, which is laid out alike.
    As(Type),
    /// As `None`, or as nothing at all of it.
    Absent,
    /// As a slice that may be changed.
    Exclusive,
}

impl Part {
    pub(super) fn mode(&self, of: &Own) -> Mode {
        let options = &self.options;
        if options.skip.is_some() {
            Mode::Skipped
        } else if let Some(adapter) = &options.with {
            if options.form.is_some() {
                Mode::Replaced(adapter.clone())
            } else {
                Mode::Adapted(adapter.clone())
            }
        } else if of.options.opt_in && options.follow.is_none() && is_pointer(&self.ty) {
            Mode::Absent
        } else if options.shared.is_some() {
            let mut mirror = self.ty.clone();
            Mirror { krate: of.krate() }.visit_type_mut(&mut mirror);
            Mode::As(mirror)
        } else if options.exclusive.is_some() {
            Mode::Exclusive
        } else {
            Mode::Plain
        }
    }

    /// Writes the field that `binding` refers to into the slot at `place`.
    pub(super) fn write(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let (support, binding) = (of.support(), &self.binding);
        let span = self.span;
        match self.mode(of) {
            Mode::Plain => quote_spanned! {span=>
                #support::Transportable::write(#binding, #place, draft);
            },
            Mode::Skipped => quote!(let _ = #binding;),
            Mode::Adapted(adapter) => quote_spanned! {span=>
                #support::write_adapted::<#adapter, _>(#binding, #place, draft);
            },
            Mode::Replaced(adapter) => quote_spanned! {span=>
                #support::write_replaced::<#adapter, _>(#binding, #place, draft);
            },
            Mode::As(mirror) => quote_spanned! {span=>
                #support::write_as::<#mirror, _, _, _, _>(#binding, #place, draft);
            },
            Mode::Absent => quote_spanned! {span=>
                #support::write_absent(#binding, #place, draft);
            },
            Mode::Exclusive => quote_spanned! {span=>
                #support::write_exclusive(#binding, #place, draft);
            },
        }
    }

    /// Reads the field in the slot at `place`.
    pub(super) fn read(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let span = self.span;
        match self.mode(of) {
            Mode::Skipped => quote_spanned!(span=> #support::make_default(#place);),
            Mode::Adapted(adapter) => {
                quote_spanned!(span=> #support::read_adapted::<#adapter, _>(#place, pass)?;)
            }
            Mode::As(mirror) => {
                quote_spanned!(span=> #support::read_as::<#mirror, _, _>(#place, pass)?;)
            }
            _ => quote_spanned!(span=> #support::InPlace::read(#place, pass)?;),
        }
    }

    /// Walks the field in the slot at `place`; an expression.
    pub(super) fn trace(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let span = self.span;
        let walk = match self.mode(of) {
            Mode::Skipped => quote!(),
            Mode::Adapted(_) => quote!(let _ = trace.hit(#place);),
            Mode::As(mirror) => {
                quote_spanned!(span=> #support::trace_as::<#mirror, _, _>(#place, trace);)
            }
            _ => quote_spanned!(span=> #support::InPlace::trace(#place, trace);),
        };
        let verified = (!self.options.verify.is_empty()).then(|| {
            quote! {
                if trace.hit_verified(#place) {
                    return;
                }
            }
        });
        quote!(#verified #walk)
    }

    /// Has functions approve of the field in the slot at `place`.
    pub(super) fn verify(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let span = self.span;
        let parts = match self.mode(of) {
            Mode::Skipped | Mode::Adapted(_) | Mode::As(_) => quote!(),
            _ => quote_spanned!(span=> #support::InPlace::verify(#place)?;),
        };
        let functions = &self.options.verify;
        quote!(#parts #(#support::approve(#place, #functions)?;)*)
    }

    /// The shape of the field that `access` finds.
    pub(super) fn shape(&self, of: &Own, access: &TokenStream) -> TokenStream {
        let support = of.support();
        let span = self.span;
        let shape = match self.mode(of) {
            Mode::Skipped => quote!(#support::Shape::MADE),
            Mode::Adapted(adapter) => {
                quote_spanned!(span=> #support::adapted_shape::<#adapter, _, _>(#access))
            }
            Mode::As(mirror) => quote_spanned!(span=> #support::shape_as::<#mirror>()),
            _ => quote_spanned!(span=> #support::shape_of(#access)),
        };
        if self.options.verify.is_empty() {
            shape
        } else {
            quote!(#shape.verified())
        }
    }

    /// Describes the type of the field that `access` finds.
    pub(super) fn describe(&self, of: &Own, access: &TokenStream) -> TokenStream {
        let support = of.support();
        let span = self.span;
        match self.mode(of) {
            Mode::Adapted(adapter) => {
                quote_spanned!(span=> #support::describe_adapted::<#adapter, _, _>(schema, #access))
            }
            Mode::As(mirror) => quote_spanned!(span=> #support::describe_as::<#mirror>(schema)),
            _ => quote_spanned!(span=> #support::describe(schema, #access)),
        }
    }

    /// Whether the field has a wire form.
    pub(super) fn travels(&self) -> bool {
        self.options.skip.is_none()
    }

    /// How the field that `access` finds is in memory.
    pub(super) fn memory(&self, of: &Own, access: &TokenStream) -> TokenStream {
        let support = of.support();
        let span = self.span;
        match self.mode(of) {
            Mode::Plain => quote_spanned!(span=> #support::memory_of(#access)),
            _ => quote!(#support::Memory::OTHER),
        }
    }
}

/// Whether a type, as it is spelled, is a pointer to others or an option of one.
fn is_pointer(ty: &Type) -> bool {
    struct Pointers(bool);
    impl<'ast> Visit<'ast> for Pointers {
        fn visit_type_reference(&mut self, _: &'ast TypeReference) {
            self.0 = true;
        }

        fn visit_type_path(&mut self, path: &'ast TypePath) {
            const POINTERS: [&str; 9] = [
                "Box", "Rc", "Arc", "Shared", "Vec", "String", "HashMap", "BTreeMap", "Cow",
            ];
            let last = path.path.segments.last();
            match last {
                Some(last) if POINTERS.iter().any(|name| last.ident == name) => self.0 = true,
                Some(last) if last.ident == "Option" || last.ident == "Cell" => {
                    syn::visit::visit_type_path(self, path);
                }
                _ => {}
            }
        }
    }
    let mut pointers = Pointers(false);
    pointers.visit_type(ty);
    pointers.0
}

/// Makes each reference in a type a `Shared`.
struct Mirror {
    krate: TokenStream,
}

impl VisitMut for Mirror {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        syn::visit_mut::visit_type_mut(self, ty);
        if let Type::Reference(of) = ty {
            let (krate, lifetime, target) = (&self.krate, &of.lifetime, &of.elem);
            *ty = parse_quote!(#krate::Shared<#lifetime, #target>);
        }
    }
}
