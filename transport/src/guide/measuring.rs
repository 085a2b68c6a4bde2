//! Measuring: what messages cost on a machine, and what to believe of figures.
//!
//! `jperf` is a program of this crate, built with the feature `cli`. It measures between two programs, wherever they
//! are:
//!
//! ```text
//! jperf serve tcp://0.0.0.0:5201 shm://perf            where a server is wanted
//! jperf run tcp://host:5201 --op bandwidth --size 64K,1M
//! jperf run shm --size 1..64M --histogram              with a server of its own
//! jperf tune --pin 0,1                                 what the settings should be here
//! ```
//!
//! | operation | what is done | figure |
//! |---|---|---|
//! | `pingpong` | a message there, one like it back | half of the round trip |
//! | `pingping` | both sides send, then both receive | the time of a crossing |
//! | `bandwidth` | a window of messages there, a short answer | bytes in a second |
//! | `rate` | the same | messages in a second |
//! | `tags` | tagged messages between ranks there, as many back | half of that, for each message |
//!
//! They are those of IMB and of the OSU benchmarks; `jperf run --help` has the definitions. `--json` prints a line
//! for each length, in nanoseconds.
//!
//! # What to believe
//!
//! - **Ratios of one run.** Two runs of the same command differ by more than most changes do: by where threads run,
//!   by what else does, by the clock of the processor. What is compared is measured in turn, many times, and the
//!   middle is taken; `jperf tune` does.
//! - **The median, and the tail with it.** The shortest time says what is possible, p99 what a program meets.
//! - **Pinned threads**, a processor each (`--pin 0,1`), on cores that share a cache or not, as the program will.
//!   On one processor, one side runs only while the other sleeps: spinning is a loss there. A thread that is
//!   pinned before [`Options`](crate::Options) are made seems to have one processor, and its
//!   [`spin`](crate::Options::spin) is 0 by default.
//! - **Waking apart.** Whoever sleeps is woken in 5 to 150 us, by machine. `--spin inf` on both sides measures the
//!   way alone. Between the two there is a trap: sides that sleep make each other wait for longer than they
//!   spin, and go on sleeping.
//! - **Payloads that are touched.** Untouched ones can seem to cost nothing, as they do where jbufs move. With
//!   `--touch=clean` the receiver reads all of each; with `--touch` the sender writes all of it anew before, and the
//!   lines of its cache have to come over; `--cold` uses more memory than caches hold.
//! - **The way of receiving** that the program has: `--receive into` memory of its own, a `jbuf`, one that goes
//!   back (`moved`), or in place (`trusted`).
//!
//! # Settings
//!
//! `jperf tune` tries [`spin`](crate::Options::spin), receiving into memory against jbufs, the lengths of messages
//! that ranks send at once ([`eager`](crate::rank::Options::eager)), and
//! [`remote_reads`](crate::Options::remote_reads), on each device, and prints what gains more than one part in twenty
//! as code. Defaults are made for machines with a processor for each side; on
//! others, these figures are the reason to change them, and nothing else is.
