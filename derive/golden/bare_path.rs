#[derive(Transportable)]
struct Files {
    root: Box<Path>,
    names: Vec<String>,
}
