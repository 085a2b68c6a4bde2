//! Calls from the other side: dispatch to their objects, arguments, and answers.

mod admission;
mod answer;
mod callee;
mod dispatch;
mod handlers;
mod panic_reason;
mod serves;
mod skeleton;
mod surrounded_call;

pub(crate) use self::handlers::{MOST_WAITING, handlers};
pub use self::serves::Serves;
pub use self::skeleton::Skeleton;
