//! Conversion of parts of JSON values, found by the type that a schema states.

use serde_json::{Map, Value as Json};

use super::value::is_some;
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};

/// Maximum depth of values that are converted; deeper ones are left as they are.
const DEEPEST: usize = 1000;

/// Outcome of a conversion: `Ok` is the final value, and the parts of the value in `Err` are
/// converted next.
pub type Rewrite = Result<Json, Json>;

/// Converts a JSON value of the type `of`, in the form that [`value`](super::value) describes:
/// calls `convert` with the type of each part, the whole first. Parts that do not match their type
/// are left as they are.
///
/// # Errors
///
/// The first error of `convert`.
pub fn rewrite<E>(
    schema: &Schema,
    of: TypeIndex,
    value: Json,
    convert: &mut dyn FnMut(TypeIndex, Json) -> Result<Rewrite, E>,
) -> Result<Json, E> {
    let mut rewriter = Rewriter { schema, convert };
    rewriter.value(of, value, 0)
}

struct Rewriter<'r, E> {
    schema: &'r Schema,
    convert: &'r mut dyn FnMut(TypeIndex, Json) -> Result<Rewrite, E>,
}

impl<'r, E> Rewriter<'r, E> {
    fn value(&mut self, of: TypeIndex, value: Json, depth: usize) -> Result<Json, E> {
        if depth > DEEPEST {
            return Ok(value);
        }
        let value = match (self.convert)(of, value)? {
            Ok(done) => return Ok(done),
            Err(value) => value,
        };
        let schema: &'r Schema = self.schema;
        let Some(info) = schema.get(of) else {
            return Ok(value);
        };
        let depth = depth.saturating_add(1);
        Ok(match (&info.kind, value) {
            (Kind::Struct(fields), value) => self.fields(fields, value, depth)?,
            (Kind::Enum { variants, .. }, Json::Object(variant)) => {
                let mut done = Map::new();
                for (name, value) in variant {
                    let found = variants.iter().find(|of| *of.name == name);
                    let value = match found {
                        Some(of) => self.fields(&of.fields, value, depth)?,
                        None => value,
                    };
                    done.insert(name, value);
                }
                Json::Object(done)
            }
            (Kind::Optional(payload), value) if !value.is_null() => match is_some(&value) {
                Some(inner) => {
                    let inner = self.value(*payload, inner.clone(), depth)?;
                    Json::Object(Map::from_iter([("Some".to_owned(), inner)]))
                }
                None => self.value(*payload, value, depth)?,
            },
            (Kind::Outcome(ok, err), Json::Object(outcome)) => {
                let mut done = Map::new();
                for (name, value) in outcome {
                    let payload = if name == "Ok" { *ok } else { *err };
                    done.insert(name, self.value(payload, value, depth)?);
                }
                Json::Object(done)
            }
            (Kind::Array(element, _) | Kind::Slice(element), Json::Array(values)) => {
                let values = values.into_iter();
                let done = values.map(|value| self.value(*element, value, depth));
                Json::Array(done.collect::<Result<_, _>>()?)
            }
            (Kind::Reference(target) | Kind::Shared(target), value) => {
                self.value(*target, value, depth)?
            }
            (_, value) => value,
        })
    }

    fn fields(&mut self, fields: &[FieldInfo], value: Json, depth: usize) -> Result<Json, E> {
        Ok(match value {
            Json::Object(values) => {
                let mut done = Map::new();
                for (name, value) in values {
                    let field = fields.iter().find(|field| *field.name == name);
                    let value = match field {
                        Some(field) => self.value(field.of, value, depth)?,
                        None => value,
                    };
                    done.insert(name, value);
                }
                Json::Object(done)
            }
            Json::Array(values) if values.len() == fields.len() => {
                let values = values.into_iter().zip(fields);
                let done = values.map(|(value, field)| self.value(field.of, value, depth));
                Json::Array(done.collect::<Result<_, _>>()?)
            }
            value => value,
        })
    }
}
