//! Instances of a generic trait, each of which is an interface of its own.

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{
    Error, Expr, GenericArgument, GenericParam, Ident, ItemTrait, Path, PathArguments, Type,
};

use super::interface::{Instance, Method};
use crate::errors::Errors;

/// Returns the instances that the options list, or the trait itself.
pub(super) fn instances(
    item: &ItemTrait,
    methods: &[Method],
    listed: &[Path],
    errors: &mut Errors,
) -> Vec<Instance> {
    if listed.is_empty() {
        return vec![Instance {
            arguments: None,
            methods: methods.to_vec(),
        }];
    }
    let mut instances = Vec::new();
    for path in listed {
        match instance(item, methods, path) {
            Ok(of) => instances.push(of),
            Err(error) => errors.add(error),
        }
    }
    instances
}

fn instance(item: &ItemTrait, methods: &[Method], path: &Path) -> syn::Result<Instance> {
    let last = path.segments.last();
    let of_trait = path.segments.len() == 1 && last.is_some_and(|last| last.ident == item.ident);
    let (true, Some(last)) = (of_trait, last) else {
        let name = &item.ident;
        let text = format!("an instance of this trait must be written as `{name}<Type>`");
        return Err(Error::new_spanned(path, text));
    };
    let params = &item.generics.params;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Err(Error::new_spanned(path, "an instance must have arguments"));
    };
    if arguments.args.len() != params.len() {
        let text = format!(
            "the number of arguments must match the trait's parameters, which is {}",
            params.len()
        );
        return Err(Error::new_spanned(arguments, text));
    }
    let mut given = Vec::new();
    for (param, argument) in params.iter().zip(&arguments.args) {
        let name = match param {
            GenericParam::Type(of) => of.ident.clone(),
            GenericParam::Const(of) => of.ident.clone(),
            // An error is reported at the trait.
            GenericParam::Lifetime(_) => continue,
        };
        given.push((name, argument.clone()));
    }
    let mut methods = methods.to_vec();
    let mut put = Put(given);
    for method in &mut methods {
        put.visit_signature_mut(&mut method.signature);
        for argument in &mut method.arguments {
            put.visit_type_mut(&mut argument.ty);
            if let Some(received) = &mut argument.received {
                put.visit_type_mut(received);
            }
        }
        if let Some(output) = &mut method.output {
            put.visit_type_mut(output);
        }
    }
    Ok(Instance {
        arguments: Some(arguments.clone()),
        methods,
    })
}

/// Substitutes arguments for parameters.
struct Put(Vec<(Ident, GenericArgument)>);

impl Put {
    fn argument(&self, of: &Path) -> Option<&GenericArgument> {
        let name = of.get_ident()?;
        let mut given = self.0.iter();
        given.find_map(|(param, argument)| (param == name).then_some(argument))
    }
}

impl VisitMut for Put {
    fn visit_type_mut(&mut self, of: &mut Type) {
        if let Type::Path(path) = of {
            if path.qself.is_none() {
                match self.argument(&path.path) {
                    Some(GenericArgument::Type(ty)) => {
                        *of = ty.clone();
                        return;
                    }
                    Some(_) => return,
                    None => {}
                }
            }
        }
        syn::visit_mut::visit_type_mut(self, of);
    }

    /// Constants in the length of an array are expressions.
    fn visit_expr_mut(&mut self, of: &mut Expr) {
        if let Expr::Path(path) = of {
            if let Some(argument) = self.argument(&path.path).map(ToTokens::to_token_stream) {
                *of = Expr::Verbatim(argument);
                return;
            }
        }
        syn::visit_mut::visit_expr_mut(self, of);
    }

    /// Constants among generic arguments parse as types.
    fn visit_generic_argument_mut(&mut self, of: &mut GenericArgument) {
        if let GenericArgument::Type(Type::Path(path)) = of {
            if path.qself.is_none() {
                if let Some(argument) = self.argument(&path.path) {
                    *of = argument.clone();
                    return;
                }
            }
        }
        syn::visit_mut::visit_generic_argument_mut(self, of);
    }
}
