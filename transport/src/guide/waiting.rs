//! Waiting: futures, completion queues, the program's own poll or epoll, and progress.
//!
//! Callers do the work, and little goes on by itself. Whoever waits carries on all that was posted on the endpoint, in both directions;
//! whoever polls a ticket, that of its direction. What was posted to be sent, and nobody waits for any more, is
//! carried on by a thread of the process, within [`Options::send_timeout`](crate::Options::send_timeout). A thread that waits looks again and again for
//! [`Options::spin`](crate::Options::spin), less if that was in vain lately, and then sleeps: idle endpoints use
//! no processor. With more threads than cores, set it to zero.
//!
//! # Futures
//!
//! Tickets are futures of no runtime in particular. One thread of the process, `jstream-progress`, which is
//! started when the first future has to wait, sleeps in epoll and wakes tasks; it sends and receives nothing.
//! The examples `async_minimal` and `async_tokio` are whole programs.
//!
//! ```
//! use jstream_transport::{Header, Options, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::default();
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
//! let address = listener.local_address().clone();
//! let client = std::thread::spawn(move || connect(&address, &Options::default()));
//! runtime.block_on(async {
//!     // Establishing waits for the peer; a server has it done by a thread.
//!     let there = listener.accept_async().await?.establish()?;
//!     let here = client.join().unwrap()?;
//!     let receiving = there.recv_message_async();
//!     let jbuf = options.pool.take(5)?.copy_from(b"hello")?;
//!     here.send_message_async(Header::default(), jbuf).await?;
//!     assert_eq!(receiving.await?.payload.as_bytes(), b"hello");
//!     Ok(())
//! })
//! # }
//! ```
//!
//! # Completion queues
//!
//! A [`CompletionQueue`](crate::CompletionQueue) has the completions of many endpoints in one place, each with
//! the number that it was posted with. One thread serves many clients that way; `many_clients` is the example.
//! It is polled, waited for, awaited, or its descriptor is watched.
//!
//! ```
//! use std::time::Duration;
//!
//! use jstream_transport::{CompletionQueue, Header, Options, Outcome, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (address, options) = ("inproc://guide-queue".parse()?, Options::default());
//! let listener = listen(&address, &options)?;
//! let queue = CompletionQueue::new()?;
//! let mut pairs = Vec::new();
//! for number in 0..3u64 {
//!     let address = address.clone();
//!     let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//!     let there = listener.accept()?.establish()?;
//!     let here = connecting.join().unwrap()?;
//!     queue.post_recv_any(&there, number);
//!     pairs.push((here, there));
//! }
//! pairs[1].0.send_message(Header::tagged(5), &[])?;
//! let completion = queue.wait(Duration::from_secs(10)).ok_or("nothing came")?;
//! assert_eq!(completion.user, 1);
//! let Outcome::Received(Ok(message)) = completion.outcome else { panic!("nothing was received") };
//! assert_eq!(message.header.tag(), 5);
//! assert_eq!(queue.pending(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # The program's own poll
//!
//! [`Endpoint::as_fd`](crate::Endpoint::as_fd) gives a descriptor that becomes readable when something may have
//! come. Before each sleep the endpoint is [armed](crate::Endpoint::arm); if that says true, there is something
//! to receive, and no reason to sleep.
//!
//! ```
//! use jstream_transport::{Header, Options, RecvError, connect, listen};
//! use rustix::event::epoll;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (address, options) = ("inproc://guide-poll".parse()?, Options::default());
//! # let listener = listen(&address, &options)?;
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
//! let data = epoll::EventData::new_u64(1);
//! epoll::add(&set, there.as_fd()?, data, epoll::EventFlags::IN)?;
//!
//! # let sender = std::thread::spawn(move || {
//! #     here.send_message(Header::tagged(9), &[]).unwrap();
//! #     here
//! # });
//! let message = loop {
//!     match there.try_recv_message() {
//!         Ok(message) => break message,
//!         Err(RecvError::Empty) => {}
//!         Err(error) => return Err(error.into()),
//!     }
//!     if !there.arm() {
//!         let mut events = [epoll::Event { flags: epoll::EventFlags::empty(), data }; 4];
//!         epoll::wait(&set, &mut events, None)?;
//!     }
//! };
//! assert_eq!(message.header.tag(), 9);
//! # drop(sender.join());
//! # Ok(())
//! # }
//! ```
//!
//! The descriptor stays the same, so with mio it is registered once as a
//! `SourceFd(&endpoint.as_fd()?.as_raw_fd())` for `Interest::READABLE`, and the loop is the same: receive until
//! `Empty`, arm, poll. mio's events come once for each change, which this loop allows for. It must not be
//! registered in two places that sleep independently: being armed is said to one.
//!
//! # Progress
//!
//! While a program computes, nothing of what it posted goes on, but for what the system does. A
//! [`Progress`](crate::Progress) is a thread that carries on for the endpoints that are attached to it, and
//! sleeps while none of them can go on.
//!
//! ```
//! use jstream_transport::{Header, Options, Progress, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let options = Options::default();
//! # let listener = listen(&"tcp://127.0.0.1:0".parse()?, &options)?;
//! # let address = listener.local_address().clone();
//! # let connecting = std::thread::spawn(move || connect(&address, &Options::default()));
//! # let there = listener.accept()?.establish()?;
//! # let here = connecting.join().unwrap()?;
//! let progress = Progress::start()?;
//! progress.attach(&here);
//! progress.attach(&there);
//! let receiving = there.post_recv_any();
//! let large = options.pool.take(8 << 20)?.copy_from(&vec![1; 8 << 20])?;
//! let sending = here.post_send(Header::default(), large);
//! // The program computes; then it takes what has come.
//! assert_eq!(receiving.wait()?.payload.len(), 8 << 20);
//! sending.wait()?;
//! # Ok(())
//! # }
//! ```
