#[derive(Transportable)]
#[transportable(renamed_from = "Auftrag")]
struct Order<'b> {
    #[transportable(renamed_from("sym", "ticker"))]
    symbol: &'b str,
    #[transportable(skip)]
    handle: usize,
    #[transportable(default = "EUR", must_understand)]
    currency: &'b str,
    #[transportable(default, narrow)]
    quantity: u16,
}

#[derive(Transportable)]
#[transportable(renamed_from = "Spieler")]
struct Player {
    #[transportable(default = Self::anonymous())]
    name: String,
    #[transportable(default)]
    scores: HashMap<u32, u64>,
    #[transportable(default = Vec::new(), exclusive)]
    weights: Vec<f64>,
}

#[derive(Transportable)]
enum Event {
    #[transportable(other)]
    Unknown,
    #[transportable(renamed_from = "Called")]
    Named(#[transportable(default = "none")] String),
}

#[derive(Transportable)]
struct Generic<T: Default> {
    #[transportable(default)]
    all: Vec<T>,
}
