//! Loom models of the queues and of the flag. Beside each model there is a variant with a mistake,
//! which loom must find.

mod flag;
mod mpmc;
mod ring;
