//! Protection of generated variables from constants of the program.
//!
//! If a constant, a static or a unit struct has the name of a variable, the compiler refuses the
//! variable's pattern, or takes it for the constant. A function does not disturb a variable of its
//! name. So each block of generated code imports a function by the names of all its variables,
//! which hides what else has these names.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// Returns the imports for a block of generated code. `program` is the code of the program that the
/// block repeats: its names keep their meaning.
pub(crate) fn shield(
    support: &TokenStream,
    generated: &TokenStream,
    program: &impl ToTokens,
) -> TokenStream {
    let mut variables = BTreeSet::new();
    collect(generated.clone(), &mut variables);
    let mut of_program = BTreeSet::new();
    collect(program.to_token_stream(), &mut of_program);
    let names = variables.difference(&of_program);
    quote! {
        #[allow(unused_imports, reason = "hides constants of these names")]
        use #support::{#(shield as #names),*};
    }
}

/// Collects the names that generated variables may have.
fn collect(tokens: TokenStream, names: &mut BTreeSet<Ident>) {
    let mut is_lifetime = false;
    for token in tokens {
        match &token {
            TokenTree::Group(of) => collect(of.stream(), names),
            TokenTree::Ident(name) if !is_lifetime && is_of_variable(&name.to_string()) => {
                names.insert(name.clone());
            }
            _ => {}
        }
        is_lifetime = matches!(&token, TokenTree::Punct(mark) if mark.as_char() == '\'');
    }
}

/// Returns true if generated variables have such names, and no other values do.
fn is_of_variable(name: &str) -> bool {
    name != "__private"
        && name
            .strip_prefix("__")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()))
}
