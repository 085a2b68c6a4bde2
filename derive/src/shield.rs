//! Protection of generated variables from constants of the program.
//!
//! If a constant, a static or a unit struct has the name of a variable, the compiler refuses the
//! variable's pattern, or takes it for the constant. A function does not disturb a variable of its
//! name. So each block of generated code imports a function by the names of all its variables,
//! which hides what else has these names.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::crates::MARKS;

/// Returns the imports for a block of generated code. `program` is the code of the program that the
/// block repeats: its names keep their meaning.
pub(crate) fn shield(
    support: &TokenStream,
    generated: &TokenStream,
    program: &impl ToTokens,
) -> TokenStream {
    shield_with(support, generated, [], program)
}

/// Returns the imports for a block of generated code with variables that have the names of the
/// program's `arguments`, too.
pub(crate) fn shield_with<'n>(
    support: &TokenStream,
    generated: &TokenStream,
    arguments: impl IntoIterator<Item = &'n Ident>,
    program: &impl ToTokens,
) -> TokenStream {
    let mut variables = BTreeSet::new();
    collect(generated.clone(), &is_of_variable, &mut variables);
    variables.extend(arguments.into_iter().cloned());
    let mut of_program = BTreeSet::new();
    collect(program.to_token_stream(), &|_| true, &mut of_program);
    let names = variables.difference(&of_program);
    quote! {
        #[allow(unused_imports, reason = "hides constants of these names")]
        use #support::{#(shield as #names),*};
    }
}

/// Collects the names that `wanted` accepts.
fn collect(tokens: TokenStream, wanted: &dyn Fn(&str) -> bool, names: &mut BTreeSet<Ident>) {
    let mut is_lifetime = false;
    for token in tokens {
        match &token {
            TokenTree::Group(of) => collect(of.stream(), wanted, names),
            TokenTree::Ident(name) if !is_lifetime && wanted(&name.to_string()) => {
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
        && !MARKS.contains(&name)
        && name
            .strip_prefix("__")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase()))
}
