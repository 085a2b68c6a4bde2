//! Conversions between two schemas, without a reader of either type.

use jstream::evolve::{Change, Conversion, ConversionError, Effect};
use jstream::schema::{Schema, descriptor};
use jstream::{Limits, Transportable, from_slice, to_vec};

use super::values::{first, second};

#[derive(Transportable)]
struct Old {
    id: u32,
    sym: String,
    level: Level,
}

#[derive(Transportable)]
enum Level {
    Low,
    High,
}

/// The newer versions of these types.
mod new {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct New {
        pub(super) id: u64,
        #[transportable(renamed_from = "sym")]
        pub(super) symbol: String,
        pub(super) level: Level,
        #[transportable(default = 3)]
        pub(super) count: u8,
    }

    #[derive(Transportable)]
    #[allow(dead_code, reason = "messages are converted to it")]
    pub(super) enum Level {
        Low,
        Middle,
    }
}

fn conversion<A, B>() -> Result<Conversion, ConversionError>
where
    A: Transportable + 'static,
    B: Transportable + 'static,
{
    let (old, old_root) = Schema::of::<A>();
    // As a snapshot, without the defaults' functions.
    let (new, new_root) = Schema::of::<B>();
    let snapshot = new.to_snapshot(new_root).unwrap();
    let (new, new_root) = Schema::from_snapshot(&snapshot).unwrap();
    Conversion::new((&old, old_root), (&new, new_root))
}

fn old(level: Level) -> Vec<u8> {
    to_vec(&Old {
        id: 7,
        sym: "ACME".to_owned(),
        level,
    })
    .unwrap()
}

#[test]
fn messages_become_those_of_the_new_schema() {
    let mut conversion = conversion::<Old, new::New>().unwrap();
    let findings = conversion.compatibility().findings();
    let changes: Vec<_> = findings.iter().map(|of| (of.change, of.effect)).collect();
    for expected in [
        (Change::Widened, Effect::Converted),
        (Change::Renamed, Effect::Converted),
        (Change::Added, Effect::Converted),
        (Change::Removed, Effect::Conditional),
    ] {
        assert!(changes.contains(&expected), "{changes:?}");
    }
    for _ in 0..2 {
        let converted = conversion.convert(&old(Level::Low)).unwrap();
        let received = from_slice::<new::New>(converted.as_bytes()).unwrap();
        let new = received.get();
        assert_eq!((new.id, new.symbol, new.count), (7, "ACME", 3));
        assert!(matches!(new.level, new::Level::Low));
        assert!(!matches!(new.level, new::Level::Middle));
    }
    assert_eq!(conversion.classes().count(), 0);
}

#[test]
fn messages_that_can_not_be_converted_are_errors() {
    let mut conversion = conversion::<Old, new::New>().unwrap();
    let refused = conversion.convert(&old(Level::High)).unwrap_err();
    assert!(
        matches!(&refused, ConversionError::Value { path, .. } if path.starts_with("New.level")),
        "{refused}"
    );
    let mut damaged = old(Level::Low);
    damaged.pop();
    let refused = conversion.convert(&damaged).unwrap_err();
    assert!(
        matches!(refused, ConversionError::Invalid { .. }),
        "{refused}"
    );
    let refused = conversion.convert(&[]).unwrap_err();
    assert!(
        matches!(refused, ConversionError::Invalid { .. }),
        "{refused}"
    );
    let (expected, found) = (descriptor::<Old>(), descriptor::<u32>());
    assert_eq!(
        conversion.convert(&to_vec(&1u32).unwrap()).unwrap_err(),
        ConversionError::Descriptor { expected, found }
    );
    let mut limits = Limits::default();
    limits.bytes = 64;
    let refused = conversion.with_limits(limits).convert(&old(Level::Low));
    assert!(matches!(refused, Err(ConversionError::Value { .. })));
    let refused = self::conversion::<u64, u32>().unwrap_err();
    let ConversionError::Incompatible(compatibility) = refused else {
        panic!("{refused}");
    };
    assert_eq!(compatibility.findings()[0].change, Change::Changed);
}

