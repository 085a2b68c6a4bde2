//! Measuring: the cost of messages on a machine, and how to interpret the results.
//!
//! `jperf` is a program of this crate. It is built with the feature `cli`, and measures between two
//! programs on one host or on two:
//!
//! ```text
//! jperf serve tcp://0.0.0.0:5201 shm://perf            start a server
//! jperf run tcp://host:5201 --op bandwidth --size 64K,1M
//! jperf run shm --size 1..64M --histogram              start a server of its own, and measure
//! jperf tune --pin 0,1                                 find the best settings for this machine
//! ```
//!
//! | operation | procedure | result |
//! |---|---|---|
//! | `pingpong` | one side sends a message, the other returns one of the same length | half of the round trip |
//! | `pingping` | both sides send, then both receive | time of one exchange |
//! | `bandwidth` | one side sends a window of messages, the other returns a short answer | bytes per second |
//! | `rate` | as `bandwidth` | messages per second |
//! | `tags` | one rank sends tagged messages, the other returns as many | half of the round trip, per message |
//!
//! These are the operations of the Intel MPI Benchmarks (IMB) and of the OSU benchmarks. `jperf run
//! --help` defines them. With `--json`, `jperf` prints one line for each length, with times in
//! nanoseconds.
//!
//! # Interpreting the results
//!
//! - **Compare ratios within one run.** Two runs of the same command often differ by more than the
//!   effect of a change, because of thread placement, other load and the clock frequency of the
//!   processor. To compare two variants, measure them alternately many times and take the median,
//!   as `jperf tune` does.
//! - **Read the median and the tail.** The minimum shows the best case; p99 shows what a program
//!   experiences.
//! - **Pin threads**, each to its own processor (`--pin 0,1`), on cores that share a cache or not,
//!   as in the program. On a single processor, one side runs only while the other sleeps, so
//!   spinning is a loss. A thread that is pinned before it creates [`Options`](crate::Options) sees
//!   a single processor, and its [`spin`](crate::Options::spin) is 1 us by default.
//! - **Measure wake-ups separately.** Waking a sleeping thread takes 5 to 150 us, depending on the
//!   machine. With `--spin inf` on both sides, the result includes no wake-ups. A spin time between
//!   these extremes can mislead: if both sides sleep, each wake-up makes the other side wait for
//!   longer than it spins, so both continue to sleep.
//! - **Access the payloads.** Payloads that are not accessed can appear to cost nothing, for
//!   example if buffers are moved. With `--touch=clean`, the receiver reads each payload. With
//!   `--touch`, the sender also writes it before each message, so that its cache lines have to be
//!   transferred. With `--cold`, the payloads use more memory than the caches hold.
//! - **Receive as the program does.** `--receive into` uses memory of the program, `jbuf` a buffer
//!   of the pool, and `moved` a buffer that is sent back. With `trusted`, messages are received in
//!   place.
//!
//! # Settings
//!
//! `jperf tune` varies [`spin`](crate::Options::spin), receiving into memory or into buffers, the
//! maximum length of eager messages between ranks ([`eager`](crate::rank::Options::eager)), and
//! [`remote_reads`](crate::Options::remote_reads), on each device. It prints each setting that
//! gains more than 5 % as code. The defaults are chosen for machines with a processor for each
//! side. Change them only if a measurement on the machine shows a benefit.
