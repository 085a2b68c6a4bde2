//! Golden files of text, JSON and pictures.
//!
//! `INSPECTIONS=overwrite cargo test -p jstream --features cli --test format` rewrites them.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use jstream::inspect::text::{self, Style};
use jstream::inspect::{dot, json, svg};

use crate::inspect::samples::{self, Sample};

pub(crate) fn assert_golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format/inspect/golden");
    let path = path.join(name);
    if env::var_os("INSPECTIONS").is_some_and(|value| value == "overwrite") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
        return;
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        wanted == found,
        "{name} is another one; INSPECTIONS=overwrite writes it anew:\n{found}"
    );
}

/// Returns the complete text about a message, with or without its bytes.
fn said(sample: &Sample, bytes: &[u8], hex: bool) -> String {
    let mut style = Style::default();
    style.hex = hex;
    let found = sample.look_at(bytes);
    let mut said = String::new();
    if let Some(header) = &found.header {
        text::header(header, bytes, style, &mut said).unwrap();
        writeln!(said).unwrap();
    }
    text::values(&found, bytes, style, &mut said).unwrap();
    if let Some(fault) = &found.fault {
        writeln!(said).unwrap();
        text::fault(fault, bytes, style, &mut said).unwrap();
    }
    said
}

/// Samples whose layout the language defines, so that every compiler produces the same output.
fn stable() -> [Sample; 2] {
    [samples::order(), samples::ring()]
}

#[test]
fn text_is_as_it_should_be() {
    for sample in stable() {
        let name = sample.name;
        assert_golden(&format!("{name}.txt"), &said(&sample, &sample.bytes, false));
        assert_golden(
            &format!("{name}.hex.txt"),
            &said(&sample, &sample.bytes, true),
        );
    }
}

#[test]
fn what_is_wrong_is_shown_at_its_byte() {
    let sample = samples::order();
    let found = sample.look();
    let side = found.nodes.iter().rfind(|node| &*node.type_name == "Side");
    let at = side.unwrap().at.start;
    let mut bytes = sample.bytes.clone();
    bytes[at] = 9;
    assert_golden("order.wrong.txt", &said(&sample, &bytes, false));
}

#[test]
fn colours_stand_around_the_same_text() {
    let sample = samples::order();
    let mut bytes = sample.bytes.clone();
    *bytes.last_mut().unwrap() = 0xff;
    let mut plain = Style::default();
    let found = sample.look_at(&bytes);
    let mut texts = Vec::new();
    for colours in [false, true] {
        plain.colours = colours;
        let mut said = String::new();
        text::values(&sample.look(), &sample.bytes, plain, &mut said).unwrap();
        text::fault(found.fault.as_ref().unwrap(), &bytes, plain, &mut said).unwrap();
        texts.push(said);
    }
    assert!(!texts[0].contains('\x1b') && texts[1].contains("\x1b[1;31m"));
    let mut bare = texts[1].clone();
    for code in ["0", "1", "2", "36", "1;31"] {
        bare = bare.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(bare, texts[0]);
}

#[test]
fn json_is_as_it_should_be() {
    for sample in stable() {
        let found = json::message(&sample.look(), &sample.bytes, 0);
        let schemas = json::schemas(&sample.catalog);
        let all = serde_json::json!({ "message": found, "schemas": schemas });
        let pretty = serde_json::to_string_pretty(&all).unwrap() + "\n";
        assert_golden(&format!("{}.json", sample.name), &pretty);
    }
}

#[test]
fn pictures_are_as_they_should_be() {
    for sample in stable() {
        let found = sample.look();
        let mut picture = String::new();
        dot::write(&found, 60, &mut picture).unwrap();
        assert_golden(&format!("{}.dot", sample.name), &picture);
        picture.clear();
        svg::write(&found, 60, &mut picture).unwrap();
        assert_golden(&format!("{}.svg", sample.name), &picture);
    }
}

#[test]
fn pictures_have_so_many_boxes_and_draw_shared_objects_once() {
    for sample in samples::all() {
        let found = sample.look();
        for boxes in [1, 2, 60] {
            let mut picture = String::new();
            dot::write(&found, boxes, &mut picture).unwrap();
            let drawn = picture.matches("port=\"title\"").count();
            assert!(drawn <= boxes, "{}", sample.name);
            let left_out = picture.contains("more objects");
            assert_eq!(
                left_out,
                boxes < 60 && picture_of_all(&found) > boxes,
                "{}",
                sample.name
            );
            svg::write(&found, boxes, &mut picture).unwrap();
        }
    }
    let mut picture = String::new();
    dot::write(&samples::shared().look(), 60, &mut picture).unwrap();
    // Three targets have a further pointer: "one", "täxt" and the list.
    assert_eq!(picture.matches("style=dashed").count(), 3, "{picture}");
    assert_eq!(picture.matches("one&quot;").count(), 1, "{picture}");
}

fn picture_of_all(found: &jstream::inspect::Message) -> usize {
    let mut picture = String::new();
    dot::write(found, usize::MAX, &mut picture).unwrap();
    picture.matches("port=\"title\"").count()
}
