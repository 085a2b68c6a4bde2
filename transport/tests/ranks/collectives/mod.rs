//! Collective operations, subgroups and grids.

mod failures;
mod groups;
mod posted;
mod results;
