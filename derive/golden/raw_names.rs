#[derive(Transportable)]
#[transportable(crate = unsafe(crate::r#mod::jstream))]
struct r#struct<'b> {
    r#type: &'b str,
    r#fn: r#enum,
}

#[derive(Transportable)]
enum r#enum {
    r#impl,
}
