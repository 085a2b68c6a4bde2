//! Code to write, read, trace and describe a single field.
//!
//! The code consists of calls with the field's address as an argument, so that the field's type is
//! inferred and not spelled out.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Ident, Type, TypePath, TypeReference, parse_quote};

use super::model::{Own, Part};
use crate::spans::Place;

/// Representation of a field in a message.
pub(super) enum Mode {
    /// According to its type.
    Plain,
    /// Not sent.
    Skipped,
    /// As a value that an adapter makes, and converts back when it is read.
    Adapted(TokenStream),
    /// As a value that an adapter makes, and whose form remains in the buffer.
    Replaced(TokenStream),
    /// As this type, which has the same layout.
    As(Box<Type>),
    /// As `None`, or as an empty pointer.
    EmptyPointer,
    /// As a mutable slice.
    Exclusive,
}

impl Part {
    pub(super) fn mode(&self, of: &Own) -> Mode {
        let options = &self.options;
        if options.skip.is_some() {
            Mode::Skipped
        } else if let Some(adapter) = &options.with {
            let support = of.support();
            let adapter = quote!(#support::check_type_of::<#adapter>());
            if options.form.is_some() {
                Mode::Replaced(adapter)
            } else {
                Mode::Adapted(adapter)
            }
        } else if of.options.opt_in && options.follow.is_none() && is_pointer(&self.ty) {
            Mode::EmptyPointer
        } else if options.shared.is_some() {
            let mut mirror = self.ty.clone();
            Mirror { krate: of.krate() }.visit_type_mut(&mut mirror);
            Mode::As(Box::new(mirror))
        } else if options.exclusive.is_some() {
            Mode::Exclusive
        } else {
            Mode::Plain
        }
    }

    /// Returns true if the field's type is its own form for all arguments of the type's parameters.
    pub(super) fn is_own(&self, of: &Own) -> bool {
        !of.has_form && !Params::are_in(&self.ty, of)
    }

    /// Selects the function for fields that are their own forms, or the general one.
    fn own_or(&self, of: &Own, own: TokenStream, any: TokenStream) -> TokenStream {
        let support = of.support();
        let function = if self.is_own(of) { own } else { any };
        quote!(#support::#function)
    }

    /// Returns code that writes the field behind `binding` into the slot at `place`.
    pub(super) fn write(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let (support, binding) = (of.support(), &self.binding);
        self.place.put(match self.mode(of) {
            Mode::Plain => quote!(#support::write_field(#place, #binding, __draft);),
            Mode::Skipped => quote!(let _ = #binding;),
            Mode::Adapted(adapter) => {
                quote!(#support::write_adapted(#adapter, #binding, #place, __draft);)
            }
            Mode::Replaced(adapter) => {
                quote!(#support::write_replaced(#place, #binding, __draft, #adapter);)
            }
            Mode::As(mirror) => {
                quote!(#support::write_as::<#mirror, _, _, _, _>(#binding, #place, __draft);)
            }
            Mode::EmptyPointer => quote!(#support::write_absent(#binding, #place, __draft);),
            Mode::Exclusive => quote!(#support::write_exclusive(#place, #binding, __draft);),
        })
    }

    /// Returns code that turns the field at `place` back into wire form in place, or `None` if that
    /// is not possible.
    pub(super) fn write_back(&self, of: &Own, place: &TokenStream) -> Option<TokenStream> {
        let support = of.support();
        let back = match self.mode(of) {
            Mode::Plain => quote!(#support::write_field_back(#place, __draft);),
            Mode::Skipped => quote!(#support::erase_field(#place, __draft);),
            Mode::As(mirror) => {
                quote!(#support::write_back_as::<#mirror, _, _>(#place, __draft);)
            }
            Mode::Adapted(_) | Mode::Replaced(_) | Mode::EmptyPointer | Mode::Exclusive => {
                return None;
            }
        };
        Some(self.place.put(back))
    }

    /// Returns code that reads the field in the slot at `place`.
    pub(super) fn read(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let read = self.own_or(of, quote!(read_own), quote!(InPlace::read));
        self.place.put(match self.mode(of) {
            Mode::Skipped => quote!(#support::make_default(#place);),
            Mode::Adapted(adapter) => {
                quote!(#support::read_adapted(#adapter, #place, __pass)?;)
            }
            Mode::As(mirror) => {
                let read = self.own_or(of, quote!(read_own_as), quote!(read_as));
                quote!(#read::<#mirror, _, _>(#place, __pass)?;)
            }
            _ => quote!(#read(#place, __pass)?;),
        })
    }

    /// Returns an expression that traces the field in the slot at `place`.
    pub(super) fn trace(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let trace = self.own_or(of, quote!(trace_own), quote!(InPlace::trace));
        let walk = self.place.put(match self.mode(of) {
            Mode::Skipped => quote!(),
            Mode::Adapted(_) => quote!(let _ = __trace.hit(#place);),
            Mode::As(mirror) => {
                let trace = self.own_or(of, quote!(trace_own_as), quote!(trace_as));
                quote!(#trace::<#mirror, _, _>(#place, __trace);)
            }
            _ => quote!(#trace(#place, __trace);),
        });
        let verified = (!self.options.verify.is_empty()).then(|| {
            quote! {
                if __trace.hit_verified(#place) {
                    return;
                }
            }
        });
        quote!(#verified #walk)
    }

    /// Returns code that calls the verifying functions on the field in the slot at `place`.
    pub(super) fn verify(&self, of: &Own, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let verify = self.own_or(of, quote!(verify_own), quote!(InPlace::verify));
        let parts = match self.mode(of) {
            Mode::Skipped | Mode::Adapted(_) | Mode::As(_) => quote!(),
            _ => self.place.put(quote!(#verify(#place)?;)),
        };
        let functions = self.options.verify.iter().map(|function| {
            Place::new(function).put(quote!(#support::approve(#place, #function)?;))
        });
        quote!(#parts #(#functions)*)
    }

    /// Returns a closure that projects a pointer to `whole` to the field at `place`.
    fn access(whole: &TokenStream, place: &TokenStream) -> TokenStream {
        quote!(|__of: *const #whole| unsafe { #place })
    }

    /// Returns the shape of the field at `place` in a `whole`.
    pub(super) fn shape(&self, of: &Own, whole: &TokenStream, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let access = Self::access(whole, place);
        let shape_of = self.own_or(of, quote!(shape_of_own), quote!(shape_of));
        let shape = self.place.put(match self.mode(of) {
            Mode::Skipped => quote!(#support::Shape::MADE),
            Mode::Adapted(adapter) => quote!(#support::adapted_shape(#adapter, #access)),
            Mode::As(mirror) => {
                let shape = self.own_or(of, quote!(shape_own_as), quote!(shape_as));
                quote!(#shape::<#mirror, _, _, _>(#access))
            }
            _ => quote!(#shape_of(#access)),
        });
        if self.options.verify.is_empty() {
            shape
        } else {
            quote!(#shape.verified())
        }
    }

    /// Returns code that describes the type of the field at `place` in a `whole`.
    pub(super) fn describe(
        &self,
        of: &Own,
        whole: &TokenStream,
        place: &TokenStream,
    ) -> TokenStream {
        let support = of.support();
        let access = Self::access(whole, place);
        let describe = self.own_or(of, quote!(describe_own), quote!(describe));
        self.place.put(match self.mode(of) {
            Mode::Adapted(adapter) => {
                quote!(#support::describe_adapted(#adapter, __schema, #access))
            }
            Mode::As(mirror) => {
                let describe = self.own_or(of, quote!(describe_own_as), quote!(describe_as));
                quote!(#describe::<#mirror>(__schema))
            }
            _ => quote!(#describe(__schema, #access)),
        })
    }

    /// Returns true if the field has a wire form.
    pub(super) fn travels(&self) -> bool {
        self.options.skip.is_none()
    }

    /// Returns the memory layout of the field at `place` in a `whole`.
    pub(super) fn memory(&self, of: &Own, whole: &TokenStream, place: &TokenStream) -> TokenStream {
        let support = of.support();
        let access = Self::access(whole, place);
        match self.mode(of) {
            Mode::Plain => self.place.put(quote!(#support::memory_of(#access))),
            _ => quote!(#support::MemoryLayout::OTHER),
        }
    }

    /// Returns an expression that is true if the field at `place` in a `whole` is restored by
    /// copying its form.
    pub(super) fn is_copy(
        &self,
        of: &Own,
        whole: &TokenStream,
        place: &TokenStream,
    ) -> TokenStream {
        let support = of.support();
        let access = Self::access(whole, place);
        match self.mode(of) {
            Mode::Plain => self.place.put(quote!(#support::is_copy_of(#access))),
            _ => quote!(false),
        }
    }

    /// Returns an expression that restores the field from its form behind `binding`.
    pub(super) fn restore(&self, of: &Own) -> TokenStream {
        let (support, binding) = (of.support(), &self.binding);
        self.place.put(match self.mode(of) {
            Mode::Skipped => quote!({
                let _ = #binding;
                ::__core::default::Default::default()
            }),
            Mode::Adapted(_) => quote!(#support::restore_adapted(#binding)),
            Mode::Replaced(adapter) => {
                quote!(#support::restore_replaced(#binding, #adapter)?)
            }
            Mode::Exclusive => quote!(#support::restore_exclusive(&**#binding, __restoring)?),
            _ => quote!(#support::restore_field(#binding, __restoring)?),
        })
    }
}

impl Own {
    /// Returns true if the type of a field with a default has a type parameter, so that the default
    /// can be written only if the parameter's argument can be sent.
    pub(super) fn has_generic_default(&self) -> bool {
        let mut parts = self.parts().into_iter();
        parts.any(|part| part.options.rules.default.is_some() && Params::are_in(&part.ty, self))
    }
}

/// Finds type parameters, and tokens that may stand for one.
struct Params<'o> {
    of: &'o Own,
    found: bool,
}

impl Params<'_> {
    fn are_in(ty: &Type, of: &Own) -> bool {
        let mut params = Params { of, found: false };
        if of.generics.type_params().next().is_some() {
            params.visit_type(ty);
        }
        params.found
    }
}

impl<'ast> Visit<'ast> for Params<'_> {
    fn visit_ident(&mut self, ident: &'ast Ident) {
        let mut params = self.of.generics.type_params();
        self.found |= ident == "Self" || params.any(|param| param.ident == *ident);
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        self.found = true;
    }
}

/// Returns true if a type is spelled as a pointer or an option of a pointer.
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

/// Replaces each reference in a type by a `Shared`.
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
