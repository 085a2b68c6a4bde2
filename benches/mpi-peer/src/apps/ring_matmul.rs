//! The files of the application that need no jstream.

#[path = "../../../src/apps/ring_matmul/kernel.rs"]
pub(super) mod kernel;
#[path = "../../../src/apps/ring_matmul/over_messages.rs"]
pub(super) mod over_messages;
