//! Writes the seeds of the corpus: `cargo run --example seeds`, run in this folder. The output is
//! reproducible.

use std::fs;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};

use arbitrary::Unstructured;
use jstream::schema::Schema;
use jstream::{Transportable, Writer};
use jstream_fuzz::family::{
    Family, archives, dynamic, fields, maps, options, shared, strings, vectors,
};
use jstream_fuzz::files::{self, flag};
use jstream_fuzz::message::{ASCII, unframed};
use jstream_fuzz::model::{Arenas, Leg, Mark, Node, Shape, Side};
use jstream_fuzz::{message, mode, stream};

fn main() -> std::io::Result<()> {
    recursive()?;
    family::<strings::Strings>()?;
    family::<options::Options>()?;
    family::<maps::Maps>()?;
    family::<shared::SharedGraph>()?;
    family::<dynamic::Dynamic>()?;
    family::<fields::Fields>()?;
    structure()?;
    streams()?;
    family::<vectors::Vectors>()?;
    family::<archives::Archives>()?;
    captures()?;
    for target in ["calls", "greeting", "remote", "ranks", "worlds", "channels"] {
        peers(target)?;
    }
    schema()?;
    conversions()?;
    file()
}

/// Creates the folder of a target's corpus if necessary and returns its path.
fn corpus(target: &str) -> std::io::Result<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    fs::create_dir_all(&corpus)?;
    Ok(corpus)
}

/// Returns reproducible pseudo-random bytes.
fn noise(len: u32, step: u32) -> Vec<u8> {
    let byte = |i: u32| (i.wrapping_mul(step) ^ i >> 3) as u8;
    (0..len).map(byte).collect()
}

/// Seeds of the target that converts messages of another version.
fn conversions() -> std::io::Result<()> {
    let into = corpus("conversions")?;
    for depth in 0..4 {
        let seed = jstream_fuzz::conversions::seed(depth);
        fs::write(into.join(format!("seed-{depth}")), seed)?;
    }
    Ok(())
}

/// Seeds of a target that plays a peer.
fn peers(target: &str) -> std::io::Result<()> {
    let into = corpus(target)?;
    for (len, step) in [(24, 37), (90, 5), (300, 91), (1000, 23)] {
        fs::write(into.join(format!("seed-{len}")), noise(len, step))?;
    }
    Ok(())
}

/// Messages of the sample and of a generated value, whole and without headers, and scripts.
fn family<F: Family>() -> std::io::Result<()> {
    let into = corpus(F::NAME)?;
    let put =
        |name: &str, bytes: &[&[u8]]| fs::write(into.join(format!("seed-{name}")), bytes.concat());
    let made_up = noise(200, 37);
    let made_up = F::message(&mut Unstructured::new(&made_up)).expect("there are enough bytes");
    for (name, mut message) in [("sample", F::sample()), ("made-up", made_up)] {
        put(&format!("framed-{name}"), &[&[1], &unframed(&message)])?;
        // The fuzz target replaces the descriptor, which depends on the compiler.
        message[8..16].fill(0);
        put(&format!("raw-{name}"), &[&[0], &message])?;
    }
    put("sound", &[&[2, 0]])?;
    put("sound-limited", &[&[0x86, 0]])?;
    for step in 0..8u8 {
        let script = [step, 5 + 3 * step, 0, 7 * step];
        put(&format!("script-{step}"), &[&[2, 1], &script])?;
        let both = [script, [step ^ 5, 40 + step, 0, step]].concat();
        put(
            &format!("made-up-{step}"),
            &[&[2, 2], &both, &noise(160, 91 + u32::from(step))],
        )?;
    }
    Ok(())
}

fn structure() -> std::io::Result<()> {
    let into = corpus("structure")?;
    for family in 0..6u8 {
        for (name, step) in [("a", 37), ("b", 91)] {
            let input = [&[family], noise(240, step).as_slice()].concat();
            fs::write(into.join(format!("seed-{family}-{name}")), input)?;
        }
    }
    Ok(())
}

/// Whole streams, and bytes from which streams are generated.
fn streams() -> std::io::Result<()> {
    let into = corpus("stream")?;
    let put =
        |name: &str, bytes: &[&[u8]]| fs::write(into.join(format!("seed-{name}")), bytes.concat());
    for step in [37, 53, 71, 91] {
        let script = noise(700, step);
        let arenas = Arenas::default();
        let made = stream::written(&mut Unstructured::new(&script), &arenas);
        let (bytes, _) = made.expect("there are enough bytes");
        put(&format!("raw-{step}"), &[&[mode::RAW], &bytes])?;
        put(&format!("made-{step}"), &[&[mode::GENERATED, 0], &script])?;
        put(
            &format!("limited-{step}"),
            &[&[mode::LIMITED | 0b110, 0], &script],
        )?;
    }
    let pieces: Vec<u8> = (0..3)
        .flat_map(|_| [&[20], noise(80, 29).as_slice()].concat())
        .collect();
    put("framed", &[&[mode::FRAMED], &pieces])
}

