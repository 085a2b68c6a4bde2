//! What an endpoint allows its peer.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::Duration;

use jstream::buffer::Pool;

use crate::endpoint::begun::BegunBytes;

/// Where an endpoint receives, and what it allows its peer to do.
///
/// Every limit says the threat that it answers. Both sides have their own options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Where the jbufs of received messages come from (default: a pool of its own). Its limit
    /// answers the threat of many peers who each stay within theirs.
    pub pool: Pool,
    /// The longest payload that is received, in bytes (default 64 MiB). Answers the threat of a
    /// header that claims more than we can hold. The peer learns it when the connection is made.
    pub max_message: u64,
    /// The most bytes of payload of messages that have begun and are not complete, over all connections that are made by
    /// these options and their clones (default 1 GiB, and never more than half of what the pool maps); one message alone may
    /// exceed it, and those of up to 64 KiB are not counted. A message beyond waits as for room in the pool. Answers the
    /// threat of peers that begin many large messages, and leave no jbufs for those of others.
    pub max_begun_bytes: u64,
    /// How long a peer may take to say who it is (default 5 s). Answers the threat of
    /// connections that are opened and then silent.
    pub handshake_timeout: Duration,
    /// How long we wait for the rest of a message once its first byte is here (default 30 s).
    /// Answers the threat of a peer that sends half a message, or a byte now and then. Time
    /// that passes while nobody receives does not count.
    pub message_timeout: Duration,
    /// How long connecting to one address may take (default 5 s). Answers hosts that don't
    /// answer at all.
    pub connect_timeout: Duration,
    /// How long a message may wait until the device has taken all of it (default 30 s). Answers
    /// the threat of a peer that does not read.
    pub send_timeout: Duration,
    /// How long whoever waits looks again and again before it sleeps (default 10 us, 0 on a machine
    /// with one core). Sleeping and waking cost 15 to 30 us on many machines; looking costs a core.
    /// `Duration::MAX` never sleeps.
    pub spin: Duration,
    /// Whether each message is an event of `tracing`, of level TRACE (default no). Connections always
    /// are.
    pub trace_messages: bool,
    /// After how long a silence the system asks the peer's host whether the connection is still
    /// there (tcp only, default 60 s). Answers hosts that vanish without a word.
    pub keepalive: Duration,
    /// Whether messages of some MiB are copied by the receiver straight out of the sender's memory
    /// (shared memory only, default yes), where the system allows it: `process_vm_readv`. If not, this
    /// side does not read the peer's memory, and has its own not read. Answers the threat of a peer, of
    /// the same user, that may do less than this process, and has it read for it; and keeps what is not
    /// sent out of reach where the peer uses this library.
    pub remote_reads: bool,
    /// Whether one thread alone drives each direction of a connection: the first that does (uring
    /// only, default no). Calls of the system get a little cheaper. Another thread that receives gets
    /// an error, which stays, as long as the first one lives; it may send. Where another thread drops
    /// the connection while a receive is with the system, the first one ends that when it receives from
    /// another connection of this kind, or ends.
    pub uring_single_issuer: bool,
    /// From which length on, in bytes, jbufs that are sent to other hosts are read by the system where they are,
    /// and not copied to it first (uring only, default 64 KiB; `usize::MAX` for never). Such a jbuf goes
    /// back to its pool when the peer's host has what was sent and a thread that uses the connection looks, and
    /// not to whoever posted it. At most 64 pieces of 1 MiB are read at once for each thread that sends; others are
    /// copied, which answers the threat of peers that take nothing. Memory that is only borrowed is always
    /// copied: its sender would have to wait for the peer's host.
    pub uring_zero_copy: usize,
    /// Whether this is so for peers on the same host as well (uring only, default no). There the system
    /// copies all the same, and later: this is for tests.
    pub uring_zero_copy_on_host: bool,
    /// The most messages that wait in a queue for this side to receive them: in-process, and those that
    /// came before an answer or a request to put or get, on all devices (default 64, at most 65,536
    /// in-process). Answers the threat of a peer that sends faster than we receive.
    pub queue_messages: usize,
    /// The most payload bytes that wait in such a queue (default 64 MiB); one
    /// message alone may exceed it. Answers the same threat with large messages.
    pub queue_bytes: u64,
    /// How many bytes there are for messages that a trusted peer reads in place (shared memory only,
    /// default 256 MiB, at most 16 GiB; see [`trust_peer`](Self::trust_peer)). Memory is committed as it
    /// is used, and stays until the connection ends. When what the peer holds fills it, messages are
    /// copied: this answers the threat of a peer that holds on to what it got.
    pub outbox_bytes: usize,
    /// The certificates of this side, and whom it trusts (`tls` only, default none: then it neither
    /// listens nor connects there). Answers whoever reads, changes or pretends to be the other end of
    /// what goes over a network.
    #[cfg(feature = "tls")]
    pub tls: Option<crate::tls::Tls>,
    /// How many there are.
    pub(crate) begun_bytes: BegunBytes,
    /// Whether peers are trusted, which is not for safe code to say.
    pub(crate) trusts_peer: bool,
}

