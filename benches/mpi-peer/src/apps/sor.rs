//! The files of the application that need no jstream.

#[path = "../../../src/apps/sor/grid.rs"]
pub(super) mod grid;
#[path = "../../../src/apps/sor/over_messages.rs"]
pub(super) mod over_messages;
