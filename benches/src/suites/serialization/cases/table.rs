//! Case made from a file: records as lines of JSON, with the fields of a schema.
//!
//! The fields of a file are known only at run time, when no types can be created. A record is
//! therefore a list of tagged values.

mod load;
mod schema;

use std::fs;
use std::path::{Path, PathBuf};

use super::{Case, forever};
use crate::Failure;
use crate::suites::serialization::walk::{Walk, walk_fields};
use crate::table::number;

/// Description of data files and schemas in the `--help` text.
pub(crate) const HELP: &str = "\
Your own data:
  --data FILE names a file with one JSON object per line, --schema FILE a file with their fields.
  The schema has a line per field with name and type; # begins a comment:

    id            int          # a 64-bit integer
    price         float
    sold          bool
    name          text
    comment       text?        # may be null or missing
    tags          [text]       # a list
    ratings       [float]?     # a list that may be missing
    matrix        [[int]]      # lists nest
    seller        record       # an object; its fields follow a dot
    seller.name   text
    orders        [record]     # a list of objects
    orders.item   text
    orders.to     record?
    orders.to.zip text

  Every field must be named, an object before its fields. A record is sent as the type that a
  program with such records would use: Record { fields: Vec<Value> }, with
  enum Value { Null, Int(i64), Float(f64), Bool(bool), Text(String), List(Vec<Value>),
  Record(Vec<Value>) }.";

/// Files from which a case is made.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) data: PathBuf,
    pub(crate) schema: PathBuf,
}

impl Source {
    /// Returns the name of the data file.
    pub(in super::super) fn name(&self) -> String {
        let name = self.data.file_name().unwrap_or(self.data.as_os_str());
        name.to_string_lossy().into_owned()
    }

    pub(in super::super) fn case(&self) -> Result<Case, Failure> {
        let table = self.load()?;
        let about = format!(
            "{} records of {} fields each, from {}",
            number(table.records.len() as f64),
            table
                .records
                .first()
                .map_or(0, |record| record.fields.len()),
            self.data.display()
        );
        table.case(about)
    }

    fn load(&self) -> Result<Table, Failure> {
        let text = read(&self.schema)?;
        let fields =
            schema::parse(&text).map_err(|wrong| format!("{}, {wrong}", self.schema.display()))?;
        let text = read(&self.data)?;
        let records = load::records(&text, &fields)
            .map_err(|wrong| format!("{}, {wrong}", self.data.display()))?;
        Ok(Table { records })
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()).into())
}

#[derive(jstream::Transportable, rkyv::Archive, rkyv::Serialize)]
#[cfg_attr(feature = "peers", derive(serde::Serialize, serde::Deserialize))]
struct Table {
    records: Vec<Record>,
}

impl Table {
    fn case(self, about: String) -> Result<Case, Failure> {
        let value = forever(self);
        let case = Case::new(about, value)?;
        #[cfg(feature = "peers")]
        let case = case.and_serde(value)?;
        Ok(case)
    }
}

#[derive(jstream::Transportable, rkyv::Archive, rkyv::Serialize)]
#[cfg_attr(feature = "peers", derive(serde::Serialize, serde::Deserialize))]
struct Record {
    fields: Vec<Value>,
}

#[derive(Debug, PartialEq, jstream::Transportable, rkyv::Archive, rkyv::Serialize)]
#[cfg_attr(feature = "peers", derive(serde::Serialize, serde::Deserialize))]
#[rkyv(serialize_bounds(
    __S: rkyv::ser::Writer + rkyv::ser::Allocator,
    __S::Error: rkyv::rancor::Source,
))]
#[rkyv(bytecheck(bounds(
    __C: rkyv::validation::ArchiveContext,
    __C::Error: rkyv::rancor::Source,
)))]
enum Value {
    Null,
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    List(#[rkyv(omit_bounds)] Vec<Value>),
    Record(#[rkyv(omit_bounds)] Vec<Value>),
}

walk_fields!(Table, TableRef<'_>, ArchivedTable => records);
walk_fields!(Record, RecordRef<'_>, ArchivedRecord => fields);

macro_rules! walk_value {
    ($($value:ident $type:ty),+) => {$(
        impl Walk for $type {
            fn walk(&self) -> u64 {
                match self {
                    $value::Null => 1,
                    $value::Int(int) => int.walk(),
                    $value::Float(float) => float.walk(),
                    $value::Bool(bool) => bool.walk(),
                    $value::Text(text) => text.walk(),
                    $value::List(list) => list.walk(),
                    $value::Record(fields) => fields.walk(),
                }
            }
        }
    )+};
}

walk_value!(Value Value, ValueRef ValueRef<'_>, ArchivedValue ArchivedValue);

#[cfg(test)]
mod tests {
    use super::*;

    fn example(data: &str) -> Source {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples-data");
        Source {
            data: folder.join(data),
            schema: folder.join("books.schema"),
        }
    }

    #[test]
    fn the_example_is_loaded() {
        let source = example("books.jsonl");
        let table = source.load().unwrap();
        assert_eq!(table.records.len(), 12);
        assert!(table.records.iter().all(|record| record.fields.len() == 9));
        let fields = &table.records[0].fields;
        assert_eq!(fields[0], Value::Int(1));
        assert_eq!(fields[1], Value::Text("The Time Machine".to_owned()));
        assert_eq!(fields[5], Value::Null);
        let sale = vec![Value::Text("Leeds".to_owned()), Value::Int(3)];
        assert_eq!(fields[7], Value::List(vec![Value::Record(sale)]));
        let imprint = vec![Value::Text("Blue Owl".to_owned()), Value::List(Vec::new())];
        let address = vec![Value::Text("York".to_owned()), Value::Null];
        let publisher = vec![
            Value::Text("Fernham".to_owned()),
            Value::Record(address),
            Value::List(vec![Value::Record(imprint)]),
        ];
        assert_eq!(fields[8], Value::Record(publisher));
        assert_eq!(source.name(), "books.jsonl");
    }

    #[test]
    fn what_is_deepest_is_sent_by_all_subjects() {
        let deep = |inner: &str| {
            let (open, close) = ("[".repeat(schema::DEEPEST), "]".repeat(schema::DEEPEST));
            format!("{open}{inner}{close}")
        };
        let fields = schema::parse(&format!("a {}", deep("text"))).unwrap();
        let text = format!("{{\"a\": {}}}", deep("\"x\""));
        let records = load::records(&text, &fields).unwrap();
        let case = Table { records }.case("deep".to_owned()).unwrap();
        assert_eq!(case.sum, u64::from(b'x'));
        for mut subject in case.subjects {
            subject.keep(1);
            assert_eq!(subject.sum().unwrap(), case.sum, "{}", subject.name());
        }
    }

    #[test]
    fn what_is_wrong_is_found_by_file_line_and_field() {
        let failure = example("nothing.jsonl").case().err().unwrap();
        assert!(failure.to_string().contains("nothing.jsonl"));
        // A schema file is not a data file.
        let failure = example("books.schema").case().err().unwrap();
        assert!(failure.to_string().contains("books.schema, line 1: "));
    }
}
