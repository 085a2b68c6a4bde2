//! The program `jstream-inspect`, run as a child process.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, process};

use serde_json::Value as Json;

use crate::inspect::samples::{self, Sample};

/// A folder that is removed when it is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("jstream-inspect-{}-{name}", process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes the message and the schema of a sample to files and returns their paths.
    pub(crate) fn sample(&self, sample: &Sample) -> [String; 2] {
        [
            self.file("message", &sample.bytes),
            self.file("schema", &sample.schema),
        ]
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_jstream-inspect"));
    program
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("NO_COLOR");
    program
}

#[track_caller]
pub(crate) fn run(code: i32, arguments: &[&str]) -> Output {
    let output = program(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    assert!(!error.contains("panicked"), "{error}");
    output
}

#[track_caller]
pub(crate) fn printed(code: i32, arguments: &[&str]) -> String {
    String::from_utf8(run(code, arguments).stdout).unwrap()
}

#[test]
fn a_message_with_its_schema() {
    let folder = Folder::new("message");
    let [message, schema] = folder.sample(&samples::order());
    let text = printed(0, &[&message, "--schema", &schema]);
    for part in [
        "a message of",
        "struct Order { // 48 bytes, aligned to 8",
        "descriptor   0x",
        "[1]: Leg",
        "quantity: u32 = 10",
        "symbol: &str = \"ACME\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\x1b'), "no terminal, no colours");
    let colours = printed(0, &[&message, "--schema", &schema, "--color", "always"]);
    assert!(colours.contains("\x1b[36m"));
    let hex = printed(0, &[&message, "--schema", &schema, "--hex"]);
    assert!(hex.contains("41 43 4d 45"));
    let less = printed(0, &[&message, "--schema", &schema, "--limit", "1"]);
    assert!(
        less.contains("… 2 more") && !less.contains("[1]: Leg"),
        "{less}"
    );
    let flat = printed(0, &[&message, "--schema", &schema, "--depth", "1"]);
    assert!(
        flat.contains("legs: &[Leg]") && !flat.contains("price: f64 ="),
        "{flat}"
    );
    assert_eq!(printed(0, &[&message, "--schema", &schema, "--quiet"]), "");
}

#[test]
fn maps_are_shown_by_their_entries() {
    let folder = Folder::new("maps");
    let [message, schema] = folder.sample(&samples::maps());
    let text = printed(0, &[&message, "--schema", &schema]);
    for part in [
        "0: SortedMap = 2 entries\n",
        "[\"one\"]: u16 = 1\n",
        "[\"two\"]: u16 = 2\n",
        "1: HashedMap = 1 entry\n",
        "[7]: &[bool] = ",
        "[true, false]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, values) = text.split_once("text length").unwrap();
    assert!(
        !values.contains("starts") && !values.contains("keys"),
        "{text}"
    );
    let less = printed(0, &[&message, "--schema", &schema, "--limit", "1"]);
    assert!(
        less.contains("2 entries") && less.contains("… 1 more"),
        "{less}"
    );
    // The columns have the bytes.
    let hex = printed(0, &[&message, "--schema", &schema, "--hex"]);
    assert!(hex.contains("keys: ") && hex.contains("values: "), "{hex}");
}

#[test]
fn shells_complete_and_the_manual_is_printed() {
    for (shell, word) in [
        ("bash", "COMPREPLY"),
        ("zsh", "#compdef"),
        ("fish", "complete -c"),
    ] {
        let script = printed(0, &["--completions", shell]);
        assert!(
            script.contains(word) && script.contains("schema"),
            "{script}"
        );
    }
    let manual = printed(0, &["--man"]);
    assert!(
        manual.contains(".TH") && manual.contains("\\-\\-schema"),
        "{manual}"
    );
    run(2, &["--completions", "cmd"]);
}

#[test]
fn what_is_wrong_ends_with_one() {
    let folder = Folder::new("wrong");
    let sample = samples::order();
    let [message, schema] = folder.sample(&sample);
    let mut bytes = sample.bytes.clone();
    *bytes.last_mut().unwrap() = 0xff;
    let wrong = folder.file("wrong", &bytes);
    let text = printed(1, &[&wrong, "--schema", &schema]);
    let at = format!("(at offset {:#x})", bytes.len() - 1);
    assert!(text.contains("error: ") && text.contains(&at), "{text}");
    assert!(
        text.contains("^^") && text.contains("bulk length"),
        "{text}"
    );
    let output = run(1, &[&wrong, "--schema", &schema, "--quiet"]);
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains(&at));

    // First no schema, then the schema of another type.
    let text = printed(1, &[&message]);
    assert!(
        text.contains("--schema FILE") && text.contains("descriptor"),
        "{text}"
    );
    let other = folder.file("other", &samples::ring().schema);
    assert!(printed(1, &[&message, "--schema", &other]).contains("no schema with the descriptor"));

    // An unknown input, an empty one, and half a schema.
    let noise = folder.file("noise", b"neither this nor that");
    assert!(printed(1, &[&noise]).contains("not the start of a message"));
    let empty = folder.file("empty", b"");
    printed(1, &[&empty]);
    let half = folder.file("half", &sample.schema[..sample.schema.len() / 2]);
    assert!(printed(1, &[&half]).contains("invalid schema"));
}

#[test]
fn wrong_usage_ends_with_two() {
    let folder = Folder::new("usage");
    let [message, schema] = folder.sample(&samples::order());
    run(2, &[]);
    run(2, &["--no-such-option"]);
    run(2, &["/no/such/file"]);
    run(2, &[&message, "--schema", "/no/such/file"]);
    run(2, &[&message, "--schema", &message]);
    run(2, &[&message, "--json", "--dot"]);
    run(2, &[&message, "--schema", &schema, "--object", "1"]);
    run(
        2,
        &[
            &message,
            "--schema",
            &schema,
            "--svg",
            "/no/such/folder/picture",
        ],
    );
    let help = printed(0, &["--help"]);
    assert!(
        help.contains("Examples:") && help.contains("Exit codes:"),
        "{help}"
    );
}

#[test]
fn streams_from_the_standard_input() {
    let folder = Folder::new("stream");
    let (order, ring) = (samples::order(), samples::ring());
    let schemas = [
        folder.file("order", &order.schema),
        folder.file("ring", &ring.schema),
    ];
    let mut stream = order.bytes.clone();
    stream.resize(stream.len().next_multiple_of(16), 0);
    let start = stream.len();
    stream.extend(&ring.bytes);
    let arguments = ["-", "--schema", &schemas[0], "--schema", &schemas[1]];
    let run = |more: &[&str], bytes: &[u8]| {
        let mut child = program(&[&arguments[..], more].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let mut text = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        (child.wait().unwrap().code(), text)
    };
    let (code, text) = run(&[], &stream);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("2 objects") && text.contains("index"),
        "{text}"
    );
    assert!(
        text.contains(&format!("object 1 at {start:#x}: Person")),
        "{text}"
    );
    let (_, text) = run(&["--object", "1"], &stream);
    assert!(!text.contains("object 0") && text.contains("Ada"), "{text}");
    // Offsets count from the start of the stream.
    let place = format!("  {:#06x}    name: &str = \"Ada\"", start + 40);
    assert!(text.contains(&place), "{text}");

    let (code, text) = run(&["--json"], &stream);
    assert_eq!(code, Some(0));
    let json: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&json["input"], &json["fine"]),
        (&"stream".into(), &true.into())
    );
    assert_eq!(json["messages"][1]["at"], start);
    assert_eq!(json["schemas"].as_array().unwrap().len(), 2);

    // The gap between the two messages.
    stream[start - 1] = 1;
    let (code, text) = run(&[], &stream);
    assert!(
        code == Some(1) && text.contains("not zero") && text.contains("ACME"),
        "{text}"
    );
    let (code, text) = run(&["--json"], &stream);
    let json: Json = serde_json::from_str(&text).unwrap();
    assert!(code == Some(1) && json["fine"] == false);
    assert_eq!(json["faults"][0]["code"], "padding");
}

