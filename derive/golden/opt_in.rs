#[derive(Transportable)]
#[transportable(opt_in)]
struct Node<'b> {
    left: Option<&'b Node<'b>>,
    #[transportable(follow)]
    right: Option<&'b Node<'b>>,
}
