//! Schemas: a line per field, as [`HELP`](super::HELP) says.

/// A field: its name, and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether it may be null or missing.
    pub(super) optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Int,
    Float,
    Bool,
    Text,
    List(Box<Kind>),
    Record(Vec<Field>),
}

/// The fields, in the order of their lines. An error begins with the line's number.
pub(super) fn parse(text: &str) -> Result<Vec<Field>, String> {
    let mut fields: Vec<Field> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            add(&mut fields, line).map_err(|wrong| format!("line {}: {wrong}", i + 1))?;
        }
    }
    if fields.is_empty() {
        return Err("which is the schema, names no field".to_owned());
    }
    match fields.iter().find(|field| members(&field.kind) == Some(0)) {
        Some(field) => Err(format!("field `{}`: no line names its members", field.name)),
        None => Ok(fields),
    }
}

/// How many members a list of records has named so far.
fn members(kind: &Kind) -> Option<usize> {
    match kind {
        Kind::List(of) => match &**of {
            Kind::Record(fields) => Some(fields.len()),
            _ => None,
        },
        _ => None,
    }
}

fn add(fields: &mut Vec<Field>, line: &str) -> Result<(), String> {
    let Some((path, written)) = line.split_once(char::is_whitespace) else {
        return Err(format!("`{line}` has no type; write name and type"));
    };
    let written = written.trim();
    let (outer, name) = match path.split_once('.') {
        Some((outer, name)) => (Some(outer), name),
        None => (None, path),
    };
    let (fields, records) = match outer {
        None => (fields, true),
        Some(outer) => (members_of(fields, outer)?, false),
    };
    if name.is_empty() || name.contains('.') {
        return Err(format!("`{path}` is no name of a field; records nest once"));
    }
    if fields.iter().any(|field| field.name == name) {
        return Err(format!("field `{path}` is named twice"));
    }
    let (plain, optional) = match written.strip_suffix('?') {
        Some(plain) => (plain, true),
        None => (written, false),
    };
    fields.push(Field {
        name: name.to_owned(),
        kind: kind(plain, records).ok_or_else(|| {
            format!(
                "field `{path}`: `{written}` is no type; write int, float, bool, text, a list of \
                 one of these like [int], or [record] for a list of objects, and ? behind what \
                 may be missing"
            )
        })?,
        optional,
    });
    Ok(())
}

/// The members of the list of records called `name`.
fn members_of<'f>(fields: &'f mut [Field], name: &str) -> Result<&'f mut Vec<Field>, String> {
    let field = fields.iter_mut().find(|field| field.name == name);
    match field.map(|field| &mut field.kind) {
        Some(Kind::List(of)) => match &mut **of {
            Kind::Record(members) => Ok(members),
            _ => Err(format!("field `{name}` is a list, but not of records")),
        },
        Some(_) => Err(format!("field `{name}` is no [record]")),
        None => Err(format!("no line before names a field `{name}`")),
    }
}

fn kind(written: &str, records: bool) -> Option<Kind> {
    let listed = written
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match listed {
        Some("record") if records => Some(Kind::List(Box::new(Kind::Record(Vec::new())))),
        Some(of) => Some(Kind::List(Box::new(leaf(of.trim())?))),
        None => leaf(written),
    }
}

fn leaf(written: &str) -> Option<Kind> {
    match written {
        "int" => Some(Kind::Int),
        "float" => Some(Kind::Float),
        "bool" => Some(Kind::Bool),
        "text" => Some(Kind::Text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_are_understood() {
        let text = "# books\nid int\n price\tfloat? # euros\ntags [ text ]\nsales [record]?\n\
                    sales.town text\nsales.counts [int]";
        let field = |name: &str, kind, optional| Field {
            name: name.to_owned(),
            kind,
            optional,
        };
        let list = |kind| Kind::List(Box::new(kind));
        let members = vec![
            field("town", Kind::Text, false),
            field("counts", list(Kind::Int), false),
        ];
        let expected = [
            field("id", Kind::Int, false),
            field("price", Kind::Float, true),
            field("tags", list(Kind::Text), false),
            field("sales", list(Kind::Record(members)), true),
        ];
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, wrong) in [
            ("", "names no field"),
            ("id", "line 1: `id` has no type"),
            ("id int\nid int", "line 2: field `id` is named twice"),
            (
                "a int\n\nb number",
                "line 3: field `b`: `number` is no type",
            ),
            ("a [[int]]", "line 1: field `a`: `[[int]]` is no type"),
            ("a [record]", "field `a`: no line names its members"),
            ("a.b int", "line 1: no line before names a field `a`"),
            ("a int\na.b int", "line 2: field `a` is no [record]"),
            (
                "a [int]\na.b int",
                "line 2: field `a` is a list, but not of",
            ),
            (
                "a [record]\na.b [record]",
                "line 2: field `a.b`: `[record]` is no type",
            ),
            ("a [record]\na.b.c int", "line 2: `a.b.c` is no name"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wrong), "{text:?}: {error}");
        }
    }
}
