//! The mesh with a field beside the triangles, with Cap'n Proto.

use crate::suites::serialization::generated::versions_capnp::{model, triangle};
use crate::suites::serialization::subjects::{Segmented, Short, Sum, sum_getters};

impl Segmented for super::Model {
    type Root = model::Owned;

    fn fill(&self, mut root: model::Builder<'_>) {
        root.set_material(self.material);
        let mut triangles = root.init_triangles(self.triangles.len() as u32);
        for (i, triangle) in (0..).zip(&self.triangles) {
            fill(triangle, triangles.reborrow().get(i));
        }
    }

    fn sum(root: model::Reader<'_>) -> capnp::Result<u64> {
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

fn fill(from: &super::Triangle, mut into: triangle::Builder<'_>) {
    set_corner!(into.reborrow().init_v0(), from.v0);
    set_corner!(into.reborrow().init_v1(), from.v1);
    set_corner!(into.reborrow().init_v2(), from.v2);
    set_corner!(into.init_normal(), from.normal);
}

sum_getters!(model::Reader<'_> => get_material; get_triangles);
sum_getters!(Short<model::Reader<'_>> => ; get_triangles);
sum_getters!(triangle::Reader<'_> => get_v0 get_v1 get_v2 get_normal);
sum_getters!(triangle::v0::Reader<'_> => get_x get_y get_z);
sum_getters!(triangle::v1::Reader<'_> => get_x get_y get_z);
sum_getters!(triangle::v2::Reader<'_> => get_x get_y get_z);
sum_getters!(triangle::normal::Reader<'_> => get_x get_y get_z);
