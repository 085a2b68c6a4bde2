//! Twin type whose triangles may be owned or borrowed.

use super::walk_fields;

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in super::super) struct Mesh<V> {
    triangles: V,
}

walk_fields!([V] Mesh<V> => triangles);
