#[derive(Transportable)]
enum Item {
    Coins(u32),
    Book { pages: Vec<String> },
}
