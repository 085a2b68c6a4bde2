#[derive(Transportable)]
struct Turn {
    #[transportable(with = AsRadians)]
    by: Angle,
}

#[derive(Transportable)]
struct Path {
    #[transportable(with = AsText, form = &'b str)]
    of: PathBuf,
}
