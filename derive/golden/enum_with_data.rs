#[derive(Transportable)]
#[repr(u8)]
enum Shape<'b> {
    Point,
    Circle(f64) = 7,
    Named { name: &'b str, of: &'b Shape<'b> },
}
