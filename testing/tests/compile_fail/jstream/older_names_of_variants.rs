//! An older name belongs to one variant, and unknown variants become one without fields.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(u8)]
enum Event {
    #[transportable(renamed_from = "Stopped")]
    Started,
    #[transportable(renamed_from("Ended", "Stopped"))]
    Stopped,
    #[transportable(other, renamed_from = "Ended")]
    Unknown,
    #[transportable(other)]
    Other,
    #[transportable(other)]
    Named(u8, #[transportable(renamed_from = "0")] u8),
    #[transportable(other)]
    Empty {},
}

fn main() {}
