//! Options of an endpoint, with the limits for its peer.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use jstream::buffer::Pool;

use crate::byte_limit::ByteTotal;

/// Options of an endpoint: the pool into which it receives, timeouts, and limits for the peer.
///
/// The documentation of each limit names the threat that the limit protects against. Each side of a
/// connection has its own options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Pool of the buffers for received messages (default: a new pool). The limit of the pool
    /// protects against many peers that each stay within their own limits.
    pub pool: Pool,
    /// Maximum length of a received payload, in bytes (default 64 MiB). Protects against a header
    /// that claims more memory than this side has. The peer learns the limit when the connection is
    /// made. Between ranks, it applies to messages that are sent before a receive asks for them;
    /// longer ones are announced, and the receive decides.
    pub max_message: u64,
    /// Maximum payload bytes of incomplete messages, over all connections that are made with these
    /// options and their clones (default 1 GiB, and never more than half of what the pool maps). A
    /// long message counts as soon as so much of it has arrived that a buffer for all of it is
    /// needed: over sockets 1 MiB, or 1/512 of what the pool may map if that is more. A single
    /// message may exceed the limit, and messages of up to 64 KiB are not counted. A message beyond
    /// the limit waits, as it does if the pool is full. Meanwhile the connection whose message
    /// arrives slowest is ended, if the message has had a second and is too slow for
    /// [`message_timeout`](Self::message_timeout). Protects against peers that begin many large
    /// messages and leave no buffers for the messages of other peers.
    pub max_begun_bytes: u64,
    /// Timeout for the peer's handshake (default 5 s). Protects against connections that are opened
    /// and then stay silent.
    pub handshake_timeout: Duration,
    /// Timeout for the rest of a message after its first byte has arrived (default 30 s). Protects
    /// against a peer that sends half a message, or single bytes at long intervals. Time during
    /// which no thread receives does not count. A message between ranks that is longer than
    /// [`max_message`](Self::max_message) has this time for each part of that length.
    pub message_timeout: Duration,
    /// Timeout for connecting to one address (default 5 s). Protects against hosts that do not
    /// respond.
    pub connect_timeout: Duration,
    /// Timeout for the device to take all of a message (default 30 s). Protects against a peer that
    /// does not read. A message between ranks that is longer than the peer's
    /// [`max_message`](Self::max_message) has this time for each part of that length.
    pub send_timeout: Duration,
    /// Time for which a waiting thread polls before it sleeps (default 10 us, 1 us on a single
    /// core). Sleeping and waking cost 15 to 30 us on many machines; polling occupies a core.
    /// Then the thread yields the core between polls before it sleeps: for up to 1 ms as long as
    /// other threads use the core meanwhile, otherwise for some 40 us. Both times are shortened
    /// while waiting is in vain. With zero it neither polls nor yields, and with `Duration::MAX` it
    /// never sleeps.
    pub spin: Duration,
    /// True if each message is recorded as a `tracing` event of level TRACE (default false).
    /// Connections are always recorded.
    pub trace_messages: bool,
    /// Idle time after which the system probes whether the peer's host is still there (tcp only,
    /// default 60 s). Protects against hosts that vanish without closing the connection.
    pub keepalive: Duration,
    /// True if other listeners may use the same port (tcp, uring and tls only, default false): each
    /// of them sets this (`SO_REUSEPORT`), and belongs to the same user. The kernel distributes new
    /// connections among them. Connections that a listener has not accepted when it is closed are
    /// lost; a replacement without that needs a socket that both processes have, such as one of
    /// [systemd](https://www.freedesktop.org/software/systemd/man/sd_listen_fds.html). Listening at
    /// an address of another kind is refused.
    pub reuse_port: bool,
    /// True if the receiver copies long messages directly from the sender's memory with
    /// `process_vm_readv`, if the system permits it (shared memory only, default true): those of
    /// 4 MiB or more, and of 32 KiB or more in an exchange between ranks. If false,
    /// this side does not read the peer's memory, and does not announce its own memory for such
    /// reads. Protects against a less privileged peer of the same user that makes this process read
    /// memory on its behalf. If the peer uses this library, false also keeps memory that is not
    /// sent out of the peer's reach.
    pub remote_reads: bool,
    /// Permissions of the file of a listener at `uds:///path` or `shm:///path` (default `0o600`:
    /// this user alone). Connecting requires the permission to write to the file. A file for a
    /// group has the mode `0o660`, and belongs to the group of the process or, if the folder has
    /// the bit `setgid`, of the folder. The umask does not apply. Protects against other users
    /// of the host.
    pub socket_mode: u32,
    /// True if a single thread drives each direction of a connection: the first one that uses it
    /// (uring only, default false). This makes system calls slightly cheaper. While the first
    /// thread lives, a receive by another thread fails with a permanent error; other threads may
    /// send. If another thread drops the connection while a receive is submitted, the first thread
    /// cancels the receive when it next receives on another connection of this kind, or when it
    /// exits.
    pub uring_single_issuer: bool,
    /// Minimum length, in bytes, from which buffers that are sent to other hosts are sent without
    /// copying them to the kernel (uring only, default 64 KiB; `usize::MAX` disables it). Such a
    /// buffer returns to its pool, and not to the caller that posted it, when the peer's host has
    /// acknowledged the data and a thread that uses the connection polls it. For each sending
    /// thread, at most 64 pieces of 1 MiB are in flight without a copy; further pieces are copied,
    /// which protects against peers that do not read. Borrowed memory is always copied, because its
    /// sender would have to wait for the peer's host.
    pub uring_zero_copy: usize,
    /// True if [`uring_zero_copy`](Self::uring_zero_copy) also applies to peers on the same host
    /// (uring only, default false). For such peers the kernel copies the data anyway, and later;
    /// this option is for tests.
    pub uring_zero_copy_on_host: bool,
    /// Maximum number of messages that are queued until this side receives them (default 64, at
    /// most 65,536 in-process). Applies to the queue of an in-process connection and, on all
    /// devices, to the messages that arrive ahead of a put or get request or its answer. Protects
    /// against a peer that sends faster than this side receives.
    pub queue_messages: usize,
    /// Maximum number of payload bytes in such a queue (default 64 MiB). A single message may
    /// exceed it. Protects against large messages that are sent faster than this side receives.
    pub queue_bytes: u64,
    /// Capacity, in bytes, of the memory for messages that a trusted peer reads in place (shared
    /// memory only, default 256 MiB, at most 16 GiB; see [`trust_peer`](Self::trust_peer)). Memory
    /// is committed when it is first used and stays committed until the connection ends. If the
    /// messages that the peer holds fill it, further messages are copied. This protects against a
    /// peer that never releases messages.
    pub outbox_bytes: usize,
    /// Certificates of this side and the roots that it trusts (`tls` only). By default there are
    /// none, and this side can neither listen nor connect over `tls`. Protects against reading,
    /// modification and impersonation on the network.
    #[cfg(feature = "tls")]
    pub tls: Option<crate::tls::Tls>,
    /// Bytes of incomplete messages, for [`max_begun_bytes`](Self::max_begun_bytes).
    begun_bytes: Arc<ByteTotal>,
    /// True if peers are trusted. Only the unsafe [`trust_peer`](Self::trust_peer) sets this.
    trusts_peer: bool,
}

