//! Records from lines of JSON.

use serde_json::Value as Json;

use super::schema::{Field, Kind};
use super::{Record, Value};

/// Parses the records, one per line that is not blank. An error begins with the line number and
/// names the field.
pub(super) fn records(text: &str, fields: &[Field]) -> Result<Vec<Record>, String> {
    let mut records = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let record = record(line, fields).map_err(|wrong| format!("line {}: {wrong}", i + 1))?;
        records.push(record);
    }
    if records.is_empty() {
        return Err("the file holds no record".to_owned());
    }
    Ok(records)
}

fn record(line: &str, fields: &[Field]) -> Result<Record, String> {
    let json: Json = serde_json::from_str(line).map_err(|e| format!("invalid JSON: {e}"))?;
    Ok(Record {
        fields: members(json, fields, "")?,
    })
}

/// Returns the members of an object in the order of the schema. `path` leads to the object.
fn members(json: Json, fields: &[Field], path: &str) -> Result<Vec<Value>, String> {
    let Json::Object(mut object) = json else {
        return Err(format!("{}an object is expected", at(path)));
    };
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        let path = format!("{path}{}", field.name);
        let json = object.remove(&field.name).unwrap_or(Json::Null);
        values.push(match json {
            Json::Null if field.optional => Value::Null,
            Json::Null => return Err(format!("{}it is missing but not optional", at(&path))),
            json => value(json, &field.kind, &path)?,
        });
    }
    match object.keys().next() {
        Some(name) => Err(format!(
            "{}the schema does not name it",
            at(&format!("{path}{name}"))
        )),
        None => Ok(values),
    }
}

fn value(json: Json, kind: &Kind, path: &str) -> Result<Value, String> {
    let value = match (kind, json) {
        (Kind::List(of), Json::Array(list)) => {
            let values = list.into_iter().enumerate();
            let values = values.map(|(i, json)| value(json, of, &format!("{path}[{i}]")));
            return Ok(Value::List(values.collect::<Result<_, _>>()?));
        }
        (Kind::Record(fields), json @ Json::Object(_)) => {
            return Ok(Value::Record(members(json, fields, &format!("{path}."))?));
        }
        (Kind::Int, json) => json.as_i64().map(Value::Int),
        (Kind::Float, json) => json.as_f64().map(Value::Float),
        (Kind::Bool, json) => json.as_bool().map(Value::Bool),
        (Kind::Text, Json::String(text)) => Some(Value::Text(text)),
        _ => None,
    };
    value.ok_or_else(|| format!("{}{} is expected", at(path), expected(kind)))
}

fn at(path: &str) -> String {
    match path.trim_end_matches('.') {
        "" => String::new(),
        path => format!("field `{path}`: "),
    }
}

fn expected(kind: &Kind) -> &'static str {
    match kind {
        Kind::Int => "an integer of 64 bits",
        Kind::Float => "a number",
        Kind::Bool => "true or false",
        Kind::Text => "a string",
        Kind::List(_) => "a list",
        Kind::Record(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    fn load(text: &str) -> Result<Vec<Record>, String> {
        let fields = "id int\nprice float?\nsold bool?\ntags [text]?\nsales [record]?\n\
                      sales.town text\nsales.count int?";
        records(text, &schema::parse(fields).unwrap())
    }

    #[test]
    fn values_are_what_the_schema_says() {
        let text = "\n{\"sales\": [{\"town\": \"Köln\"}], \"id\": 1, \"price\": 2, \"tags\": []}\n";
        let records = load(text).unwrap();
        let sale = vec![Value::Text("Köln".to_owned()), Value::Null];
        assert_eq!(
            records[0].fields,
            [
                Value::Int(1),
                Value::Float(2.0),
                Value::Null,
                Value::List(Vec::new()),
                Value::List(vec![Value::Record(sale)]),
            ]
        );
    }

    #[test]
    fn records_and_lists_nest() {
        let fields = "a record\na.b [[record]]?\na.b.c record?\na.b.c.d [text]";
        let fields = schema::parse(fields).unwrap();
        let text = "{\"a\": {\"b\": [[], [{\"c\": {\"d\": [\"x\"]}}, {}]]}}\n{\"a\": {}}";
        let records = super::records(text, &fields).unwrap();
        let c = Value::Record(vec![Value::List(vec![Value::Text("x".to_owned())])]);
        let inner = vec![Value::Record(vec![c]), Value::Record(vec![Value::Null])];
        let b = Value::List(vec![Value::List(Vec::new()), Value::List(inner)]);
        assert_eq!(records[0].fields, [Value::Record(vec![b])]);
        assert_eq!(records[1].fields, [Value::Record(vec![Value::Null])]);
        let text = "{\"a\": {\"b\": [[{\"c\": {\"d\": [1]}}]]}}";
        let error = super::records(text, &fields).err().unwrap();
        assert!(
            error.contains("line 1: field `a.b[0][0].c.d[0]`: a string"),
            "{error}"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_field() {
        for (text, wrong) in [
            ("", "holds no record"),
            ("{", "line 1: invalid JSON"),
            ("[1]", "line 1: an object is expected"),
            ("{\"id\": 1}\n{}", "line 2: field `id`: it is missing"),
            ("{\"id\": 1.5}", "line 1: field `id`: an integer"),
            (
                "{\"id\": 9223372036854775808}",
                "line 1: field `id`: an integer",
            ),
            ("{\"id\": 1, \"price\": \"1\"}", "field `price`: a number"),
            ("{\"id\": 1, \"sold\": 0}", "field `sold`: true or false"),
            ("{\"id\": 1, \"tags\": \"x\"}", "field `tags`: a list"),
            (
                "{\"id\": 1, \"tags\": [\"x\", null]}",
                "field `tags[1]`: a string",
            ),
            (
                "{\"id\": 1, \"more\": 0}",
                "field `more`: the schema does not name it",
            ),
            ("{\"id\": 1, \"sales\": [0]}", "field `sales[0]`: an object"),
            (
                "{\"id\": 1, \"sales\": [{\"town\": \"a\", \"count\": \"b\"}]}",
                "line 1: field `sales[0].count`: an integer",
            ),
        ] {
            let error = load(text).err().unwrap();
            assert!(error.contains(wrong), "{text:?}: {error}");
        }
    }
}
