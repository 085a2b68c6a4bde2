//! Directions of a connection.

/// One of the two directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Half {
    /// The direction of sent messages.
    Out,
    /// The direction of received messages.
    In,
}
