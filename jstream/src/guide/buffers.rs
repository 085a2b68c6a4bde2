//! Buffers: regions, pools, and jbufs of raw data.
//!
//! A jbuf is one slot of memory, aligned to 128 bytes. [`Spent::heap`](crate::Spent::heap) gets one
//! from the allocator; a [`Pool`](crate::Pool) has slots ready, by size, in memory that devices may
//! have registered. Taking one and giving it back takes no lock and no allocation, and touches
//! nothing that other threads touch.
//!
//! # When a pool runs low
//!
//! A pool has a limit, and a policy for what happens there: an error, waiting for a jbuf to come
//! back, or a jbuf on the heap.
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
//! [`Pool::stats`](crate::Pool::stats) counts what is out, the most that was, and how often the
//! policy was asked; with the feature `metrics` the program's exporter is told too. A
//! [`reclaim`](crate::buffer::PoolOptions::reclaim) callback gets each jbuf that the program is
//! done with. Memory of free slots goes back to the system with [`Pool::trim`](crate::Pool::trim).
//!
//! # Where the memory comes from
//!
//! [`RegionOptions`](crate::buffer::RegionOptions) asks for huge pages, for memory that is locked,
//! for a memory file that other processes can map. A system may refuse the first two: then the
//! memory is there all the same, and says what it is.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::Spent;
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
//! // Each device that uses it registers it; it stays pinned as long as one does.
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
//! Not everything is an object graph. A jbuf of numbers, or of structs that zerocopy knows, is
//! looked at by a typed view, which checks length and alignment and copies nothing.
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
