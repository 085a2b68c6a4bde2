//! What has no form says what travels instead.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    file: std::path::PathBuf,
}

fn main() {}