#[test]
fn pictures_and_schemas() {
    let folder = Folder::new("pictures");
    let [message, schema] = folder.sample(&samples::ring());
    let dot = printed(0, &[&message, "--schema", &schema, "--dot"]);
    assert!(
        dot.starts_with("digraph") && dot.contains("style=dashed"),
        "{dot}"
    );
    let svg = printed(0, &[&message, "--schema", &schema, "--svg", "-"]);
    assert!(svg.starts_with("<svg") && svg.contains("Ada"), "{svg}");
    let path = folder.0.join("picture.svg");
    let path = path.to_str().unwrap();
    assert_eq!(
        printed(0, &[&message, "--schema", &schema, "--svg", path]),
        ""
    );
    assert_eq!(fs::read_to_string(path).unwrap(), svg);
    let few = printed(0, &[&message, "--schema", &schema, "--dot", "--boxes", "1"]);
    assert!(few.contains("1 more objects"), "{few}");

    let types = printed(0, &[&schema]);
    assert!(
        types.contains("a schema of") && types.contains("struct Person {"),
        "{types}"
    );
    let json: Json = serde_json::from_str(&printed(0, &[&schema, "--json"])).unwrap();
    assert_eq!(json["schemas"][0]["types"][0]["name"], "Person");
}

#[test]
fn snapshots_are_shown_with_their_rules() {
    #[derive(jstream::Transportable)]
    #[transportable(renamed_from = "Auftrag")]
    #[repr(C)]
    #[allow(dead_code, reason = "only its structure matters")]
    struct Order<'b> {
        #[transportable(renamed_from("sym", "ticker"), must_understand)]
        symbol: &'b str,
        plain: u8,
        #[transportable(default = 7, narrow)]
        quantity: u32,
        side: Side,
    }

    #[derive(jstream::Transportable)]
    #[repr(u8)]
    #[allow(dead_code, reason = "only its structure matters")]
    enum Side {
        #[transportable(other, renamed_from = "Neither")]
        Unknown,
        Buy,
        Sell(#[transportable(default)] u8),
    }

    let folder = Folder::new("snapshots");
    let (schema, root) = jstream::schema::Schema::of::<Order<'_>>();
    let snapshot = schema.to_snapshot(root).unwrap();
    let path = folder.file("order-v1.jschema", &snapshot);
    let types = printed(0, &[&path]);
    for line in [
        "aligned to 8, renamed from \"Auftrag\"\n",
        "symbol: &str, // at 0, renamed from \"sym\", \"ticker\", must be understood\n",
        "quantity: u32, // at 20, default of 44 bytes, narrow\n",
        "    Unknown = 0, // other, renamed from \"Neither\"\n",
        "    Buy = 1,\n",
        "0: u8, // at 1, default of 41 bytes\n",
    ] {
        assert!(types.contains(line), "{line}: {types}");
    }
    let json: Json = serde_json::from_str(&printed(0, &[&path, "--json"])).unwrap();
    let types = json["schemas"][0]["types"].as_array().unwrap();
    let order = &types[0];
    let side = types.iter().find(|of| of["name"] == "Side").unwrap();
    assert_eq!(order["renamed_from"][0], "Auftrag");
    let fields = &order["fields"];
    assert_eq!(fields[0]["rules"]["renamed_from"][1], "ticker");
    assert!(fields[1].get("rules").is_none());
    assert!(fields[2]["rules"]["default"] == 44 && fields[2]["rules"]["narrow"] == true);
    assert_eq!(side["variants"][0]["rules"]["other"], true);
    assert_eq!(side["variants"][2]["fields"][0]["rules"]["default"], 41);
    // A damaged snapshot, and one that is cut.
    let mut damaged = snapshot.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = folder.file("damaged", &damaged);
    assert!(printed(1, &[&damaged]).contains("a check that does not match"));
    let cut = folder.file("cut", &snapshot[..snapshot.len() - 1]);
    assert!(printed(1, &[&cut]).contains("invalid schema"));
    // A message is read by the snapshot of its type.
    let order = Order {
        symbol: "ABC",
        plain: 1,
        quantity: 2,
        side: Side::Buy,
    };
    let message = folder.file("message", &jstream::to_vec(&order).unwrap());
    assert!(printed(0, &[&message, "--schema", &path]).contains("ABC"));
}

