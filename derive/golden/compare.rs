#[derive(Transportable)]
#[transportable(compare)]
struct Folder<'a, T: ?Sized> {
    name: String,
    link: Option<&'a str>,
    files: HashMap<String, Vec<Box<T>>>,
    #[transportable(skip)]
    opened: u32,
    #[transportable(with = AsText, form = &'b str)]
    rights: Rights,
}

#[derive(Transportable)]
#[transportable(compare)]
enum Item {
    Coins(u32),
    Pair((String, Item2)),
}