impl Options {
    /// Returns the default options, receiving into buffers of `pool`.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self {
            pool,
            max_message: 64 << 20,
            max_begun_bytes: 1 << 30,
            begun_bytes: Arc::default(),
            handshake_timeout: Duration::from_secs(5),
            message_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            send_timeout: Duration::from_secs(30),
            spin: if has_one_core() {
                Duration::from_micros(1)
            } else {
                Duration::from_micros(10)
            },
            trace_messages: false,
            keepalive: Duration::from_secs(60),
            reuse_port: false,
            remote_reads: true,
            socket_mode: 0o600,
            uring_single_issuer: false,
            uring_zero_copy: 64 << 10,
            uring_zero_copy_on_host: false,
            queue_messages: 64,
            queue_bytes: 64 << 20,
            outbox_bytes: 256 << 20,
            #[cfg(feature = "tls")]
            tls: None,
            trusts_peer: false,
        }
    }

    /// Enables zero-copy exchange: each process reads messages in place in memory of the other one
    /// (shared memory only; other devices ignore this).
    ///
    /// Both sides have to enable it. Otherwise the connection works as it does without, and
    /// `EndpointInfo::degraded` reports this.
    ///
    /// Each side has an outbox: shared memory of [`outbox_bytes`](Self::outbox_bytes) that the peer
    /// maps too. `Endpoint::take` returns a buffer of the outbox, which
    /// the program fills in place. Sending this buffer moves it to the peer, whatever its size.
    /// Objects are written directly into such a buffer. Messages of at least 2 KiB in the program's
    /// own memory are copied to the outbox once. Shorter messages, and messages for which the
    /// outbox has no room, are sent as without trust. A received message is the sender's memory
    /// itself and returns to the sender when it is dropped, so messages that this side holds reduce
    /// the room in the peer's outbox. A held message can be read and modified even after the
    /// connection has ended or the sender has died.
    ///
    /// ```
    /// use jstream_transport::{Address, Header, Options, connect, listen};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // SAFETY: only this process connects to that name, and it uses this library alone.
    /// let options = unsafe { Options::default().trust_peer() };
    /// let name = format!("trusted-{}", std::process::id());
    /// let listener = listen(&Address::shm(&name)?, &options)?;
    /// let address = listener.local_address().clone();
    /// # let thread_options = options.clone();
    /// let sender = std::thread::spawn(move || {
    ///     # let options = thread_options;
    ///     let endpoint = connect(&address, &options).unwrap();
    ///     let mut filling = endpoint.take(1 << 20).unwrap().writer();
    ///     assert!(filling.extend(&[7; 1 << 20]));
    ///     endpoint.send_buffer(Header::default(), filling.finish()).unwrap();
    ///     assert_eq!(*endpoint.recv::<u64>().unwrap().get(), 7 << 20);
    /// });
    /// let endpoint = listener.accept()?.establish()?;
    /// // The payload is in the sender's memory.
    /// let message = endpoint.recv_message()?;
    /// let sum: u64 = message.payload.as_bytes().iter().map(|byte| u64::from(*byte)).sum();
    /// endpoint.send(&sum)?;
    /// # sender.join().unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// Every process that is connected over shared memory with these options, at either end, and
    /// that has itself called this function, must satisfy the following:
    ///
    /// - it communicates through this library, unmodified, and has no undefined behaviour of its
    ///   own;
    /// - it does not modify the memory files of the connection, or punch holes in them, in any
    ///   other way: neither through `/proc`, nor with a debugger, nor in a child that was forked
    ///   while the connection existed and that uses what it inherited of the connection.
    ///
    /// A peer that violates this modifies memory to which this process has shared references, which
    /// is undefined behaviour. Processes of other users are never trusted, but any process of this
    /// user can connect to a listening name or path.
    #[must_use]
    pub unsafe fn trust_peer(self) -> Self {
        Self {
            trusts_peer: true,
            ..self
        }
    }

    /// Returns true if peers are trusted; see [`trust_peer`](Self::trust_peer).
    #[must_use]
    pub fn trusts_peer(&self) -> bool {
        self.trusts_peer
    }

    /// Returns the bytes of incomplete messages over all connections.
    #[doc(hidden)]
    #[must_use]
    pub fn begun_bytes(&self) -> &Arc<ByteTotal> {
        &self.begun_bytes
    }
}

/// Returns true if this process may run on a single core only. There, a polling thread keeps the
/// other side from running, unless it yields.
fn has_one_core() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get)) == 1
}

impl Default for Options {
    fn default() -> Self {
        Self::new(Pool::default())
    }
}