impl Options {
    /// The defaults, receiving into jbufs of `pool`.
    #[must_use]
    pub fn new(pool: Pool) -> Self {
        Self {
            pool,
            max_message: 64 << 20,
            max_begun_bytes: 1 << 30,
            begun_bytes: BegunBytes::default(),
            handshake_timeout: Duration::from_secs(5),
            message_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            send_timeout: Duration::from_secs(30),
            spin: if has_one_core() {
                Duration::ZERO
            } else {
                Duration::from_micros(10)
            },
            trace_messages: false,
            keepalive: Duration::from_secs(60),
            remote_reads: true,
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

    /// Reads messages in place where the other process leaves them, and leaves ours for it, without a
    /// copy (shared memory only; other devices don't heed it).
    ///
    /// Both sides have to ask for it; else the connection works as it does without, and
    /// [`Endpoint::degraded`](crate::Endpoint::degraded) says so.
    ///
    /// Each side has an outbox, shared memory of [`outbox_bytes`](Self::outbox_bytes) that the other maps
    /// too. [`Endpoint::take`](crate::Endpoint::take) gives a jbuf of it to be filled in place; sending
    /// that moves it to the peer, whatever its size, and objects are written straight into one. Messages
    /// of the program's own memory are copied there, once, from 2 KiB on; shorter ones, and those that
    /// find no room, travel as they do without trust. What is received is the sender's memory itself,
    /// and goes back to it when it is dropped: who holds on to it, the peer has the less of. It can be
    /// read, and changed, for as long as it is held, also when the connection has ended or the sender
    /// has died.
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
    ///     let mut filling = endpoint.take(1 << 20).unwrap().filling();
    ///     assert!(filling.extend(&[7; 1 << 20]));
    ///     endpoint.send_filled(Header::default(), filling.finish()).unwrap();
    ///     assert_eq!(*endpoint.recv::<u64>().unwrap().get(), 7 << 20);
    /// });
    /// let endpoint = listener.accept()?.establish()?;
    /// // This is where the sender wrote it.
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
    /// Every process that is connected over shared memory by these options, at either end, and that
    /// has itself asked for this,
    ///
    /// - talks by this library, unmodified, and has no undefined behaviour of its own;
    /// - has no other way to the memory files of the connection, through which it changes them, or
    ///   makes holes in them: neither by `/proc`, nor by a debugger, nor in a child that was forked
    ///   while the connection was there and uses what it inherited of it.
    ///
    /// A peer that breaks this changes what is borrowed here as unchangeable: anything may happen then.
    /// Other users' processes are refused in any case, but any process of this user can connect to a
    /// name that is listened on.
    #[must_use]
    pub unsafe fn trust_peer(self) -> Self {
        Self {
            trusts_peer: true,
            ..self
        }
    }
}

/// Whoever looks again and again on the only core keeps the other side from running.
fn has_one_core() -> bool {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get)) == 1
}

impl Default for Options {
    fn default() -> Self {
        Self::new(Pool::default())
    }
}
