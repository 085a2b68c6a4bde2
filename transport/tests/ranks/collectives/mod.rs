//! Collective operations, also on objects, subgroups and grids.

mod failures;
mod groups;
mod objects;
mod posted;
mod results;
