//! Types of the crate `glam`.

use glam::{
    Affine2, Affine3, Affine3A, DAffine2, DAffine3, DMat2, DMat3, DMat4, DQuat, DVec2, DVec3,
    DVec4, IVec2, IVec3, IVec4, Mat2, Mat3, Mat3A, Mat4, Quat, UVec2, UVec3, UVec4, Vec2, Vec3,
    Vec3A, Vec4,
};
use jstream::schema::{Kind, Schema};
use jstream::{Reader, Transportable, Writer};

use crate::common::by_value::travels;
use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Mesh {
    name: String,
    points: Vec<Vec3>,
    normals: Vec<Vec3A>,
    pose: Affine3A,
    turn: Option<Quat>,
    bounds: [DVec3; 2],
}

/// A type of the program with the name of a vector, but with parameters.
#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Vec4Of<T>(T);

mod others {
    use jstream::Transportable;

    #[derive(Transportable, Debug, Clone, Copy, PartialEq)]
    pub(super) struct Vec3<T>(pub(super) T);
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Generic {
    name: String,
    own: others::Vec3<Vec4Of<u8>>,
}

#[test]
fn by_value() {
    travels(&[Vec2::new(1.0, -2.0), Vec2::MAX]);
    travels(&[Vec3::new(1.0, 2.0, 3.0), Vec3::NEG_ONE]);
    travels(&[Vec3A::new(1.0, 2.0, 3.0), Vec3A::INFINITY]);
    travels(&[Vec4::new(1.0, 2.0, 3.0, 4.0)]);
    travels(&[Quat::from_rotation_x(1.0)]);
    travels(&[Mat2::from_angle(1.0)]);
    travels(&[Mat3::from_rotation_x(1.0)]);
    travels(&[Mat3A::from_rotation_x(1.0)]);
    travels(&[Mat4::from_rotation_x(1.0)]);
    travels(&[Affine2::from_angle_translation(1.0, Vec2::ONE)]);
    travels(&[Affine3::IDENTITY]);
    travels(&[Affine3A::from_translation(Vec3::ONE)]);
    travels(&[DVec2::ONE]);
    travels(&[DVec3::X]);
    travels(&[DVec4::Y]);
    travels(&[DQuat::from_rotation_x(1.0)]);
    travels(&[DMat2::IDENTITY]);
    travels(&[DMat3::IDENTITY]);
    travels(&[DMat4::IDENTITY]);
    travels(&[DAffine2::IDENTITY]);
    travels(&[DAffine3::IDENTITY]);
    travels(&[IVec2::MIN]);
    travels(&[IVec3::MAX]);
    travels(&[IVec4::NEG_ONE]);
    travels(&[UVec2::ONE]);
    travels(&[UVec3::MAX]);
    travels(&[UVec4::MIN]);
}

/// Vectors without padding are sent from where they are, also those of which no field is
/// public.
#[test]
fn in_a_type_that_owns() {
    let mesh = Mesh {
        name: "mesh".to_owned(),
        points: (0..1000u16).map(|n| Vec3::splat(n.into())).collect(),
        normals: vec![Vec3A::new(1.0, 2.0, 3.0); 3],
        pose: Affine3A::from_translation(Vec3::Y),
        turn: Some(Quat::IDENTITY),
        bounds: [DVec3::ZERO, DVec3::ONE],
    };
    let lent = Writer::new().gather(&mesh, |segments| {
        let start = mesh.points.as_ptr().cast::<u8>();
        segments.iter().any(|segment| segment.as_ptr() == start)
    });
    assert!(lent.unwrap());
    let received = Reader::default().read::<Mesh>(message(&mesh)).unwrap();
    let form = received.get();
    assert_eq!((form.name, form.points), ("mesh", &*mesh.points));
    assert_eq!((form.normals, form.pose), (&*mesh.normals, mesh.pose));
    assert_eq!((form.turn, form.bounds), (mesh.turn, mesh.bounds));
    // The numbers in memory that do not belong to a vector are not sent.
    let other = Vec3A::from_vec4(Vec4::new(1.0, 2.0, 3.0, 4.0));
    let one = Vec3A::new(1.0, 2.0, 3.0);
    assert_eq!(message(&other).as_bytes(), message(&one).as_bytes());
}

#[test]
fn names_of_the_program_are_not_taken() {
    let own = Generic {
        name: "own".to_owned(),
        own: others::Vec3(Vec4Of(7)),
    };
    let received = Reader::default().read::<Generic>(message(&own)).unwrap();
    assert_eq!(received.get().own, own.own);
}

#[test]
fn schemas_have_their_numbers() {
    fn names<T: Transportable + 'static>() -> Vec<(String, usize)> {
        let (schema, root) = Schema::of::<T>();
        match &schema.get(root).unwrap().kind {
            Kind::Struct(fields) => fields
                .iter()
                .map(|field| (field.name.clone().into_owned(), field.offset))
                .collect(),
            kind => panic!("{kind:?}"),
        }
    }
    let all = |names: &[&str], size: usize| -> Vec<(String, usize)> {
        let places = (0..).map(|at| at * size);
        names
            .iter()
            .map(|name| (*name).to_owned())
            .zip(places)
            .collect()
    };
    assert_eq!(names::<Vec3>(), all(&["x", "y", "z"], 4));
    assert_eq!(names::<Quat>(), all(&["x", "y", "z", "w"], 4));
    assert_eq!(names::<DMat2>(), all(&["x_axis", "y_axis"], 16));
    let affine = ["x_axis", "y_axis", "z_axis", "translation"];
    assert_eq!(names::<Affine3A>(), all(&affine, 12));
}
