//! Peers that break the protocol.

mod frames;
mod references;
