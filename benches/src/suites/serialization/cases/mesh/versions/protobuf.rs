//! The mesh with a field beside the triangles, with Protocol Buffers.

use super::walk_fields;
use crate::suites::serialization::subjects::Protobuf;

/// Defines the type of a version.
macro_rules! models {
    ($($model:ident $($material:ident)?;)*) => {$(
        #[derive(Clone, PartialEq, prost::Message)]
        pub(in crate::suites) struct $model {
            #[prost(message, repeated, tag = "1")]
            triangles: Vec<Triangle>,
            $(#[prost(uint32, tag = "2")]
            $material: u32,)?
        }

        walk_fields!($model => triangles $($material)?);
    )*};
}

models! {
    Model material;
    ModelShort;
}

#[derive(Clone, PartialEq, prost::Message)]
struct Triangle {
    #[prost(message, required, tag = "1")]
    v0: Vector3,
    #[prost(message, required, tag = "2")]
    v1: Vector3,
    #[prost(message, required, tag = "3")]
    v2: Vector3,
    #[prost(message, required, tag = "4")]
    normal: Vector3,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Vector3 {
    #[prost(float, tag = "1")]
    x: f32,
    #[prost(float, tag = "2")]
    y: f32,
    #[prost(float, tag = "3")]
    z: f32,
}

walk_fields!(Triangle => v0 v1 v2 normal);
walk_fields!(Vector3 => x y z);

impl Protobuf for super::Model {
    type Message = Model;
    type Short = ModelShort;

    fn message(&self) -> Model {
        let vector = |of: super::Vector3| Vector3 {
            x: of.x,
            y: of.y,
            z: of.z,
        };
        let triangles = self.triangles.iter().map(|of| Triangle {
            v0: vector(of.v0),
            v1: vector(of.v1),
            v2: vector(of.v2),
            normal: vector(of.normal),
        });
        Model {
            triangles: triangles.collect(),
            material: self.material,
        }
    }
}
