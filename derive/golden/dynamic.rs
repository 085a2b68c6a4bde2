#[transportable]
pub trait Shape {
    fn area(&self) -> f64;
}

#[derive(Transportable)]
#[transportable(implements(Shape, other::Named))]
struct Circle {
    radius: f64,
}

#[derive(Transportable)]
struct Drawing {
    shapes: Vec<Box<dyn Shape>>,
}
