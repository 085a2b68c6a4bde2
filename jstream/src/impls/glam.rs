//! Vectors, quaternions, matrices and affine transforms of `glam`.
//!
//! In schemas these are structs of numbers, or of columns. Types with padding are sent by value: a
//! `Vec3A` has a fourth number in memory that is not part of the value.

use glam::{
    Affine2, Affine3, Affine3A, DAffine2, DAffine3, DMat2, DMat3, DMat4, DQuat, DVec2, DVec3,
    DVec4, IVec2, IVec3, IVec4, Mat2, Mat3, Mat3A, Mat4, Quat, UVec2, UVec3, UVec4, Vec2, Vec3,
    Vec3A, Vec4,
};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{FieldInfo, Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Names of the numbers of vectors and quaternions.
const XYZW: [&str; 4] = ["x", "y", "z", "w"];
/// Names of the columns of matrices.
const AXES: [&str; 4] = ["x_axis", "y_axis", "z_axis", "w_axis"];
/// Names of the columns of transforms in the plane.
const AFFINE_2: [&str; 3] = ["x_axis", "y_axis", "translation"];
/// Names of the columns of transforms in space.
const AFFINE_3: [&str; 4] = ["x_axis", "y_axis", "z_axis", "translation"];

/// Describes a `W` that begins with `N` adjacent numbers or columns of type `T`.
fn numbers<T: InPlace, const N: usize, W>(
    names: impl IntoIterator<Item = &'static str> + Clone,
) -> impl FnMut(&mut Schema) -> Kind {
    const { assert!(size_of::<[T; N]>() <= size_of::<W>()) };
    move |schema| {
        let number = T::describe(schema);
        let places = (0..N).map(|at| at.wrapping_mul(size_of::<T>()));
        let fields = names.clone().into_iter().zip(places);
        Kind::Struct(
            fields
                .map(|(name, at)| FieldInfo::new(name, at, number))
                .collect(),
        )
    }
}

plain_leaf! {
    Vec2, "Vec2", numbers::<f32, 2, Self>(XYZW);
    Vec3, "Vec3", numbers::<f32, 3, Self>(XYZW);
    Vec4, "Vec4", numbers::<f32, 4, Self>(XYZW);
    DVec2, "DVec2", numbers::<f64, 2, Self>(XYZW);
    DVec3, "DVec3", numbers::<f64, 3, Self>(XYZW);
    DVec4, "DVec4", numbers::<f64, 4, Self>(XYZW);
    IVec2, "IVec2", numbers::<i32, 2, Self>(XYZW);
    IVec3, "IVec3", numbers::<i32, 3, Self>(XYZW);
    IVec4, "IVec4", numbers::<i32, 4, Self>(XYZW);
    UVec2, "UVec2", numbers::<u32, 2, Self>(XYZW);
    UVec3, "UVec3", numbers::<u32, 3, Self>(XYZW);
    UVec4, "UVec4", numbers::<u32, 4, Self>(XYZW);
    Quat, "Quat", numbers::<f32, 4, Self>(XYZW);
    DQuat, "DQuat", numbers::<f64, 4, Self>(XYZW);
    Mat2, "Mat2", numbers::<[f32; 2], 2, Self>(AXES);
    Mat3, "Mat3", numbers::<[f32; 3], 3, Self>(AXES);
    Mat4, "Mat4", numbers::<[f32; 4], 4, Self>(AXES);
    Affine3, "Affine3", numbers::<[f32; 3], 4, Self>(AFFINE_3);
    DMat2, "DMat2", numbers::<[f64; 2], 2, Self>(AXES);
    DMat3, "DMat3", numbers::<[f64; 3], 3, Self>(AXES);
    DMat4, "DMat4", numbers::<[f64; 4], 4, Self>(AXES);
    DAffine2, "DAffine2", numbers::<[f64; 2], 3, Self>(AFFINE_2);
    DAffine3, "DAffine3", numbers::<[f64; 3], 4, Self>(AFFINE_3);
}

opaque! {
    @ Vec3A, "Vec3A", numbers::<f32, 3, Self>(XYZW), [f32; 3],
        |vector| vector.to_array(), |wire| Some(Self::from_array(wire));
    @ Mat3A, "Mat3A", numbers::<[f32; 3], 3, Self>(AXES), [f32; 9],
        |matrix| matrix.to_cols_array(), |wire| Some(Self::from_cols_array(&wire));
    @ Affine2, "Affine2", numbers::<[f32; 2], 3, Self>(AFFINE_2), [f32; 6],
        |transform| transform.to_cols_array(), |wire| Some(Self::from_cols_array(&wire));
    @ Affine3A, "Affine3A", numbers::<[f32; 3], 4, Self>(AFFINE_3), [f32; 12],
        |transform| transform.to_cols_array(), |wire| Some(Self::from_cols_array(&wire));
}
