#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
pub struct Player {
    pub name: String,
    inventory: Vec<Item>,
    spouse: Option<Box<Player>>,
}
