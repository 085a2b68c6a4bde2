//! Mutex access without poisoning.

pub(crate) use jstream_sync::lock;