#[test]
fn whoever_stops_reading_is_left_alone() {
    let folder = Folder::new("pipe");
    let many = Sample::of::<Vec<String>>("many", &vec!["some text".to_owned(); 20_000]);
    let [message, schema] = folder.sample(&many);
    let mut child = program(&[&message, "--schema", &schema, "--limit", "20000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let mut error = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), error.as_str()),
        (Some(0), "")
    );
}

#[cfg(unix)]
pub(crate) mod files {
    use jstream::file::{FileReader, FileWriter, WriteOptions};

    use super::*;
    use crate::inspect::golden::assert_golden;
    use crate::inspect::samples::{Leg, Side};

    /// Writes a file of `legs` legs and a name.
    pub(crate) fn written(path: &Path, legs: u32) {
        let mut writer = FileWriter::create(path).unwrap();
        for quantity in 0..legs {
            let side = if quantity % 2 == 0 {
                Side::Buy
            } else {
                Side::Sell
            };
            let leg = Leg {
                price: 0.5,
                quantity,
                side,
            };
            writer.push(&leg).unwrap();
        }
        writer.push(&"the end".to_owned()).unwrap();
        writer.commit().unwrap();
    }

    #[test]
    fn files_bring_their_schemas_along() {
        let folder = Folder::new("file");
        let path = folder.0.join("legs.jst");
        written(&path, 40);
        let path = path.to_str().unwrap();
        let text = printed(0, &[path]);
        for part in [
            "a file of",
            "41 objects",
            "struct Leg {",
            "object 3 at 0x",
            "quantity: u32 = 3",
            "side: Side = Sell",
            "… 25 more objects, checked",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let last = printed(0, &[path, "--object", "40"]);
        assert!(
            last.contains("\"the end\"") && !last.contains("struct Leg"),
            "{last}"
        );
        run(2, &[path, "--object", "41"]);
        let json: Json = serde_json::from_str(&printed(0, &[path, "--json"])).unwrap();
        assert_eq!(json["messages"].as_array().unwrap().len(), 41);
        let leg = &json["messages"][7]["nodes"];
        let quantity = leg
            .as_array()
            .unwrap()
            .iter()
            .find(|node| node["name"] == "quantity");
        assert_eq!(quantity.unwrap()["value"], 7);
        // The file may come through a pipe.
        let mut child = program(&["-", "--quiet"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let bytes = fs::read(path).unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }

    #[test]
    fn a_damaged_directory_is_said_with_one_object_too() {
        let folder = Folder::new("directory");
        let path = folder.0.join("legs.jst");
        written(&path, 3);
        let summary = FileReader::open(&path).unwrap().summary();
        let place = summary.commit.schemas.unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[usize::try_from(place).unwrap() + 16] ^= 1;
        fs::write(&path, bytes).unwrap();
        let text = printed(1, &[path.to_str().unwrap(), "--object", "0"]);
        assert!(text.contains(&format!("{place:#x}")), "{text}");
        assert!(text.contains("schema directory"), "{text}");
    }

    #[test]
    fn damaged_files_are_shown_as_far_as_they_go() {
        let folder = Folder::new("damaged");
        let path = folder.0.join("legs.jst");
        written(&path, 3);
        let mut reader = FileReader::open(&path).unwrap();
        let place = usize::try_from(reader.entry(1).unwrap().place).unwrap();
        let sound = fs::read(&path).unwrap();

        // An invalid `Side`.
        let mut bytes = sound.clone();
        bytes[place + 40 + 12] = 9;
        let wrong = folder.file("wrong", &bytes);
        let text = printed(1, &[&wrong]);
        let at = format!("(at offset 0x34, {:#x} from the start)", place + 52);
        assert!(text.contains("Leg.side: byte 9 is not a Side"), "{text}");
        assert!(
            text.contains(&at) && text.contains("quantity: u32 = 2"),
            "{text}"
        );
        assert!(text.contains("checksum"), "{text}");
        // Only the checksum reveals a changed quantity.
        let mut bytes = sound.clone();
        bytes[place + 40 + 8] = 9;
        let wrong = folder.file("wrong", &bytes);
        assert!(printed(1, &[&wrong]).contains("checksum"));

        for at in (0..sound.len()).step_by(7) {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x5a;
            let path = folder.file("byte", &bytes);
            let output = program(&[&path]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{at:#x}: {said}"
            );
            assert!(!said.contains("panicked"), "{at:#x}: {said}");
        }
        for len in (0..sound.len()).step_by(97) {
            let path = folder.file("short", &sound[..len]);
            run(1, &[&path]);
        }
    }

    /// Writes a file of two commits with trait objects of two classes.
    fn of_figures(folder: &Folder) {
        let path = folder.0.join("figures.jst");
        let mut options = WriteOptions::default();
        options.sync = false;
        let mut writer = FileWriter::create_with(&path, &options).unwrap();
        writer.push(&samples::figures()).unwrap();
        writer.commit().unwrap();
        writer.push(&7u32).unwrap();
        writer.commit().unwrap();
    }

    /// Runs the program inside the folder, so that its output contains no path.
    #[track_caller]
    fn printed_in(folder: &Folder, arguments: &[&str]) -> String {
        let output = program(arguments).current_dir(&folder.0).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_file_of_trait_objects_is_shown_by_its_own_schemas() {
        let folder = Folder::new("figures");
        of_figures(&folder);
        let text = printed_in(&folder, &["figures.jst"]);
        for part in ["gröup", "side: char = 'x'", "side: char = 'y'"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_golden("figures.file.txt", &text);
        let json = printed_in(&folder, &["figures.jst", "--json"]);
        let json: Json = serde_json::from_str(&json).unwrap();
        assert_eq!(json["schemas"].as_array().unwrap().len(), 4);
        assert_eq!(json["file"]["slot"], 1);
        let pretty = serde_json::to_string_pretty(&json["file"]).unwrap() + "\n";
        assert_golden("figures.file.json", &pretty);
        // A single object, and an input that is not a file.
        let one = printed_in(&folder, &["figures.jst", "--object", "1"]);
        assert!(!one.contains("generation"), "{one}");
        let json = printed_in(&folder, &["figures.jst", "--object", "1", "--json"]);
        let json: Json = serde_json::from_str(&json).unwrap();
        assert_eq!(json["file"]["commit"]["generation"], 2);
        let [message, schema] = folder.sample(&samples::order());
        let json = printed(0, &[&message, "--schema", &schema, "--json"]);
        let json: Json = serde_json::from_str(&json).unwrap();
        assert!(json["file"].is_null());
    }

    #[test]
    fn commits_that_are_not_whole_are_shown() {
        let folder = Folder::new("commits");
        of_figures(&folder);
        let sound = fs::read(folder.0.join("figures.jst")).unwrap();
        // The newer commit is incomplete, as after a crash.
        let mut bytes = sound.clone();
        bytes[1024 + 3] ^= 1;
        let text = printed(0, &[&folder.file("torn", &bytes)]);
        assert!(text.contains("1 object\n"), "{text}");
        assert!(
            text.contains("0x00000400  commit       not valid"),
            "{text}"
        );
        assert!(text.contains("bytes, ignored"), "{text}");
        bytes[1024..1536].fill(0);
        let text = printed(0, &[&folder.file("blank", &bytes)]);
        assert!(text.contains("0x00000400  commit       none yet"), "{text}");
    }

    #[test]
    fn the_checksum_of_one_object_is_compared() {
        let folder = Folder::new("checksum");
        let path = folder.0.join("legs.jst");
        written(&path, 3);
        let mut reader = FileReader::open(&path).unwrap();
        let place = usize::try_from(reader.entry(1).unwrap().place).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        // Another quantity, which is valid for its type.
        bytes[place + 40 + 8] = 9;
        let wrong = folder.file("wrong", &bytes);
        let text = printed(1, &[&wrong, "--object", "1"]);
        assert!(
            text.contains("quantity: u32 = 9") && text.contains("checksum"),
            "{text}"
        );
        for sound in ["0", "2"] {
            printed(0, &[&wrong, "--object", sound]);
        }
        let text = printed(1, &[&wrong, "--object", "1", "--json"]);
        let json: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(json["faults"].as_array().unwrap().len(), 1);
    }
}
