//! The files of the application that need no jstream.

#[path = "../../../src/apps/nbody/attraction.rs"]
pub(super) mod attraction;
#[path = "../../../src/apps/nbody/galaxies.rs"]
pub(super) mod galaxies;
#[path = "../../../src/apps/nbody/over_messages.rs"]
pub(super) mod over_messages;
#[path = "../../../src/apps/nbody/tree.rs"]
pub(super) mod tree;
