#[derive(Transportable)]
struct Named {
    #[transportable(form = &'b str)]
    name: Text,
}
