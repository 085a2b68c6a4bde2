//! Collective operations, also on objects, subgroups and grids.

mod callbacks;
mod exits;
mod failures;
mod groups;
mod objects;
mod posted;
mod results;
