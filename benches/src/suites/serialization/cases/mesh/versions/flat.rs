//! The mesh with a field beside the triangles, with FlatBuffers.

use flatbuffers::{FlatBufferBuilder, WIPOffset};

use crate::suites::serialization::generated::versions_flat::versions as flat;
use crate::suites::serialization::subjects::{Flat, Short, walk_accessors};

impl Flat for super::Model {
    type Root<'a> = flat::Model<'a>;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Model<'b>> {
        let vector = |v: &super::Vector3| flat::Vector3::new(v.x, v.y, v.z);
        let triangles = self.triangles.iter().map(|triangle| {
            let [v0, v1, v2] = [&triangle.v0, &triangle.v1, &triangle.v2].map(vector);
            flat::Triangle::new(&v0, &v1, &v2, &vector(&triangle.normal))
        });
        let args = flat::ModelArgs {
            triangles: Some(into.create_vector_from_iter(triangles)),
            material: self.material,
        };
        flat::Model::create(into, &args)
    }
}

walk_accessors!(flat::Model<'_> => triangles material);
walk_accessors!(Short<flat::Model<'_>> => triangles);
walk_accessors!(flat::Triangle => v0 v1 v2 normal);
walk_accessors!(flat::Vector3 => x y z);
