//! Writes the seeds of the corpus: `cargo run --example seeds`, from this folder. The same program
//! writes the same bytes.

use std::fs;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::Path;

use jstream::Writer;
use jstream_fuzz::message::{ASCII, unframed};
use jstream_fuzz::model::{Leg, Mark, Node, Shape, Side};
use jstream_fuzz::{message, mode};

fn main() -> std::io::Result<()> {
    let into = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/recursive");
    fs::create_dir_all(&into)?;
    let put = |name: &str, first: u8, rest: &[u8]| {
        let input = [&[first], rest].concat();
        fs::write(into.join(format!("seed-{name}")), input)
    };

    let small = Node {
        id: 1,
        name: "a",
        ratio: 0.5,
        weight: f32::NAN,
        letter: 'x',
        side: Side::Buy,
        open: false,
        flag: None,
        serial: NonZeroU16::MIN,
        count: None,
        large: None,
        pair: None,
        legs: &[],
        marks: &[],
        tags: &[],
        flags: &[],
        letters: &[],
        nothing: &[],
        number: &&7,
        alias: None,
        shape: Shape::Empty,
        matrix: [[0; 2]; 3],
        children: &[],
        next: None,
    };
    let mark = Mark {
        note: Some((3, "n")),
        twice: Some(None),
        text: Some(Some("t")),
        level: Some('\u{10ffff}'),
    };
    let leg = Leg {
        price: -0.0,
        quantity: 2,
        side: Side::Sell,
        taken: true,
    };
    let inner = Shape::Tagged {
        side: Side::Buy,
        maybe: Some(&Shape::Circle { radius: 1.0 }),
    };
    let children = [
        Node {
            shape: Shape::Polygon(&[(1.0, 2.0), (3.0, 4.0)], Some("→")),
            ..small
        },
        Node {
            shape: Shape::Nested(&small),
            next: Some(&small),
            ..small
        },
    ];
    let full = Node {
        name: "grün",
        letter: 'ß',
        side: Side::Sell,
        open: true,
        flag: Some(true),
        count: Some(NonZeroU32::MAX),
        large: Some(u128::MAX),
        pair: Some((1, "p")),
        legs: &[leg, leg],
        marks: &[mark, mark],
        tags: &["", "t", "ä"],
        flags: &[true, false, true],
        letters: &['a', '→'],
        nothing: &[(), ()],
        alias: Some(&"alias"),
        shape: inner,
        children: &children,
        next: Some(&small),
        ..small
    };

    for (name, node) in [("small", &small), ("full", &full)] {
        let message = message(&mut Writer::new(), node);
        let bytes = message.as_bytes();
        put(&format!("raw-{name}"), mode::RAW, bytes)?;
        put(&format!("framed-{name}"), mode::FRAMED, &unframed(bytes))?;
    }
    let mut ascii = unframed(message(&mut Writer::new(), &small).as_bytes());
    ascii[0] |= ASCII;
    put("framed-ascii", mode::FRAMED, &ascii)?;
    // What comes of these is up to `arbitrary`: a graph without damage, one with each kind of it,
    // a list, and one for which the depth is limited.
    let noise = |len: u32, step: u32| -> Vec<u8> {
        let byte = |i: u32| (i.wrapping_mul(step) ^ i >> 3) as u8;
        (0..len).map(byte).collect()
    };
    let generated =
        |damage: &[u8], list: u8, step| [damage, &[list], noise(600, step).as_slice()].concat();
    put("graph", mode::GENERATED, &generated(&[0], 0, 37))?;
    put("list", mode::GENERATED, &generated(&[0], 255, 91))?;
    put("limited", mode::LIMITED | 0b110, &generated(&[0], 0, 53))?;
    let damage = [3, 0, 0, 0, 0, 9, 0, 1, 0x60, 0, 0, 0, 0x70, 9, 0, 128, 0];
    put("damaged", mode::GENERATED, &generated(&damage, 0, 71))?;
    put(
        "list-limited",
        mode::LIMITED | 0b110,
        &generated(&[0], 255, 91),
    )?;
    Ok(())
}
