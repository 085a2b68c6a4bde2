//! Loom models of the queues, the flag and the wakers. Beside each model there is a variant with a
//! mistake, which loom must find.

mod flag;
mod mpmc;
mod ring;
mod wakers;
