//! The commands `compat` and `upgrade`, run as child processes, with two versions of some types.

use std::fs;
use std::path::Path;

use jstream::Transportable;
use jstream::file::{FileReader, FileWriter, ReadOptions};
use jstream::schema::{Schema, descriptor};
use serde_json::Value as Json;

use super::program::{Folder, printed, program, run};

/// The types as they were.
mod first {
    use jstream::{Transportable, transportable};

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) id: u32,
        pub(super) sym: String,
        pub(super) side: Side,
        pub(super) venue: u8,
    }

    #[derive(Transportable, Clone, Copy)]
    pub(super) enum Side {
        Buy,
        Sell,
        Short,
    }

    #[transportable]
    #[allow(dead_code, reason = "only the second version is called")]
    pub(super) trait Shape {
        fn area(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(super) struct Square {
        pub(super) side: u32,
    }

    impl Shape for Square {
        fn area(&self) -> u64 {
            u64::from(self.side).pow(2)
        }
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(super) struct Dot {
        pub(super) x: u32,
    }

    impl Shape for Dot {
        fn area(&self) -> u64 {
            u64::from(self.x)
        }
    }

    #[derive(Transportable)]
    pub(super) struct Drawing {
        pub(super) shapes: Vec<Box<dyn Shape>>,
    }
}

/// The types as they are.
mod second {
    use jstream::{Transportable, transportable};

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) id: u64,
        #[transportable(renamed_from = "sym")]
        pub(super) symbol: String,
        pub(super) side: Side,
        #[transportable(default = 1)]
        pub(super) quantity: u32,
    }

    #[derive(Transportable, Clone, Copy, Debug, PartialEq)]
    pub(super) enum Side {
        Sell,
        Buy,
    }

    #[transportable]
    pub(super) trait Shape {
        fn area(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(super) struct Square {
        pub(super) name: Option<u8>,
        pub(super) side: u64,
    }

    impl Shape for Square {
        fn area(&self) -> u64 {
            assert_eq!(self.name, None);
            self.side.pow(2)
        }
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(super) struct Dot {
        pub(super) x: u32,
    }

    impl Shape for Dot {
        fn area(&self) -> u64 {
            u64::from(self.x)
        }
    }

    #[derive(Transportable)]
    pub(super) struct Drawing {
        pub(super) shapes: Vec<Box<dyn Shape>>,
    }
}

/// The type `Order` with the same structure as in `second`, and a rule for unknown variants.
mod third {
    use jstream::Transportable;

    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    pub(super) struct Order {
        id: u64,
        #[transportable(renamed_from = "sym")]
        symbol: String,
        side: Side,
        #[transportable(default = 1)]
        quantity: u32,
    }

    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    enum Side {
        #[transportable(other)]
        Sell,
        Buy,
    }
}

/// A type that did not change.
#[derive(Transportable)]
struct Trade {
    price: f64,
    note: String,
}

fn path(folder: &Folder, name: &str) -> String {
    folder.0.join(name).to_str().unwrap().to_owned()
}

fn snapshot<T: Transportable + 'static>(folder: &Folder, name: &str) -> String {
    let (schema, root) = Schema::of::<T>();
    folder.file(name, &schema.to_snapshot(root).unwrap())
}

fn order(id: u32, side: first::Side) -> first::Order {
    first::Order {
        id,
        sym: format!("symbol {id}"),
        side,
        venue: 3,
    }
}

/// Writes a file with orders and trades in turn. The orders whose numbers are in `short` can't be
/// converted to `second::Order`.
fn file(folder: &Folder, name: &str, objects: u32, short: &[u32]) -> String {
    let path = path(folder, name);
    let mut writer = FileWriter::create(&path).unwrap();
    for number in 0..objects {
        if number % 2 == 0 {
            let is_short = short.contains(&number);
            let side = if is_short {
                first::Side::Short
            } else {
                first::Side::Buy
            };
            writer.push(&order(number, side)).unwrap();
        } else {
            let note = format!("note {number}");
            writer
                .push(&Trade {
                    price: f64::from(number),
                    note,
                })
                .unwrap();
        }
    }
    let _ = first::Side::Sell;
    writer.commit().unwrap();
    path
}

/// Checks that a file has the objects of [`file`] in the second version, without conversion.
#[track_caller]
fn assert_upgraded(path: &str, objects: u32, short: &[u32]) {
    let mut reader = FileReader::open(path).unwrap();
    assert_eq!(reader.len(), u64::from(objects));
    reader.verify().unwrap();
    for number in 0..objects {
        if number % 2 == 1 {
            let trade = reader.next::<Trade>().unwrap().unwrap();
            let trade = trade.get();
            assert_eq!(trade.price, f64::from(number));
            assert_eq!(trade.note, format!("note {number}"));
            continue;
        }
        let received = reader.next::<second::Order>().unwrap().unwrap();
        assert!(!received.is_converted());
        let order = received.get();
        assert_eq!((order.id, order.quantity), (u64::from(number), 1));
        assert_eq!(order.symbol, format!("symbol {number}"));
        let is_short = short.contains(&number);
        let side = if is_short {
            second::Side::Sell
        } else {
            second::Side::Buy
        };
        assert_eq!(order.side, side);
    }
    let mut known = [descriptor::<second::Order>(), descriptor::<Trade>()];
    known.sort_unstable();
    assert_eq!(reader.descriptors().unwrap(), known);
}

fn error(code: i32, arguments: &[&str]) -> String {
    String::from_utf8(run(code, arguments).stderr).unwrap()
}

#[test]
fn versions_are_compared_in_both_directions() {
    let folder = Folder::new("compat");
    let old = snapshot::<first::Order>(&folder, "order-v1.jschema");
    let new = snapshot::<second::Order>(&folder, "order-v2.jschema");
    let text = printed(0, &["compat", &old, &new]);
    let (forward, backward) = text.split_once("\n\n").unwrap();
    assert!(forward.contains("(Order) read as ") && forward.contains("certain values are refused"));
    for line in [
        "  converted   widened  Order.id: `u32` is widened to `u64`",
        "  converted   renamed  Order.symbol: was `sym`",
        "  converted   added    Order.quantity: gets its default",
        "  converted   removed  Order.venue: is left out",
        "  conditional removed  Order.side::Short: the new version lacks the variant",
    ] {
        assert!(forward.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(backward.contains("all messages are refused"), "{text}");
    assert!(
        backward.contains("  refused     added    Order.venue: "),
        "{text}"
    );
    // The exit code depends on the first direction, or on both.
    run(1, &["compat", &old, &new, "--both"]);
    run(1, &["compat", &new, &old]);
    let same = printed(0, &["compat", &new, &new, "--both"]);
    assert_eq!(
        same.matches("the same structure, read in place\n").count(),
        2
    );

    let json = printed(1, &["compat", &old, &new, "--both", "--json"]);
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(json["old"]["type"], "Order");
    let number = format!("{:#018x}", descriptor::<second::Order>());
    assert_eq!(json["new"]["descriptor"], number);
    assert_eq!(json["forward"]["effect"], "conditional");
    assert_eq!(json["backward"]["effect"], "refused");
    assert_eq!(json["compatible"], false);
    let findings = json["forward"]["findings"].as_array().unwrap();
    let renamed = findings
        .iter()
        .find(|of| of["change"] == "renamed")
        .unwrap();
    assert_eq!(
        (&renamed["effect"], &renamed["path"], &renamed["what"]),
        (
            &"converted".into(),
            &"Order.symbol".into(),
            &"was `sym`".into()
        )
    );
}

#[test]
fn a_version_may_be_that_of_a_file_of_objects() {
    let folder = Folder::new("compat-file");
    let objects = file(&folder, "objects.jsf", 4, &[]);
    let new = snapshot::<second::Order>(&folder, "order-v2.jschema");
    let several = error(2, &["compat", &objects, &new]);
    assert!(several.contains("--type selects one of ") && several.contains("`Trade`"));
    let none = error(2, &["compat", &objects, &new, "--type", "Ordre"]);
    assert!(none.contains("objects of no types named `Ordre`"), "{none}");
    let text = printed(0, &["compat", &objects, &new, "--type", "Order"]);
    assert!(text.contains("Order.symbol: was `sym`"), "{text}");
    let number = format!("{:#018x}", descriptor::<first::Order>());
    let same = printed(0, &["compat", &objects, &new, "--type", &number]);
    assert_eq!(same, text);
    // The only root needs no name.
    let (schema, root) = Schema::of::<second::Order>();
    let schema = folder.file("order.schema", &schema.to_bytes(root));
    let only = file(&folder, "only.jsf", 1, &[]);
    let refused = printed(1, &["compat", &only, &schema]);
    assert!(
        refused.contains("Order.symbol: the old version lacks"),
        "no rules: {refused}"
    );

    let text = folder.file("text", b"a text");
    assert!(error(2, &["compat", &text, &new]).contains("neither a schema"));
    let torn = fs::read(&new).unwrap();
    let torn = folder.file("torn", &torn[..torn.len() - 1]);
    assert!(error(2, &["compat", &torn, &new]).contains("not a schema"));
    error(2, &["compat", &path(&folder, "absent"), &new]);
    error(2, &["compat", &new]);
}

#[test]
fn commands_have_completions_and_pages() {
    let manual = printed(0, &["--man"]);
    let script = printed(0, &["--completions", "bash"]);
    for (command, option) in [("compat", "both"), ("upgrade", "schema")] {
        assert!(manual.contains(command) && manual.contains(&format!("\\-\\-{option}")));
        assert!(
            script.contains(&format!("--{option}")) && script.contains(command),
            "{script}"
        );
        // Those of a command are those of the program.
        assert_eq!(printed(0, &[command, "--man"]), manual);
        assert_eq!(printed(0, &[command, "--completions", "bash"]), script);
        let help = printed(0, &[command, "--help"]);
        assert!(
            help.contains(&format!("Usage: jstream-inspect {command} ")),
            "{help}"
        );
    }
}

#[test]
fn objects_of_older_versions_are_converted_and_others_copied() {
    let folder = Folder::new("upgrade");
    let old = file(&folder, "old.jsf", 7, &[]);
    let order = snapshot::<second::Order>(&folder, "order-v2.jschema");
    let new = path(&folder, "new.jsf");
    let text = printed(0, &["upgrade", &old, &new, "--schema", &order]);
    for part in [
        "4 objects of Order 0x",
        ": converted to Order 0x",
        "Order.quantity: gets its default",
        "3 objects of Trade 0x",
        ": copied",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("continued"), "{text}");
    assert_upgraded(&new, 7, &[]);
    assert_eq!(
        fs::read_dir(&folder.0).unwrap().count(),
        3,
        "no other file remains"
    );
    // A file that exists is not replaced, also if it is the old one.
    let before = fs::read(&new).unwrap();
    assert!(error(2, &["upgrade", &old, &new, "--schema", &order]).contains("exists"));
    assert!(error(2, &["upgrade", &old, &old, "--schema", &order]).contains("exists"));
    assert_eq!(fs::read(&new).unwrap(), before);
    // The new file is up to date, so all objects are copied.
    let again = path(&folder, "again.jsf");
    let text = printed(0, &["upgrade", &new, &again, "--schema", &order]);
    assert_eq!(text.matches(": copied").count(), 2, "{text}");
    assert_eq!(fs::read(&again).unwrap(), before);
    // A file without objects.
    let empty = file(&folder, "empty.jsf", 0, &[]);
    let none = path(&folder, "none.jsf");
    assert_eq!(
        printed(0, &["upgrade", &empty, &none, "--schema", &order]),
        ""
    );
    assert!(FileReader::open(&none).unwrap().is_empty());
}

#[test]
fn classes_of_trait_objects_are_converted() {
    let folder = Folder::new("upgrade-classes");
    let old = path(&folder, "old.jsf");
    let mut writer = FileWriter::create(&old).unwrap();
    for side in 0..3 {
        let square = Box::new(first::Square { side });
        let shapes: Vec<Box<dyn first::Shape>> = vec![Box::new(first::Dot { x: 1 }), square];
        writer.push(&first::Drawing { shapes }).unwrap();
    }
    writer.commit().unwrap();
    // The root did not change, but one of the classes.
    assert_eq!(
        descriptor::<first::Drawing>(),
        descriptor::<second::Drawing>()
    );
    let square = snapshot::<second::Square>(&folder, "square-v2.jschema");
    let new = path(&folder, "new.jsf");
    let text = printed(0, &["upgrade", &old, &new, "--schema", &square]);
    assert!(text.contains("3 objects of Drawing"), "{text}");
    assert!(text.contains("trait objects in them converted"), "{text}");
    let mut reader = FileReader::open(&new).unwrap();
    let mut known = [
        descriptor::<second::Drawing>(),
        descriptor::<second::Square>(),
        descriptor::<second::Dot>(),
    ];
    known.sort_unstable();
    assert_eq!(reader.descriptors().unwrap(), known);
    for side in 0..3u64 {
        let drawing = reader.next::<second::Drawing>().unwrap().unwrap();
        drawing.with(|drawing| {
            assert_eq!(drawing.shapes[0].area(), 1);
            assert_eq!(drawing.shapes[1].area(), side.pow(2));
        });
    }
    // Without conversion, the classes of copied objects are stored, too.
    let order = snapshot::<second::Order>(&folder, "order-v2.jschema");
    let copied = path(&folder, "copied.jsf");
    let text = printed(0, &["upgrade", &old, &copied, "--schema", &order]);
    assert!(text.contains(": copied"), "{text}");
    assert_eq!(
        FileReader::open(&copied)
            .unwrap()
            .descriptors()
            .unwrap()
            .len(),
        3
    );
    printed(0, &[&copied, "--quiet"]);
}

#[test]
fn an_object_that_can_not_be_converted_ends_the_run_and_another_continues() {
    let folder = Folder::new("upgrade-refused");
    let old = file(&folder, "old.jsf", 9, &[4]);
    let strict = snapshot::<second::Order>(&folder, "strict.jschema");
    let new = path(&folder, "new.jsf");
    let partial = path(&folder, "new.jsf.upgrading");
    for _ in 0..2 {
        let text = error(1, &["upgrade", &old, &new, "--schema", &strict]);
        assert!(
            text.contains("object 4: ") && text.contains("Short"),
            "{text}"
        );
        assert!(text.contains("the 4 objects before it are in "), "{text}");
        assert!(!Path::new(&new).exists());
        assert_eq!(FileReader::open(&partial).unwrap().len(), 4);
    }
    // Another upgrade does not continue this one.
    let trade = snapshot::<Trade>(&folder, "trade.jschema");
    let text = error(2, &["upgrade", &old, &new, "--schema", &trade]);
    assert!(text.contains("was not begun by this upgrade"), "{text}");
    let other = file(&folder, "other.jsf", 3, &[]);
    let text = error(2, &["upgrade", &other, &new, "--schema", &strict]);
    assert!(text.contains("was not begun by this upgrade"), "{text}");
    // A rule for the variant, which does not change the structure.
    let lenient = snapshot::<third::Order>(&folder, "lenient.jschema");
    let text = printed(0, &["upgrade", &old, &new, "--schema", &lenient]);
    assert!(text.starts_with("continued after 4 objects"), "{text}");
    assert_upgraded(&new, 9, &[4]);
    assert!(!Path::new(&partial).exists());
}

#[test]
fn an_incompatible_version_is_refused_before_anything_is_written() {
    #[derive(Transportable)]
    #[allow(dead_code, reason = "only its structure matters")]
    struct Order {
        id: u64,
        price: f64,
    }
    let folder = Folder::new("upgrade-incompatible");
    let old = file(&folder, "old.jsf", 3, &[]);
    let snapshot = snapshot::<Order>(&folder, "order.jschema");
    let new = path(&folder, "new.jsf");
    let text = error(1, &["upgrade", &old, &new, "--schema", &snapshot]);
    assert!(text.contains("objects of `Order` ("), "{text}");
    assert!(text.contains("  refused: Order.price: "), "{text}");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
    let again = folder.file("copy.jschema", &fs::read(&snapshot).unwrap());
    let arguments = [
        "upgrade", &old, &new, "--schema", &snapshot, "--schema", &again,
    ];
    assert!(error(2, &arguments).contains("both snapshots of `Order`"));
    assert!(error(2, &["upgrade", &old, &new]).contains("--schema"));
}

#[test]
fn a_damaged_object_ends_the_run() {
    let folder = Folder::new("upgrade-damaged");
    let old = file(&folder, "old.jsf", 5, &[]);
    let order = snapshot::<second::Order>(&folder, "order.jschema");
    let place = FileReader::open(&old).unwrap().entry(2).unwrap().place;
    let mut bytes = fs::read(&old).unwrap();
    bytes[usize::try_from(place).unwrap() + 44] ^= 1;
    fs::write(&old, bytes).unwrap();
    let new = path(&folder, "new.jsf");
    let text = error(1, &["upgrade", &old, &new, "--schema", &order]);
    assert!(text.contains("old.jsf: object 2 ("), "{text}");
    assert!(!Path::new(&new).exists());
}

#[test]
fn an_interrupted_run_is_continued() {
    const OBJECTS: u32 = 10_000;
    let folder = Folder::new("upgrade-killed");
    let old = file(&folder, "old.jsf", OBJECTS, &[]);
    let order = snapshot::<second::Order>(&folder, "order.jschema");
    // A run that is killed after its first commit, unless it is done by then.
    let new = path(&folder, "new.jsf");
    let partial = path(&folder, "new.jsf.upgrading");
    let mut child = program(&["upgrade", &old, &new, "--schema", &order])
        .spawn()
        .unwrap();
    let has_begun = || fs::metadata(&partial).is_ok_and(|about| about.len() > 0);
    while !has_begun() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if !Path::new(&new).exists() {
        // The bytes behind the last commit do not matter.
        let torn = fs::OpenOptions::new().append(true).open(&partial);
        std::io::Write::write_all(&mut torn.unwrap(), &[7; 1000]).unwrap();
        let done = FileReader::open(&partial).unwrap().len();
        assert!(done > 0);
        let text = printed(0, &["upgrade", &old, &new, "--schema", &order]);
        assert!(
            text.starts_with(&format!("continued after {done} objects")),
            "{text}"
        );
    }
    assert_upgraded(&new, OBJECTS, &[]);

    // A run that was killed before its first commit left an empty file.
    fs::write(path(&folder, "second.jsf.upgrading"), b"").unwrap();
    let second = path(&folder, "second.jsf");
    let text = printed(0, &["upgrade", &old, &second, "--schema", &order]);
    assert!(text.starts_with("5000 objects of Order"), "{text}");
    assert_upgraded(&second, OBJECTS, &[]);

    // While one run writes the file, no other can.
    let third = path(&folder, "third.jsf");
    let partial = path(&folder, "third.jsf.upgrading");
    fs::copy(&second, &partial).unwrap();
    let writer = FileWriter::append(&partial).unwrap();
    let text = error(2, &["upgrade", &old, &third, "--schema", &order]);
    assert!(text.contains("another writer"), "{text}");
    drop(writer);
    // All objects are there, so it only gets its name.
    printed(0, &["upgrade", &old, &third, "--schema", &order, "--quiet"]);
    assert_eq!(fs::read(&third).unwrap(), fs::read(&second).unwrap());
}

#[cfg(unix)]
#[test]
fn the_new_file_has_the_permissions_of_the_old_one() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("upgrade-mode");
    let old = file(&folder, "old.jsf", 3, &[]);
    fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
    let order = snapshot::<second::Order>(&folder, "order.jschema");
    let new = path(&folder, "new.jsf");
    printed(0, &["upgrade", &old, &new, "--schema", &order]);
    assert_eq!(
        fs::metadata(&new).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_program_of_the_new_version_reads_both_files() {
    let folder = Folder::new("upgrade-both");
    let old = file(&folder, "old.jsf", 1, &[]);
    let order = snapshot::<second::Order>(&folder, "order.jschema");
    let new = path(&folder, "new.jsf");
    printed(0, &["upgrade", &old, &new, "--schema", &order]);
    let read = |path: &str| {
        let mut reader = FileReader::open_with(path, ReadOptions::default()).unwrap();
        let received = reader.read::<second::Order>(0).unwrap();
        let order = received.get();
        (
            order.id,
            order.symbol.to_owned(),
            order.side,
            order.quantity,
            received.is_converted(),
        )
    };
    let (before, after) = (read(&old), read(&new));
    assert!(before.4 && !after.4);
    assert_eq!(
        (before.0, before.1, before.2, before.3),
        (after.0, after.1, after.2, after.3)
    );
}
