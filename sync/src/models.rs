//! Loom models of the queues, the flag, the lock that publishes, and the wakers. Beside each model
//! there is a variant with a mistake, which loom must find.

mod flag;
mod mpmc;
mod publishing_lock;
mod ring;
mod wakers;
