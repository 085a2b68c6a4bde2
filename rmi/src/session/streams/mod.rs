//! Streams of a connection: flow control on both sides, and the transmission of their frames.

mod flow;
mod inbox;
mod line;
mod tasks;
mod wire;

pub(crate) use self::flow::{Flow, Room, Stop};
pub(crate) use self::inbox::{Frame, Inbox, Taken};
pub(crate) use self::line::{Half, Line, Streams, blocking_depth, until_ready};
pub(crate) use self::tasks::{Signal, Tasks};
pub(crate) use self::wire::Wire;
