//! Waiting: futures, completion queues, `poll` or `epoll` loops of the program, and background
//! progress.
//!
//! Operations make progress mainly in the calls of the program. A call that blocks on an endpoint
//! drives everything that is posted on the endpoint, in both directions. A poll of a ticket drives
//! the direction of that ticket. If the ticket of a posted send is dropped, a background thread of
//! the process drives the send, for at most
//! [`Options::send_timeout`](crate::Options::send_timeout). A thread that waits first polls for
//! [`Options::spin`](crate::Options::spin), or for a shorter time if recent polling was
//! unsuccessful, yields its core as long as other threads want it, and then sleeps. So idle
//! endpoints use no processor time. The ranks of a world spin for longer if each has a core of its
//! own, and yield soon if they share cores.
//!
//! # Futures
//!
//! Tickets are futures and work with any runtime. When the first future has to wait, the process
//! starts a thread named `jstream-progress`. It sleeps in `epoll` and wakes tasks, but does not
//! send or receive. The examples `async_minimal` and `async_tokio` are complete programs.
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
//!     // Establishing waits for the peer. A server should do this in a separate thread.
//!     let there = listener.accept_async().await?.establish()?;
//!     let here = client.join().unwrap()?;
//!     let receiving = there.post_recv(None);
//!     let jbuf = options.pool.take(5)?.copy_from(b"hello")?;
//!     here.post_send(Header::default(), jbuf).await?;
//!     assert_eq!(receiving.await?.payload.as_bytes(), b"hello");
//!     Ok(())
//! })
//! # }
//! ```
//!
//! # Completion queues
//!
//! A [`CompletionQueue`](crate::CompletionQueue) collects the completions of many endpoints. Each
//! completion has the number that its operation was posted with. So one thread can serve many
//! clients, as in the example `many_clients`. A program can poll the queue, block on it, await it,
//! or watch its file descriptor.
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
//!     queue.post_recv(&there, number, None);
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
//! # A poll loop of the program
//!
//! [`Endpoint::as_fd`](crate::Endpoint::as_fd) returns a descriptor that becomes readable when a
//! message may have arrived. The program has to [arm](crate::Endpoint::arm) the endpoint before
//! each sleep. If `arm` returns true, a message can be received, and the program must not sleep.
//!
//! ```
//! use std::time::Duration;
//!
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
//!     match there.recv_message_within(Duration::ZERO) {
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
//! The descriptor never changes. With mio, register it once as a
//! `SourceFd(&endpoint.as_fd()?.as_raw_fd())` for `Interest::READABLE`, and use the same loop:
//! receive until `Empty`, arm, poll. The loop is correct for the edge-triggered events of mio. Do
//! not register the descriptor in two places that sleep independently, because arming wakes only
//! one of them.
//!
//! # Progress
//!
//! While a program computes, its posted operations make no progress, except for the data that the
//! system transfers. A [`Progress`](crate::Progress) is a thread that drives the operations of the
//! endpoints that are attached to it. It sleeps while none of them can make progress.
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
//! let receiving = there.post_recv(None);
//! let large = options.pool.take(8 << 20)?.copy_from(&vec![1; 8 << 20])?;
//! let sending = here.post_send(Header::default(), large);
//! // The program computes, and then takes the message.
//! assert_eq!(receiving.wait()?.payload.len(), 8 << 20);
//! sending.wait()?;
//! # Ok(())
//! # }
//! ```
