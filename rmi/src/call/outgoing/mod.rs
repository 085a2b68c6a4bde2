//! Calls that this program makes, until their results are read.

mod acquired;
mod call_then;
mod calls;
mod failure;
mod fetched;
mod in_flight;
mod layered_call;
mod layered_poll;
mod local_call;
mod outgoing_call;
mod reply;
mod result_fetch;
mod resumed_stream;
mod retry;
mod sent;
mod timed;

pub use self::fetched::RemoteCall;
pub use self::in_flight::Call;
pub use self::reply::Reply;
