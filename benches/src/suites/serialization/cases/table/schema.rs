//! Schemas with one line per field, as described in [`HELP`](super::HELP).

/// A field with its name and type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// True if the field may be null or missing.
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

/// Maximum nesting depth of lists and records. Subjects based on serde reject values that are much
/// deeper.
pub(super) const DEEPEST: usize = 40;

/// Parses the fields in the order of their lines. An error begins with the line number.
pub(super) fn parse(text: &str) -> Result<Vec<Field>, String> {
    let mut fields: Vec<Field> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            add(&mut fields, line).map_err(|wrong| format!("line {}: {wrong}", i + 1))?;
        }
    }
    if fields.is_empty() {
        return Err("the schema names no field".to_owned());
    }
    match without_members(&fields, "") {
        Some(path) => Err(format!("field `{path}`: no line names its members")),
        None => Ok(fields),
    }
}

/// Returns the path of the first record without members. `path` leads to the fields.
fn without_members(fields: &[Field], path: &str) -> Option<String> {
    fields.iter().find_map(|field| {
        let path = format!("{path}{}", field.name);
        match field.kind.record() {
            Some([]) => Some(path),
            Some(fields) => without_members(fields, &format!("{path}.")),
            None => None,
        }
    })
}

impl Kind {
    /// Returns the element type of nested lists with the nesting depth, or the type itself with
    /// depth 0.
    fn innermost(&self) -> (&Self, usize) {
        let (mut kind, mut depth) = (self, 0);
        while let Self::List(of) = kind {
            (kind, depth) = (of, depth + 1);
        }
        (kind, depth)
    }

    /// Returns the members of a record or of a list of records.
    fn record(&self) -> Option<&[Field]> {
        match self.innermost().0 {
            Self::Record(fields) => Some(fields),
            _ => None,
        }
    }

    fn record_mut(&mut self) -> Option<&mut Vec<Field>> {
        match self {
            Self::List(of) => of.record_mut(),
            Self::Record(fields) => Some(fields),
            _ => None,
        }
    }
}

fn add(fields: &mut Vec<Field>, line: &str) -> Result<(), String> {
    let Some((path, written)) = line.split_once(char::is_whitespace) else {
        return Err(format!("`{line}` has no type; write name and type"));
    };
    let written = written.trim();
    let (fields, name, depth) = match path.rsplit_once('.') {
        None => (fields, path, 0),
        Some((outer, name)) => {
            let (fields, depth) = members_of(fields, outer)?;
            (fields, name, depth)
        }
    };
    if name.is_empty() {
        return Err(format!("`{path}` is not a field name"));
    }
    if fields.iter().any(|field| field.name == name) {
        return Err(format!("field `{path}` is named twice"));
    }
    let (plain, optional) = match written.strip_suffix('?') {
        Some(plain) => (plain, true),
        None => (written, false),
    };
    let kind = kind(plain.trim(), DEEPEST - depth).map_err(|wrong| match wrong {
        Wrong::Type => format!(
            "field `{path}`: `{written}` is no type; write int, float, bool, text, record, a list \
             of one of these like [int], and ? behind what may be missing"
        ),
        Wrong::Depth => format!("field `{path}`: it nests deeper than {DEEPEST}"),
    })?;
    fields.push(Field {
        name: name.to_owned(),
        kind,
        optional,
    });
    Ok(())
}

/// Returns the members of the record at `path`, and their depth.
fn members_of<'f>(
    mut fields: &'f mut Vec<Field>,
    path: &str,
) -> Result<(&'f mut Vec<Field>, usize), String> {
    let mut depth = 0;
    let mut end = 0;
    for name in path.split('.') {
        // The path up to `end` has been followed.
        end += name.len();
        let so_far = path.get(..end).unwrap_or(path);
        end += 1;
        let field = fields.iter_mut().find(|field| field.name == name);
        let field = field.ok_or_else(|| format!("no line before names a field `{so_far}`"))?;
        depth += field.kind.innermost().1 + 1;
        fields = field
            .kind
            .record_mut()
            .ok_or_else(|| format!("field `{so_far}` is neither a record nor a list of records"))?;
    }
    Ok((fields, depth))
}

enum Wrong {
    Type,
    Depth,
}

/// Parses a type with at most `room` levels of nested lists and records.
fn kind(written: &str, room: usize) -> Result<Kind, Wrong> {
    let listed = written
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match listed {
        None if written == "record" && room == 0 => Err(Wrong::Depth),
        None => leaf(written).ok_or(Wrong::Type),
        Some(_) if room == 0 => Err(Wrong::Depth),
        Some(of) => Ok(Kind::List(Box::new(kind(of.trim(), room - 1)?))),
    }
}

fn leaf(written: &str) -> Option<Kind> {
    match written {
        "int" => Some(Kind::Int),
        "float" => Some(Kind::Float),
        "bool" => Some(Kind::Bool),
        "text" => Some(Kind::Text),
        "record" => Some(Kind::Record(Vec::new())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_are_understood() {
        let text = "# books\nid int\n price\tfloat? # euros\ntags [ text ]\nsales [record]?\n\
                    sales.town record\nsales.counts [[int]]?\nsales.town.name text\n\
                    sales.town.shops [[record]]\nsales.town.shops.open bool";
        let field = |name: &str, kind, optional| Field {
            name: name.to_owned(),
            kind,
            optional,
        };
        let list = |kind| Kind::List(Box::new(kind));
        let shop = vec![field("open", Kind::Bool, false)];
        let town = vec![
            field("name", Kind::Text, false),
            field("shops", list(list(Kind::Record(shop))), false),
        ];
        let members = vec![
            field("town", Kind::Record(town), false),
            field("counts", list(list(Kind::Int)), true),
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
            ("a [[int]", "line 1: field `a`: `[[int]` is no type"),
            ("a [int?]", "line 1: field `a`: `[int?]` is no type"),
            ("a [record]", "field `a`: no line names its members"),
            (
                "a record\na.b record",
                "field `a.b`: no line names its members",
            ),
            ("a.b int", "line 1: no line before names a field `a`"),
            (
                "a record\na.b.c int",
                "line 2: no line before names a field `a.b`",
            ),
            (
                "a int\na.b int",
                "line 2: field `a` is neither a record nor",
            ),
            (
                "a [int]\na.b int",
                "line 2: field `a` is neither a record nor",
            ),
            ("a record\na. int", "line 2: `a.` is not a field name"),
            (
                "a record\na.b int\na.b text",
                "line 3: field `a.b` is named twice",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(wrong), "{text:?}: {error}");
        }
    }
    #[test]
    fn depth_is_limited() {
        let lists = |depth: usize| format!("{}int{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&format!("a {}", lists(DEEPEST))).is_ok());
        let error = parse(&format!("a {}", lists(DEEPEST + 1))).unwrap_err();
        assert!(error.contains("field `a`: it nests deeper than"), "{error}");
        assert!(parse(&format!("a record\na.b {}", lists(DEEPEST - 1))).is_ok());
        assert!(parse(&format!("a record\na.b {}", lists(DEEPEST))).is_err());
        assert!(parse(&format!("a record\na.b {}", lists(1_000_000))).is_err());
        let mut text = String::new();
        for depth in 1..=DEEPEST + 1 {
            text += &format!("{} record\n", vec!["a"; depth].join("."));
        }
        let error = parse(&text).unwrap_err();
        assert!(error.contains("it nests deeper than"), "{error}");
    }
}
