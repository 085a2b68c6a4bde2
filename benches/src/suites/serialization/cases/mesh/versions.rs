//! Case `mesh` in other versions: with a field beside the triangles, and with other triangles.

use super::{Mesh, Triangle, TriangleRef, Vector3, value, walk_fields};
use crate::suites::serialization::cases::versions::{Versions, version_types};
#[cfg(feature = "peers")]
use crate::suites::serialization::subjects::registered;

version_types! {
    /// A mesh whose array of triangles is the same in all versions, or differs in names only.
    #[derive(serde::Deserialize)]
    pub(in crate::suites) struct Model {
        triangles: Vec<Triangle>,
        #[transportable(default)]
        material: u32,
    }

    pub(in crate::suites) struct ModelRenamed {
        triangles: Vec<TriangleRenamed>,
        material: u32,
    }

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct TriangleRenamed {
        v0: Vector3,
        v1: Vector3,
        v2: Vector3,
        #[cfg_attr(feature = "peers", fory(id = 1))]
        facing: Vector3,
    }

    /// A mesh with twice as large numbers.
    pub(in crate::suites) struct MeshWide {
        triangles: Vec<TriangleWide>,
    }

    #[derive(Clone, Copy)]
    #[repr(C)]
    pub(in crate::suites) struct TriangleWide {
        v0: Vector3Wide,
        v1: Vector3Wide,
        v2: Vector3Wide,
        #[cfg_attr(feature = "peers", fory(id = 1))]
        normal: Vector3Wide,
    }

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Vector3Wide {
        x: f64,
        y: f64,
        z: f64,
    }
}

#[cfg(feature = "peers")]
registered! {
    Mesh: Triangle Vector3;
    Model: Triangle Vector3;
    ModelRenamed: TriangleRenamed Vector3;
    MeshWide: TriangleWide Vector3Wide;
}

walk_fields!(Model, ModelRef<'_> => triangles material);
walk_fields!(MeshWide, MeshWideRef<'_> => triangles);
walk_fields!(TriangleWide => v0 v1 v2 normal);
walk_fields!(Vector3Wide => x y z);

impl Mesh {
    pub(in crate::suites) fn draw(size: usize) -> Self {
        value(size)
    }

    pub(in crate::suites) fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }
}

impl From<Model> for Mesh {
    fn from(of: Model) -> Self {
        Self {
            triangles: of.triangles,
        }
    }
}

impl From<Model> for ModelRenamed {
    fn from(of: Model) -> Self {
        let triangles = of.triangles.into_iter().map(|of| TriangleRenamed {
            v0: of.v0,
            v1: of.v1,
            v2: of.v2,
            facing: of.normal,
        });
        Self {
            triangles: triangles.collect(),
            material: of.material,
        }
    }
}

impl From<Mesh> for MeshWide {
    fn from(of: Mesh) -> Self {
        Self {
            triangles: of.triangles.iter().map(TriangleWide::from).collect(),
        }
    }
}

impl From<&Triangle> for TriangleWide {
    #[inline(always)]
    fn from(of: &Triangle) -> Self {
        Self {
            v0: of.v0.into(),
            v1: of.v1.into(),
            v2: of.v2.into(),
            normal: of.normal.into(),
        }
    }
}

impl From<Vector3> for Vector3Wide {
    #[inline(always)]
    fn from(of: Vector3) -> Self {
        Self {
            x: f64::from(of.x),
            y: f64::from(of.y),
            z: f64::from(of.z),
        }
    }
}

impl Versions for Model {
    type Without = Mesh;
    type Renamed = ModelRenamed;

    const ABOUT: &'static str = "triangles of 4 x 3 x f32";
    const FIELD: &'static str = "u32 beside the triangles";

    fn draw(size: usize) -> Self {
        let Mesh { triangles } = value(size);
        Self {
            triangles,
            material: 7,
        }
    }

    fn reset(&mut self) {
        self.material = 0;
    }
}

#[cfg(feature = "peers")]
mod capnp;
#[cfg(feature = "peers")]
mod flat;
#[cfg(feature = "peers")]
mod protobuf;
