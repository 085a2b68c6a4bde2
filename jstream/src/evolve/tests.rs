//! Conversion of the vectors of the format.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::emit::{ClassPlan, EmitLimits, emit};
use super::plan::Plan;
use super::planner::make_plan;
use super::scan::{ScanFault, ScanLimits, Scanned, scan};
use super::types::Types;
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex, TypeInfo};
use crate::wire::{Header, align_up};

/// A message with its schema, and the schemas of its classes.
struct Vector {
    name: String,
    message: Vec<u8>,
    schema: Vec<u8>,
    classes: HashMap<u64, Arc<Types>>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/format/vectors")
}

fn types(bytes: &[u8]) -> Types {
    let (schema, root) = Schema::from_bytes(bytes).unwrap();
    Types::new(schema, root).unwrap()
}

fn vectors() -> Vec<Vector> {
    let folder = folder();
    let mut vectors = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".bin") else {
            continue;
        };
        let read = |ending: &str| fs::read(folder.join(format!("{name}.{ending}")));
        let classes = (0..).map_while(|class| read(&format!("class{class}.schema")).ok());
        let classes =
            classes.map(|bytes| (xxhash_rust::xxh3::xxh3_64(&bytes), Arc::new(types(&bytes))));
        vectors.push(Vector {
            name: name.to_owned(),
            message: read("bin").unwrap(),
            schema: read("schema").unwrap(),
            classes: classes.collect(),
        });
    }
    assert!(vectors.len() > 25, "only {} vectors", vectors.len());
    vectors
}

fn scanned(
    types: &Arc<Types>,
    message: &[u8],
    classes: &HashMap<u64, Arc<Types>>,
) -> Result<Scanned, Box<ScanFault>> {
    let limits = ScanLimits {
        align: 128,
        pending: 1 << 20,
        shared: 1 << 20,
    };
    scan(types, message, limits, &mut |class| {
        classes.get(&class).cloned()
    })
}

/// Converts a message. Classes keep their schemas.
fn convert(
    plan: &Plan,
    message: &[u8],
    classes: &HashMap<u64, Arc<Types>>,
) -> Result<Vec<u8>, String> {
    let scanned = scanned(&plan.from, message, classes).map_err(|fault| fault.to_string())?;
    let plans = scanned.classes.iter().map(|class| {
        let types = class.types.clone();
        (make_plan(types.clone(), types).unwrap(), class.number)
    });
    let plans: Vec<(Plan, u64)> = plans.collect();
    let plans: Vec<ClassPlan<'_>> = plans
        .iter()
        .map(|(plan, class)| Ok((plan, *class)))
        .collect();
    let limits = EmitLimits {
        bytes: 1 << 30,
        pending: 1 << 20,
    };
    let emitted = emit(plan, message, &scanned, &plans, limits);
    let emitted = emitted.map_err(|refusal| format!("{refusal:?}"))?;
    Ok(emitted.as_bytes().to_vec())
}

/// Equalises the alignment of bulk, which writers choose.
fn content(message: &[u8]) -> (u64, Vec<u8>, Vec<u8>) {
    let header = Header::at_start_of(message).unwrap();
    let objects = usize::try_from(header.objects_end).unwrap();
    let bulk = align_up(objects, header.bulk_align as usize);
    (
        header.descriptor,
        message[40..objects].to_vec(),
        message[bulk..].to_vec(),
    )
}

#[test]
fn a_conversion_to_the_same_schema_is_the_identity() {
    for vector in vectors() {
        let types = Arc::new(types(&vector.schema));
        let plan = make_plan(types.clone(), types).unwrap();
        assert!(
            plan.compatibility().findings().is_empty(),
            "{}",
            vector.name
        );
        let converted = convert(&plan, &vector.message, &vector.classes).unwrap();
        assert_eq!(
            content(&converted),
            content(&vector.message),
            "{}",
            vector.name
        );
    }
}

