//! Code for structs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::context::{Bodies, Context, name_of};
use super::model::{Own, Part};

/// Returns code that writes the fields of a type as fields of its form.
pub(super) fn write_struct(of: &Own, name: &Ident, parts: &[Part]) -> TokenStream {
    let members = parts.iter().map(|part| &part.member);
    let bindings = parts.iter().map(Part::bound);
    let writes = parts.iter().map(|part| {
        let member = &part.member;
        part.write(of, &quote!(&raw mut (*__slot).#member))
    });
    quote! {
        let #name { #(#members: #bindings),* } = self;
        // SAFETY: the caller's slot is that of the whole, and each of these lies inside it.
        unsafe {
            #(#writes)*
        }
    }
}

pub(super) fn of_struct(context: &Context<'_>, parts: &[Part]) -> Bodies {
    let Context { of, support, .. } = context;
    let name = &of.name;
    let members: Vec<_> = parts.iter().map(|part| &part.member).collect();
    let this = quote!(Self);
    let of_each = |code: &dyn Fn(&Part, &TokenStream) -> TokenStream| -> Vec<TokenStream> {
        let place = |part: &Part| {
            let member = &part.member;
            quote!(&raw const (*__of).#member)
        };
        parts.iter().map(|part| code(part, &place(part))).collect()
    };
    let memories = of_each(&|part, place| part.memory(of, &this, place));
    // The layouts of a generic type and its form are the same only if the language defines them.
    let same_layout = of.generics.type_params().next().is_none() || of.repr.c.is_some();
    let wire_is_memory = quote! {
        #same_layout
            && #support::MemoryLayout::NOTHING
                #(.and(#memories))*
                .fills(::__core::mem::size_of::<Self>())
    };
    let shapes = of_each(&|part, place| part.shape(of, &this, place));
    let shape = quote! {
        #support::Shape::NOTHING #(.and(#shapes))* .within(::__core::mem::size_of::<Self>())
    };
    let reads = parts.iter().map(|part| {
        let member = &part.member;
        part.read(of, &quote!(&raw mut (*__slot).#member))
    });
    let read = quote! {
        // SAFETY: the caller's slot is that of the whole, and each of these lies inside it.
        unsafe {
            #(#reads)*
        }
    };
    let backs: Option<Vec<_>> = parts
        .iter()
        .map(|part| {
            let member = &part.member;
            part.write_back(of, &quote!(&raw mut (*__place).#member))
        })
        .collect();
    let write_back = backs.map(|backs| {
        quote! {
            // SAFETY: the caller's value is whole, and each of these is a part of it.
            unsafe {
                #(#backs)*
            }
        }
    });
    let checks = parts.iter().map(|part| {
        let member = &part.member;
        part.verify(of, &quote!(&raw const (*__slot).#member))
    });
    let verify = quote! {
        // SAFETY: the caller's slot holds a value, and so does each field of it.
        unsafe {
            #(#checks)*
        }
    };
    let walks = parts.iter().filter(|part| part.travels()).map(|part| {
        let member = &part.member;
        let name = name_of(&quote!(#member));
        let walk = part.trace(of, &quote!(&raw const (*__slot).#member));
        quote! {
            __trace.enter(#name);
            // SAFETY: the fields before this one did not contain the fault.
            unsafe {
                #walk
            }
            if __trace.leave() {
                return;
            }
        }
    });
    let infos = parts.iter().filter(|part| part.travels()).map(|part| {
        let member = &part.member;
        let name = name_of(&quote!(#member));
        let of_part = part.describe(of, &this, &quote!(&raw const (*__of).#member));
        quote! {
            #support::FieldInfo::new(#name, ::__core::mem::offset_of!(Self, #member), #of_part)
        }
    });
    let (impl_generics, ty_generics, where_clause) = of.generics.split_for_impl();
    let bindings = parts.iter().map(Part::bound);
    // The function has no unsafe code, so that it does not compile for a union.
    let all_fields = quote! {
        const _: () = {
            #[allow(unused_variables, reason = "only their presence matters")]
            fn all_fields #impl_generics (__of @ _: &#name #ty_generics) #where_clause {
                let #name { #(#members: #bindings),* } = __of;
            }
        };
    };
    Bodies {
        wire_is_memory,
        write: write_struct(of, name, parts),
        write_back,
        shape,
        read,
        verify,
        trace: quote!(#(#walks)*),
        kind: quote!(#support::Kind::Struct(#support::list([#(#infos),*]))),
        beside: all_fields,
    }
}
