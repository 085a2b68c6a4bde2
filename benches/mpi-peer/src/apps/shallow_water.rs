//! The files of the application that need no jstream.

#[path = "../../../src/apps/shallow_water/model.rs"]
pub(super) mod model;
#[path = "../../../src/apps/shallow_water/workers.rs"]
pub(super) mod workers;