/// The reader of the result checks the values of these leaves.
const CHECKED_LATER: [&str; 9] = [
    "nanoseconds",
    "ip_of_version_5",
    "ip_with_more",
    "socket_of_another_version",
    "ordering",
    "port",
    "time",
    "depth",
    "zero_sized",
];

#[test]
fn damaged_messages_are_refused() {
    let vectors: HashMap<String, Vector> = vectors()
        .into_iter()
        .map(|vector| (vector.name.clone(), vector))
        .collect();
    let mut refused = 0;
    for entry in fs::read_dir(folder().join("refused")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let json = fs::read_to_string(&path).unwrap();
        let text = |key: &str| {
            let rest = json.split(&format!("\"{key}\": \"")).nth(1);
            rest.and_then(|rest| rest.split('"').next())
                .map(str::to_owned)
        };
        let kind = text("kind").unwrap();
        let vector = &vectors[&text("of").unwrap()];
        let types = Arc::new(types(&vector.schema));
        let message = fs::read(path.with_extension("bin")).unwrap();
        let accepts = scanned(&types, &message, &vector.classes).is_ok();
        // The descriptor was compared before.
        let may_accept = kind == "descriptor" || kind == "zero-sized" || kind == "depth";
        if accepts && !may_accept && !CHECKED_LATER.contains(&&*name) {
            let is_leaf = kind == "invalid";
            assert!(is_leaf, "{name}: {kind} was accepted");
        }
        refused += usize::from(!accepts);
    }
    assert!(refused > 30, "only {refused} were refused");
}

/// A sequence of numbers.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
    }
}

/// Lays the types of a schema out at random: fields in another order and with gaps, tags in slots
/// that had them in the text and the other way round.
struct Relayout<'d> {
    types: Vec<TypeInfo>,
    done: HashSet<usize>,
    draws: &'d mut Draws,
}

impl Relayout<'_> {
    fn visit(&mut self, place: usize) -> (usize, usize) {
        let info = self.types[place].clone();
        if !self.done.insert(place) {
            return (info.size, info.align);
        }
        let (kind, size, align) = match info.kind {
            Kind::Struct(fields) => {
                let (fields, size, align) = self.fields(fields, 0, 1);
                (Kind::Struct(fields), size, align)
            }
            Kind::Enum { tag, mut variants } => {
                let (mut size, mut align) = (tag, tag);
                for variant in &mut variants {
                    let fields = std::mem::take(&mut variant.fields);
                    let (fields, end, by) = self.fields(fields, tag, tag);
                    variant.fields = fields;
                    (size, align) = (size.max(end), align.max(by));
                }
                self.draws.shuffle(&mut variants);
                (Kind::Enum { tag, variants }, align_up(size, align), align)
            }
            Kind::Optional(payload) => {
                let before = self.types[payload.index()].size;
                let (len, align) = self.visit(payload.index());
                let is_pointer = len == info.size
                    && matches!(
                        self.types[payload.index()].kind,
                        Kind::Reference(_) | Kind::Slice(_) | Kind::Shared(_)
                    );
                // An option whose payload tells that there is none has no tag.
                let keeps = is_pointer || (before == info.size && self.draws.below(2) == 0);
                let size = if keeps && len > 0 {
                    len
                } else {
                    align_up(len + 1, align)
                };
                (Kind::Optional(payload), size, align)
            }
            Kind::Outcome(ok, err) => {
                let (one, by) = self.visit(ok.index());
                let (other, align) = self.visit(err.index());
                let align = align.max(by);
                let len = one.max(other);
                let size = match self.draws.below(2) {
                    0 if len > 0 => align_up(len, align),
                    _ => align_up(len + 1, align),
                };
                (Kind::Outcome(ok, err), size, align)
            }
            Kind::Array(element, len) => {
                let (size, align) = self.visit(element.index());
                (Kind::Array(element, len), size * len, align)
            }
            kind => {
                // The pointer of a shared pointer or cell keeps its layout.
                (kind, info.size, info.align)
            }
        };
        self.types[place] = TypeInfo {
            name: info.name,
            size,
            align,
            kind,
        };
        (size, align)
    }

    fn fields(
        &mut self,
        mut fields: Vec<FieldInfo>,
        start: usize,
        least: usize,
    ) -> (Vec<FieldInfo>, usize, usize) {
        let (mut at, mut align) = (start, least);
        let mut order: Vec<usize> = (0..fields.len()).collect();
        self.draws.shuffle(&mut order);
        for index in order {
            let (size, by) = self.visit(fields[index].of.index());
            at = align_up(at + self.draws.below(2) * by, by);
            fields[index].offset = at;
            (at, align) = (at + size, align.max(by));
        }
        self.draws.shuffle(&mut fields);
        (fields, align_up(at, align), align)
    }
}

