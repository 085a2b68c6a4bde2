#[derive(Transportable)]
struct Node<'b> {
    next: Cell<Option<&'b Node<'b>>>,
}

#[derive(Transportable)]
#[transportable(invariant, no_to_owned)]
struct Graph {
    nodes: Vec<Node>,
}
