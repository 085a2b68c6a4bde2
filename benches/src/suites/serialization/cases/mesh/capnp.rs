//! Case `mesh` with Cap'n Proto.

use crate::suites::serialization::generated::mesh_capnp::{mesh, triangle};
use crate::suites::serialization::subjects::{Segmented, Sum, sum_getters};

impl Segmented for super::Mesh {
    type Root = mesh::Owned;

    fn fill(&self, root: mesh::Builder<'_>) {
        let mut triangles = root.init_triangles(self.triangles.len() as u32);
        for (i, triangle) in (0..).zip(&self.triangles) {
            triangle.fill(triangles.reborrow().get(i));
        }
    }

    fn sum(root: mesh::Reader<'_>) -> capnp::Result<u64> {
        root.sum()
    }
}

/// Sets a corner. Each corner is a group with its own type, hence a macro.
macro_rules! set_corner {
    ($corner:expr, $from:expr) => {{
        let mut corner = $corner;
        corner.set_x($from.x);
        corner.set_y($from.y);
        corner.set_z($from.z);
    }};
}

impl super::Triangle {
    fn fill(&self, mut into: triangle::Builder<'_>) {
        set_corner!(into.reborrow().init_v0(), self.v0);
        set_corner!(into.reborrow().init_v1(), self.v1);
        set_corner!(into.reborrow().init_v2(), self.v2);
        set_corner!(into.init_normal(), self.normal);
    }
}

sum_getters!(mesh::Reader<'_> => ; get_triangles);
sum_getters!(triangle::Reader<'_> => get_v0 get_v1 get_v2 get_normal);
sum_getters!(triangle::v0::Reader<'_> => get_x get_y get_z);
sum_getters!(triangle::v1::Reader<'_> => get_x get_y get_z);
sum_getters!(triangle::v2::Reader<'_> => get_x get_y get_z);
sum_getters!(triangle::normal::Reader<'_> => get_x get_y get_z);
