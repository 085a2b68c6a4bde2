//! Cost of lending a slice instead of copying it, by the size of the slice.

use std::hint::black_box;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use jstream::{EmptyBuffer, Transportable, Writer};

use super::Subject;
use crate::Failure;
use crate::measure::since;
use crate::suites::Bench;
use crate::table::number;

/// Sizes of the slices in bytes, around the point where lending may pay off.
const SIZES: [usize; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 16_384];
/// Total size of the slices of a message in bytes: less than a socket buffers before the peer
/// reads.
const TOTAL: usize = 64 << 10;
/// Bytes per round, large enough that reading the clock does not matter.
const PER_ROUND: usize = 8 * TOTAL;

/// A slice next to a field that is not a slice.
#[derive(Transportable)]
struct Block {
    id: u64,
    data: Vec<u8>,
}

/// Creates `count` blocks of `size` bytes each.
fn blocks(count: usize, size: usize) -> Vec<Block> {
    let data = |i: usize| vec![u8::try_from(i % 251).unwrap_or(0); size];
    (0..count)
        .map(|i| Block {
            id: i as u64,
            data: data(i),
        })
        .collect()
}

/// Returns a writer that copies slices of any size, and one that lends them.
fn writers() -> [(&'static str, Writer); 2] {
    [
        ("jstream, copied", Writer::new().lend_from(usize::MAX)),
        ("jstream, lent", Writer::new().lend_from(0)),
    ]
}

/// Measures messages of one slice each.
pub(super) fn one(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    compare(bench, case, |_| 1)
}

/// Measures messages of many slices.
pub(super) fn many(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    compare(bench, case, |size| TOTAL / size)
}

/// Compares copying with lending, to a jbuf and to a socket, for messages of `count` slices.
fn compare(
    bench: &mut Bench<'_>,
    case: &str,
    count: impl Fn(usize) -> usize,
) -> Result<(), Failure> {
    for size in SIZES {
        let blocks = blocks(count(size), size);
        let len = Writer::new().gather(&blocks, |segments| {
            segments.iter().map(|segment| segment.len()).sum::<usize>()
        })?;
        let operations = (PER_ROUND / len).max(1);
        let subjects = writers().map(|(name, writer)| {
            let round = to_jbuf(writer, &blocks, len, operations);
            Subject::new(name, round)
        });
        bench.compare(case, &format!("jbuf_{size}"), subjects.into())?;
        let mut subjects = Vec::new();
        for (name, writer) in writers() {
            let round = to_socket(writer, &blocks, len, operations)?;
            subjects.push(Subject::new(name, round));
        }
        bench.compare(case, &format!("socket_{size}"), subjects)?;
    }
    let text = "time of a message, by the size of its slices in bytes; the socket is one of a pair in one \
                thread, which reads what it wrote";
    bench.note(case, text.to_owned());
    Ok(())
}

fn to_jbuf(
    mut writer: Writer,
    blocks: &[Block],
    len: usize,
    operations: usize,
) -> impl FnMut() -> Result<f64, Failure> {
    let mut jbuf = Some(EmptyBuffer::heap(len));
    move || {
        let mut empty = jbuf.take().ok_or("an earlier round failed")?;
        let start = Instant::now();
        for _ in 0..operations {
            empty = black_box(writer.write(&blocks, empty)?).into_empty();
        }
        let time = since(start, operations);
        jbuf = Some(empty);
        Ok(time)
    }
}

fn to_socket(
    mut writer: Writer,
    blocks: &[Block],
    len: usize,
    operations: usize,
) -> Result<impl FnMut() -> Result<f64, Failure>, Failure> {
    let (mut to, mut from) = UnixStream::pair()?;
    let mut received = vec![0; len];
    Ok(move || {
        let start = Instant::now();
        for _ in 0..operations {
            writer.write_io(&blocks, &mut to)?;
            from.read_exact(black_box(&mut received))?;
        }
        Ok(since(start, operations))
    })
}

/// A plain array of points.
#[derive(Transportable)]
struct Mesh {
    triangles: Vec<[[f32; 3]; 4]>,
}

const TRIANGLES: usize = 125_000;
const MESHES_PER_ROUND: usize = 1_000;

/// Measures a mesh of 6 MB written as a list of segments.
pub(super) fn mesh(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let mesh = Mesh {
        triangles: vec![[[0.5; 3]; 4]; TRIANGLES],
    };
    let mut writer = Writer::new();
    let jstream = Subject::new("jstream", || {
        let start = Instant::now();
        for _ in 0..MESHES_PER_ROUND {
            writer.gather(black_box(&mesh), |segments| {
                black_box(segments.len());
            })?;
        }
        Ok(since(start, MESHES_PER_ROUND))
    });
    bench.compare(case, "gather", vec![jstream])?;
    let count = number(TRIANGLES as f64);
    let text = format!("{count} triangles of 48 bytes, made a list of segments");
    bench.note(case, text);
    Ok(())
}
