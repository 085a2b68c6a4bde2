#[derive(Transportable)]
struct Node<'b> {
    #[transportable(shared)]
    next: Option<&'b Node<'b>>,
    id: u64,
}
