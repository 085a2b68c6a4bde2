//! Compares the expansions of `golden/*.rs` with `golden/expanded/*.rs`.
//!
//! `EXPANSIONS=overwrite` updates the expected files.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, Meta, PatIdent};

use crate::{dynamic, error_debug, remote, transportable};

/// Returns the tokens in the delimiters of an attribute.
fn options(of: &Attribute) -> TokenStream {
    match &of.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

/// Returns true for `#[derive(Referring)]`.
fn is_referring(of: &Attribute) -> bool {
    derives(of, "Referring")
}

/// Returns true for `#[derive(ErrorDebug)]`.
fn is_error_debug(of: &Attribute) -> bool {
    derives(of, "ErrorDebug")
}

/// Returns true if the attribute derives this trait alone.
fn derives(of: &Attribute, name: &str) -> bool {
    of.path().is_ident("derive") && options(of).to_string() == name
}

/// Expands an item by the macro of its attribute.
fn expanded(item: Item) -> TokenStream {
    match item {
        Item::Impl(mut of) => {
            let attribute = of.attrs.remove(0);
            remote::remote(options(&attribute), of.to_token_stream())
        }
        Item::Trait(mut of) => {
            let attribute = of.attrs.remove(0);
            if attribute.path().is_ident("remote") {
                remote::remote(options(&attribute), of.to_token_stream())
            } else {
                dynamic::transportable(options(&attribute), of.to_token_stream())
            }
        }
        Item::Struct(of) if of.attrs.iter().any(is_referring) => {
            remote::referring(of.to_token_stream())
        }
        Item::Enum(of) if of.attrs.iter().any(is_referring) => {
            remote::referring(of.to_token_stream())
        }
        Item::Struct(of) if of.attrs.iter().any(is_error_debug) => {
            error_debug::derive(of.to_token_stream())
        }
        Item::Enum(of) if of.attrs.iter().any(is_error_debug) => {
            error_debug::derive(of.to_token_stream())
        }
        item => transportable::derive(item.to_token_stream()),
    }
}

fn inputs() -> Vec<PathBuf> {
    let entries = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/golden")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).collect()
}

fn expand(input: &Path) -> String {
    let input = syn::parse_file(&fs::read_to_string(input).unwrap()).unwrap();
    let tokens: TokenStream = input.items.into_iter().map(expanded).collect();
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

#[test]
fn expansions_are_as_they_were() {
    let overwrite = env::var_os("EXPANSIONS").is_some_and(|value| value == "overwrite");
    let inputs = inputs();
    assert!(!inputs.is_empty());
    let mut differing = Vec::new();
    for input in inputs {
        let golden = input
            .with_file_name("expanded")
            .join(input.file_name().unwrap());
        let made = expand(&input);
        if overwrite {
            fs::write(golden, made).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != made {
            differing.push(golden);
        }
    }
    assert!(
        differing.is_empty(),
        "these expansions have changed; if they should, run this with `EXPANSIONS=overwrite`: \
         {differing:#?}"
    );
}

#[test]
fn no_golden_file_is_left_behind() {
    let entries = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/golden/expanded")).unwrap();
    let mut goldens: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    let mut names: Vec<_> = inputs()
        .iter()
        .map(|path| path.file_name().unwrap().to_owned())
        .collect();
    goldens.sort();
    names.sort();
    assert_eq!(goldens, names);
}

/// Collects the names that the patterns of some code bind.
#[derive(Default)]
struct Bound(BTreeSet<String>);

impl Bound {
    fn by(code: &str) -> Self {
        let mut bound = Self::default();
        bound.visit_file(&syn::parse_file(code).unwrap());
        bound
    }
}

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, of: &'ast PatIdent) {
        self.0.insert(of.ident.to_string());
        visit::visit_pat_ident(self, of);
    }
}

/// If the program has a constant or a unit struct of the name, a pattern does not bind a variable.
/// Generated code hides such items by the names that begin with two underscores; see `shield`.
#[test]
fn variables_have_names_that_are_shielded() {
    for input in inputs() {
        let of_program = Bound::by(&fs::read_to_string(&input).unwrap());
        let bound = Bound::by(&expand(&input));
        let mut generated = bound.0.difference(&of_program.0);
        let other = generated.find(|name| !name.starts_with("__"));
        assert_eq!(other, None, "{}", input.display());
    }
}

/// Collects the paths in some code that begin with the name of a crate of the standard library.
fn paths_of_crates(code: TokenStream, paths: &mut BTreeSet<String>) {
    let mut path = String::new();
    for token in code {
        let text = match &token {
            TokenTree::Group(of) => {
                paths_of_crates(of.stream(), paths);
                String::new()
            }
            TokenTree::Ident(name) if path.ends_with("::") => name.to_string(),
            TokenTree::Punct(mark) if mark.as_char() == ':' => ":".to_owned(),
            _ => String::new(),
        };
        if !text.is_empty() {
            path.push_str(&text);
            continue;
        }
        end_path(&mut path, paths);
        match &token {
            TokenTree::Ident(name) if starts_path(&name.to_string()) => {
                path.push_str(&name.to_string());
            }
            _ => {}
        }
    }
    end_path(&mut path, paths);
}

/// Returns false for keywords, behind which a path may begin.
fn starts_path(name: &str) -> bool {
    matches!(name, "crate" | "self" | "super" | "Self") || syn::parse_str::<Ident>(name).is_ok()
}

fn end_path(path: &mut String, paths: &mut BTreeSet<String>) {
    let path = std::mem::take(path);
    let first = path.trim_start_matches(':').split("::").next();
    if path.contains("::") && matches!(first, Some("core" | "std" | "alloc")) {
        paths.insert(path);
    }
}

/// A program can give these names to crates of its own.
#[test]
fn no_path_starts_with_a_crate_of_the_standard_library() {
    let of = |code: &str| {
        let mut paths = BTreeSet::new();
        paths_of_crates(code.parse().unwrap(), &mut paths);
        paths
    };
    assert_eq!(of("impl ::core::A for x::core::B<std::C> {}").len(), 2);
    // `ErrorDebug` is for crates of jstream, some of which do not depend on the crate `jstream`.
    let for_programs = |input: &PathBuf| !input.ends_with("error_debug.rs");
    for input in inputs().into_iter().filter(for_programs) {
        let of_program = of(&fs::read_to_string(&input).unwrap());
        let generated = of(&expand(&input));
        let other = generated.difference(&of_program).next();
        assert_eq!(other, None, "{}", input.display());
    }
}
