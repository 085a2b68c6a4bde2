//! Collective operations, also on objects, subgroups and grids.

mod failures;
mod groups;
mod posted;
mod objects;
mod results;
