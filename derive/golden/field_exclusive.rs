#[derive(Transportable)]
struct Column {
    name: String,
    #[transportable(exclusive)]
    values: Vec<f64>,
}
