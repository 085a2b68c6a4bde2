#[derive(Transportable)]
struct Line<'b> {
    text: &'b str,
    words: Vec<&'b str>,
}