/// Schemas of types whose layout is the same with every compiler, alone and in pairs.
fn schema() -> std::io::Result<()> {
    let into = corpus("schema")?;
    let all = [
        ("leaf", encoded::<u8>()),
        ("text", encoded::<Vec<Option<String>>>()),
        ("leg", encoded::<Leg>()),
        ("mark", encoded::<Mark<'static>>()),
        ("node", encoded::<Node<'static>>()),
        ("net", encoded::<shared::Net<'static>>()),
        ("drawing", encoded::<dynamic::Drawing>()),
        ("arrays", encoded::<[[(u8, bool); 3]; 2]>()),
        ("rules", unchecked()?),
    ];
    for (name, bytes) in &all {
        // A length of 0 for the first schema: the rest of the input is the second one.
        fs::write(
            into.join(format!("seed-{name}")),
            [&[0], bytes.as_slice()].concat(),
        )?;
    }
    for (first, second) in all.iter().zip(&all[1..]) {
        let mut both = vec![(first.1.len().div_ceil(16)) as u8];
        both.extend(&first.1);
        both.extend(&second.1);
        fs::write(into.join(format!("seed-{}-{}", first.0, second.0)), both)?;
    }
    Ok(())
}

/// The sample: whole, without its first bytes, and damaged.
fn captures() -> std::io::Result<()> {
    use jstream_fuzz::captures::{flag, sample};
    let into = corpus("captures")?;
    let put =
        |name: &str, bytes: &[&[u8]]| fs::write(into.join(format!("seed-{name}")), bytes.concat());
    put("raw", &[&[0], &sample()[8..]])?;
    put("raw-summed", &[&[flag::SUMMED], &sample()[8..]])?;
    put("sound", &[&[flag::SAMPLE]])?;
    for step in 0..12u8 {
        let script = [9 + 20 * step, u8::from(step > 6), 7 * step];
        put(
            &format!("damaged-{step}"),
            &[&[flag::SAMPLE | flag::SUMMED], &script],
        )?;
    }
    Ok(())
}

/// The sample: whole, truncated, and damaged.
fn file() -> std::io::Result<()> {
    let into = corpus("file")?;
    let put =
        |name: &str, bytes: &[&[u8]]| fs::write(into.join(format!("seed-{name}")), bytes.concat());
    let sample = files::sample();
    put("sample", &[&[flag::CHECKSUMS], sample])?;
    put("sample-summed", &[&[flag::SUMMED], sample])?;
    put("front", &[&[flag::CHECKSUMS], &sample[..1536]])?;
    put("sound", &[&[flag::SAMPLE]])?;
    for step in 0..12u8 {
        let all = [flag::SAMPLE, flag::SAMPLE | flag::SUMMED];
        // Offsets, in words, of the commits and of the data behind them.
        let at = 64 + 11 * u16::from(step);
        let [low, high] = at.to_le_bytes();
        let script = [low, high, step, 9 * step, low, high, 0, 1];
        put(
            &format!("damaged-{step}"),
            &[&[all[usize::from(step % 2)]], &script],
        )?;
    }
    Ok(())
}

fn encoded<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

/// A type with each rule for messages of other versions.
#[derive(Transportable)]
#[allow(dead_code, reason = "only its structure matters")]
#[transportable(renamed_from = "Older")]
struct Ruled {
    #[transportable(renamed_from("a", "b"), default = "c", must_understand)]
    name: String,
    #[transportable(narrow, default)]
    number: u16,
    choice: Choice,
}

#[derive(Transportable)]
#[repr(u8)]
#[allow(dead_code, reason = "only its structure matters")]
enum Choice {
    #[transportable(other, renamed_from = "None")]
    Unknown,
    Known(#[transportable(default = 7)] u8),
}

/// Returns a snapshot without its check, which the target adds.
fn unchecked() -> std::io::Result<Vec<u8>> {
    let (schema, root) = Schema::of::<Ruled>();
    let mut bytes = schema.to_snapshot(root).map_err(std::io::Error::other)?;
    bytes.truncate(bytes.len() - 8);
    Ok(bytes)
}

fn recursive() -> std::io::Result<()> {
    let into = corpus("recursive")?;
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
    // The meaning of these bytes is up to `arbitrary`: a graph without damage, one with each kind
    // of damage, a list, and graphs with a depth limit.
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