#[test]
fn a_message_survives_the_way_through_random_layouts() {
    // Types whose layout the format prescribes.
    let is_fixed = |info: &TypeInfo| {
        let names = [
            "Range",
            "Bound",
            "Wrapping",
            "Saturating",
            "Vec",
            "DVec",
            "Quat",
            "Mat",
            "Affine",
            "rkyv",
            "IVec",
            "UVec",
        ];
        names.iter().any(|name| info.name.starts_with(name))
    };
    let mut converted = 0;
    for vector in vectors() {
        let (schema, _) = Schema::from_bytes(&vector.schema).unwrap();
        let all =
            (0..schema.len()).map(|place| schema.get(TypeIndex::of_place(place)).unwrap().clone());
        let all: Vec<TypeInfo> = all.collect();
        if all.iter().any(is_fixed) {
            continue;
        }
        let old = Arc::new(types(&vector.schema));
        for seed in 0..40 {
            let mut draws = Draws(seed);
            let mut relayout = Relayout {
                types: all.clone(),
                done: HashSet::new(),
                draws: &mut draws,
            };
            for place in 0..all.len() {
                relayout.visit(place);
            }
            let schema = Schema::of_types(relayout.types);
            let new = Types::new(schema, TypeIndex::of_place(0));
            let Ok(new) = new else {
                // A gap made an option's payload as large as the option.
                continue;
            };
            let new = Arc::new(new);
            let there = match make_plan(old.clone(), new.clone()) {
                Ok(there) => there,
                // The fields of a key have another order.
                Err(findings) => {
                    assert!(findings.to_string().contains("the keys"), "{findings}");
                    continue;
                }
            };
            let back = make_plan(new, old.clone()).unwrap();
            let middle = convert(&there, &vector.message, &vector.classes);
            let middle = middle.unwrap_or_else(|error| panic!("{} {seed}: {error}", vector.name));
            let end = convert(&back, &middle, &vector.classes);
            let end = end.unwrap_or_else(|error| panic!("{} {seed} back: {error}", vector.name));
            assert_eq!(
                content(&end),
                content(&vector.message),
                "{} {seed}",
                vector.name
            );
            converted += 1;
        }
    }
    assert!(converted > 400, "only {converted} were converted");
}

/// Each byte of each vector is changed: the scan refuses the message, or the conversion gives some
/// message, and neither panics.
#[test]
fn damage_gives_errors_or_messages() {
    for vector in vectors() {
        let types = Arc::new(types(&vector.schema));
        let plan = make_plan(types.clone(), types.clone()).unwrap();
        for at in 0..vector.message.len() {
            for change in [1, 0x80, 0xff] {
                let mut message = vector.message.clone();
                message[at] ^= change;
                if let Ok(converted) = convert(&plan, &message, &vector.classes) {
                    let again = scanned(&types, &converted, &vector.classes);
                    assert!(again.is_ok(), "{} {at}: {:?}", vector.name, again.err());
                }
            }
        }
    }
}
