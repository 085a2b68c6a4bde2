//! Cases of the mesh with the least that a program does that copies or widens its array.

use crate::Failure;
use crate::suites::serialization::cases::forever;
use crate::suites::serialization::cases::mesh::Mesh;
use crate::suites::serialization::cases::mesh::versions::{MeshWide, Model, TriangleWide};
use crate::table::number;

use super::array::Pass;
use super::case::{self, Case};

/// Returns the case of a field that is new beside the triangles, which stay as they are.
pub(super) fn added(size: usize) -> Result<Case, Failure> {
    let case = case::added::<Model>(size)?;
    let triangles = forever(Mesh::draw(size)).triangles();
    let copy = |from: &[_], into: &mut Vec<_>| into.extend_from_slice(from);
    Ok(case.and(vec![
        Box::new(Pass::new("memcpy", triangles, copy)),
        Box::new(Pass::allocating("memcpy-allocating", triangles, copy)),
    ]))
}

/// Returns the case of triangles whose numbers have twice the size.
///
/// In messages of Protocol Buffers, FlatBuffers, Cap'n Proto and postcard, floats of both sizes
/// have different encodings, and none of them tells which one a message has.
pub(super) fn widened(size: usize) -> Result<Case, Failure> {
    let old = forever(Mesh::draw(size));
    let new = forever(MeshWide::from(Mesh::draw(size)));
    let about = format!(
        "{} triangles of 4 x 3 x f32; f32 became f64",
        number(size as f64)
    );
    let widen = |from: &[_], into: &mut Vec<_>| into.extend(from.iter().map(TriangleWide::from));
    let case = Case::new(about, old, new)?;
    Ok(case.and(vec![
        Box::new(Pass::new("loop", old.triangles(), widen)),
        Box::new(Pass::allocating("loop-allocating", old.triangles(), widen)),
    ]))
}
