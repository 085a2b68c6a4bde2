//! Case `mesh` with FlatBuffers.

use flatbuffers::{FlatBufferBuilder, WIPOffset};

use crate::suites::serialization::generated::mesh_flat::mesh as flat;
use crate::suites::serialization::subjects::{Flat, walk_accessors};

impl Flat for super::Mesh {
    type Root<'a> = flat::Mesh<'a>;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Mesh<'b>> {
        let vector = |v: &super::Vector3| flat::Vector3::new(v.x, v.y, v.z);
        let triangles = self.triangles.iter().map(|triangle| {
            let [v0, v1, v2] = [&triangle.v0, &triangle.v1, &triangle.v2].map(vector);
            flat::Triangle::new(&v0, &v1, &v2, &vector(&triangle.normal))
        });
        let triangles = Some(into.create_vector_from_iter(triangles));
        flat::Mesh::create(into, &flat::MeshArgs { triangles })
    }
}

walk_accessors!(flat::Mesh<'_> => triangles);
walk_accessors!(flat::Triangle => v0 v1 v2 normal);
walk_accessors!(flat::Vector3 => x y z);
