//! Connections over TCP that are received from by io_uring.

mod buffers;
mod ring;
mod wire;
