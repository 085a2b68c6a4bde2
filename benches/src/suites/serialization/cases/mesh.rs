//! Case `mesh`: a plain array of triangles.

use super::draw::{Draw, Random, exactly, random};
use super::{Case, forever, values};
use crate::Failure;
use crate::suites::serialization::walk::walk_fields;
use crate::table::number;

values! {
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    pub(in crate::suites) struct Mesh {
        triangles: Vec<Triangle>,
    }

    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(zero_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    #[repr(C)]
    pub(in crate::suites) struct Triangle {
        v0: Vector3,
        v1: Vector3,
        v2: Vector3,
        #[transportable(renamed_from = "facing")]
        #[cfg_attr(feature = "peers", fory(id = 1))]
        normal: Vector3,
    }

    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(zero_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    #[repr(C)]
    struct Vector3 {
        x: f32,
        y: f32,
        z: f32,
    }
}

walk_fields!(Mesh, MeshRef<'_>, ArchivedMesh => triangles);
walk_fields!(Triangle, ArchivedTriangle => v0 v1 v2 normal);
walk_fields!(Vector3, ArchivedVector3 => x y z);

impl Draw for Vector3 {
    fn draw(random: &mut Random) -> Self {
        let [x, y, z] = Draw::draw(random);
        Self { x, y, z }
    }
}

impl Draw for Triangle {
    fn draw(random: &mut Random) -> Self {
        let [v0, v1, v2, normal] = Draw::draw(random);
        Self { v0, v1, v2, normal }
    }
}

fn value(size: usize) -> Mesh {
    Mesh {
        triangles: exactly(&mut random(), size),
    }
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let value = forever(value(size));
    let size = number(size as f64);
    let about = format!("{size} triangles: 4 x 3 x f32");
    let case = Case::new(about, value)?
        .and_restored(value)?
        .and_memcpy(&value.triangles);
    #[cfg(feature = "peers")]
    let case = case
        .and_peers(value)?
        .and_schemas(value)?
        .and_twin::<_, twin::Mesh<Vec<Triangle>>>(value)?;
    Ok(case)
}

#[cfg(feature = "peers")]
mod capnp;
#[cfg(feature = "peers")]
mod flat;
#[cfg(feature = "peers")]
mod twin;
pub(in crate::suites) mod versions;

#[cfg(test)]
mod tests {
    use jstream::Transportable;

    use super::*;

    #[test]
    fn it_is_the_data_set_that_others_measure() {
        assert_eq!(value(125_000).triangles.len(), 125_000);
        assert_eq!(size_of::<Triangle>(), 48);
    }

    #[test]
    fn its_wire_form_is_its_memory() {
        const { assert!(<Triangle as Transportable>::WIRE_IS_MEMORY) };
    }
}