#[test]
fn objects_of_classes_become_those_of_the_added_classes() {
    let shapes: Vec<Box<dyn first::Shape>> = vec![Box::new(first::Square { side: 5 })];
    let message = to_vec(&first::Drawing { shapes }).unwrap();
    let mut conversion = conversion::<first::Drawing, second::Drawing>().unwrap();
    let refused = conversion.convert(&message).unwrap_err();
    assert!(
        matches!(refused, ConversionError::Invalid { .. }),
        "{refused}"
    );
    let (schema, root) = Schema::of::<first::Square>();
    conversion.add_old_class(&schema, root).unwrap();
    // Without a newer version, objects stay of their class.
    let same = conversion.convert(&message).unwrap();
    let refused = from_slice::<second::Drawing>(same.as_bytes()).map(drop);
    assert!(refused.is_err(), "the program has no such class");
    let classes: Vec<_> = conversion.classes().map(|(class, _, _)| class).collect();
    assert_eq!(classes, [descriptor::<first::Square>()]);
    let (schema, root) = Schema::of::<second::Square>();
    conversion.add_new_class(&schema, root).unwrap();
    let converted = conversion.convert(&message).unwrap();
    let drawing = from_slice::<second::Drawing>(converted.as_bytes()).unwrap();
    drawing.with(|drawing| assert_eq!(drawing.shapes[0].area(), 25));
    let classes: Vec<_> = conversion.classes().map(|(class, _, _)| class).collect();
    assert_eq!(classes, [descriptor::<second::Square>()]);
}

#[cfg(all(feature = "file", unix))]
#[test]
fn a_file_of_messages_has_the_schemas_that_are_pushed() {
    use jstream::file::{FileReader, FileWriter};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.jsf");
    let mut writer = FileWriter::create(&path).unwrap();
    let bytes = old(Level::Low);
    let message = jstream::EmptyBuffer::heap(bytes.len()).copy_from(&bytes);
    writer.push_message(&message.unwrap()).unwrap();
    let (schema, root) = Schema::of::<Old>();
    for _ in 0..2 {
        writer.push_schema(&schema, root).unwrap();
    }
    writer.commit().unwrap();
    let mut reader = FileReader::open(&path).unwrap();
    assert_eq!(reader.descriptors().unwrap(), [descriptor::<Old>()]);
    // A program that knows only the new version reads it.
    let received = reader.read::<new::New>(0).unwrap();
    assert_eq!((received.get().id, received.get().count), (7, 3));
}

#[test]
fn every_refusal_has_the_effect_of_the_whole() {
    use jstream::evolve::compatibility;

    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    struct Wide {
        id: u32,
        name: String,
    }

    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    struct Narrow {
        id: u8,
        first: u32,
        second: u32,
    }

    #[derive(Transportable)]
    #[transportable(owned)]
    #[allow(dead_code, reason = "only its structure matters")]
    enum OldChoice {
        Full(Wide),
        Empty,
    }

    #[derive(Transportable)]
    #[repr(u8)]
    #[allow(dead_code, reason = "only its structure matters")]
    enum NewChoice {
        Full(Narrow),
        Empty,
    }

    fn effects<A, B>() -> (Effect, Vec<Effect>)
    where
        A: Transportable + 'static,
        B: Transportable + 'static,
    {
        let (old, old_root) = Schema::of::<A>();
        let (new, new_root) = Schema::of::<B>();
        let found = compatibility((&old, old_root), (&new, new_root)).unwrap();
        let findings = found.findings().iter().map(|finding| finding.effect);
        (found.effect(), findings.collect())
    }

    // The number, two fields that are lacking, and one that is left out.
    let (effect, findings) = effects::<Wide, Narrow>();
    assert_eq!(effect, Effect::Refused);
    let all = [
        Effect::Refused,
        Effect::Refused,
        Effect::Refused,
        Effect::Converted,
    ];
    assert_eq!(findings, all);
    // Behind a variant, they refuse only the messages that have it.
    let (effect, findings) = effects::<OldChoice, NewChoice>();
    assert_eq!(effect, Effect::Conditional);
    let all = [
        Effect::Conditional,
        Effect::Conditional,
        Effect::Conditional,
        Effect::Converted,
    ];
    assert_eq!(findings, all);
}
