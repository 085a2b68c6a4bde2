//! Buffers: regions, pools, and buffers of raw data.
//!
//! A buffer is one slot of memory, aligned to 128 bytes.
//! [`EmptyBuffer::heap`](crate::EmptyBuffer::heap) allocates one on the heap. A
//! [`Pool`](crate::Pool) keeps slots of several sizes ready, in memory that devices may have
//! registered. Taking a slot and returning it needs no lock and no allocation, and touches no
//! memory that other threads write to.
//!
//! # A full pool
//!
//! If a pool has reached its limit, its policy decides: taking a buffer fails, waits until a buffer
//! is returned, or allocates a buffer on the heap.
//!
//! ```
//! use std::time::Duration;
//!
//! use jstream::Pool;
//! use jstream::buffer::{Callback, PoolError, PoolOptions, WhenLow};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = PoolOptions::default();
//! options.max_mapped = 1 << 20;
//! options.when_low = WhenLow::Wait(Duration::from_millis(10));
//! options.leaked = Some(Callback::new(|leak| eprintln!("not given back: {leak:?}")));
//! let pool = Pool::new(options);
//!
//! let all = pool.take(1 << 20)?;
//! assert!(matches!(pool.take(100), Err(PoolError::TimedOut { .. })));
//! drop(all);
//! let jbuf = pool.take(100)?;
//! assert_eq!((jbuf.capacity(), pool.stats().in_use, pool.stats().waits), (256, 1, 1));
//! drop(jbuf);
//! # Ok(())
//! # }
//! ```
//!
//! [`Pool::stats`](crate::Pool::stats) counts the buffers in use, their maximum so far, and the
//! uses of the policy. With the feature `metrics`, the program's exporter receives these counters.
//! If the callback [`reclaim`](crate::buffer::PoolOptions::reclaim) is set, it receives each buffer
//! that the program has dropped. [`Pool::trim`](crate::Pool::trim) returns the memory of free slots
//! to the system.
//!
//! # Mapping options
//!
//! [`RegionOptions`](crate::buffer::RegionOptions) requests huge pages, locked memory, or a memory
//! file that other processes can map. If the system refuses huge pages or locking, the region is
//! mapped without them, and reports its actual properties.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::EmptyBuffer;
//! use jstream::buffer::RegionOptions;
//!
//! # fn main() -> std::io::Result<()> {
//! let mut options = RegionOptions::default();
//! options.huge_pages = true;
//! options.locked = true;
//! let region = options.map(4 << 20)?;
//! println!("{:?}, locked: {}", region.pages(), region.is_locked());
//! if let Some(why) = region.lock_refused() {
//!     println!("not locked: {why}");
//! }
//!
//! // Each device registers the region. It stays pinned as long as one registration exists.
//! let region = Arc::new(region);
//! let (first, second) = (region.register(), region.register());
//! drop(first);
//! assert_eq!(region.registered(), 1);
//! drop(second);
//! assert_eq!(region.registered(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Raw data
//!
//! A buffer need not contain an object graph. If it contains numbers, or structs that implement the
//! traits of zerocopy, a typed view gives access to it. A view checks length and alignment, and
//! copies nothing.
//!
//! ```
//! use jstream::Pool;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::default();
//! let mut samples = pool.take(1024)?.copied_from(&[1.0f64, 2.0, 3.0])?;
//! samples.view_mut::<f64>()?[1] = 20.0;
//! assert_eq!(samples.view::<f64>()?.iter().sum::<f64>(), 24.0);
//! assert!(samples.view::<[u8; 7]>().is_err(), "24 bytes are no multiple of 7");
//! # Ok(())
//! # }
//! ```
