//! State that the handles of one connection share: its two directions, each behind its own lock.
//!
//! There are two kinds of callers. Blocking calls and blocking tickets drive all posted operations
//! of their direction while they wait. The others are notified:
//!
//! - an operation is posted with a `Notify`: either for a ticket, which is
//!   queried later, or for a `Sink`, which gets the outcome without a ticket;
//! - a task that polls its ticket, or calls [`progress`](Shared::progress) for operations of a
//!   sink, is woken when the direction can make progress. The task then has to call again, because
//!   no operation progresses by itself.

mod batching;
mod calls;
mod half;
mod patience;
mod posted;
mod receive_sink;

pub use self::half::Half;
pub use self::patience::Patience;

use std::any::Any;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Wake, Waker};

use jstream::Writer;

use self::batching::{Batching, HeldBack};
use super::alarm::Alarm;
use super::carrier::Carrier;
use super::closer::Close;
use super::codec_cache::CodecCache;
use super::connection_info::ConnectionInfo;
use super::counters::{self, Tally};
use super::direction_lock::{BreakOff, Direction, DirectionGuard, DirectionLock};
use super::ops::Sink;
use super::receiving::{BegunBytes, Receiving};
use super::sending::{Flushed, SendDirection};
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;
use jstream_base::SendError;
use jstream_base::byte_limit::Evict;
use jstream_base::events::emit;
use jstream_device::connection::{Body, Connection, Outbound};
use jstream_sync::watcher::Watcher;
use tracing::Level;

/// Waker of the timer that flushes messages which are held back.
struct FlushTimer(Weak<Shared>);

impl Wake for FlushTimer {
    fn wake(self: Arc<Self>) {
        // The timer does not keep a connection alive that the program has dropped.
        if let Some(shared) = self.0.upgrade() {
            let flushed = shared.batching.flush_timed(&shared.sending);
            shared.schedule_rest(flushed);
        }
    }
}

/// State that all handles of a connection share.
pub struct Shared {
    sending: DirectionLock<SendDirection>,
    receiving: DirectionLock<Receiving>,
    info: Arc<ConnectionInfo>,
    tally: Arc<Tally>,
    sending_alarm: Arc<Alarm>,
    receiving_alarm: Arc<Alarm>,
    carrier: Carrier,
    batching: Batching,
    /// True if the receive half receives in the same system call that sleeps, as reported before
    /// any message arrived.
    sleeps_receiving: bool,
    /// Descriptor that is polled for messages, created on the first request.
    source: OnceLock<OwnedFd>,
    /// Writers and readers of objects.
    codecs: CodecCache,
    /// State that a higher layer has attached to the connection.
    attached: OnceLock<Weak<dyn Any + Send + Sync>>,
}

impl Shared {
    pub(crate) fn new(address: &Address, connection: Connection, options: &Options) -> Arc<Self> {
        let scheme = connection.scheme;
        let info = Arc::new(ConnectionInfo::new(
            address.clone(),
            (connection.peer, connection.identity),
            scheme,
            connection.limits,
            connection.degraded,
            connection.control,
            options,
        ));
        let tally = counters::enlist(scheme);
        let (sending_alarm, receiving_alarm) = (Arc::new(Alarm::default()), Arc::default());
        let batching = Batching::new(&*connection.outgoing, scheme);
        let sleeps_receiving = connection.incoming.receives_asleep();
        let sending = SendDirection::new(
            connection.outgoing,
            info.clone(),
            tally.clone(),
            sending_alarm.clone(),
        );
        let shared = Arc::new_cyclic(|shared: &Weak<Self>| {
            let receiving = Receiving::new(
                connection.incoming,
                info.clone(),
                tally.clone(),
                Arc::clone(&receiving_alarm),
                BegunBytes::new(&info, options),
                shared.clone(),
            );
            Self {
                sending: DirectionLock::new(
                    sending,
                    info.spin,
                    sending_alarm.clone(),
                    info.origin,
                    shared.clone(),
                ),
                receiving: DirectionLock::new(
                    receiving,
                    info.spin,
                    receiving_alarm.clone(),
                    info.origin,
                    shared.clone(),
                ),
                info,
                tally,
                sending_alarm,
                receiving_alarm,
                carrier: Carrier::default(),
                batching,
                sleeps_receiving,
                source: OnceLock::new(),
                codecs: CodecCache::default(),
                attached: OnceLock::new(),
            }
        });
        shared.emit_connected();
        shared
    }

    /// Reports the connection to subscribers, and what it has to do without.
    fn emit_connected(&self) {
        let info = self.info.clone();
        emit(Level::DEBUG, move || {
            tracing::debug!(peer = %info.peer, scheme = info.scheme, "connected");
        });
        for sentence in &self.info.degraded {
            let (info, sentence) = (self.info.clone(), sentence.clone());
            emit(Level::INFO, move || {
                tracing::info!(peer = %info.peer, scheme = info.scheme, "{sentence}");
            });
        }
    }

    /// Locks the send direction.
    pub(super) fn sending(&self) -> DirectionGuard<'_, SendDirection> {
        self.sending.lock()
    }

    /// Locks the receive direction.
    pub(super) fn receiving(&self) -> DirectionGuard<'_, Receiving> {
        self.receiving.lock()
    }

    /// Returns the writers and readers of objects.
    pub(super) fn codecs(&self) -> &CodecCache {
        &self.codecs
    }

    pub(super) fn carrier(&self) -> &Carrier {
        &self.carrier
    }

    /// Returns the properties of the connection that do not change.
    pub fn info(&self) -> &ConnectionInfo {
        &self.info
    }

    /// Returns true if the connection belongs to the process that this one was forked from.
    #[inline]
    pub fn is_elsewhere(&self) -> bool {
        self.info.origin.is_elsewhere()
    }

    /// Calls `work` with one of the endpoint's own writers.
    pub fn with_writer<R>(&self, work: impl FnOnce(&mut Writer) -> R) -> R {
        self.codecs.writers.with(work)
    }

    /// Returns true if posted messages were not sent yet.
    pub fn has_unsent(&self) -> bool {
        self.sending.is_pending()
    }

    /// Attaches the state of a higher layer. Returns false if a layer has already done so.
    pub fn attach(&self, attached: Weak<dyn Any + Send + Sync>) -> bool {
        self.attached.set(attached).is_ok()
    }

    /// Returns the attached state while it is alive.
    pub fn attached(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.attached.get()?.upgrade()
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Drives the posted operations without waiting. Returns true if some have not ended; `task`,
    /// if given, is then woken once when the direction can make progress. `watcher` is the one
    /// with which the source may be registered meanwhile, provided that the owner of the task polls
    /// that watcher.
    pub fn progress(
        &self,
        half: Half,
        task: Option<&Waker>,
        watcher: Option<&Arc<Watcher>>,
    ) -> bool {
        let is_left = match half {
            Half::Out => Self::progress_of(&self.sending, &self.sending_alarm, task, watcher),
            Half::In => Self::progress_of(&self.receiving, &self.receiving_alarm, task, watcher),
        };
        if is_left {
            self.progress_opposite(half, task, watcher);
        }
        is_left
    }

    /// Drives the posted operations of the other direction, for a task that waits for this one. The
    /// peer may be blocked until it gets an answer, or until its messages are received.
    pub(super) fn progress_opposite(
        &self,
        half: Half,
        task: Option<&Waker>,
        watcher: Option<&Arc<Watcher>>,
    ) {
        match half {
            Half::Out if self.receiving.is_pending_by_now() => {
                Self::progress_of(&self.receiving, &self.receiving_alarm, task, watcher);
            }
            Half::In if self.sending.is_pending_by_now() => {
                Self::progress_of(&self.sending, &self.sending_alarm, task, watcher);
            }
            Half::Out | Half::In => {}
        }
    }

    /// Registers `carrier` to be woken when no sends are posted any more.
    pub(super) fn notify_when_all_sent(&self, carrier: &Waker) {
        self.sending_alarm.set_carrier(carrier);
    }

    /// As [`progress`](Self::progress), for a task that also drives operations that are posted
    /// later.
    pub(crate) fn attend(&self, half: Half, task: &Waker) {
        match half {
            Half::Out => self.sending_alarm.register(task, None),
            Half::In => self.receiving_alarm.register(task, None),
        }
        self.progress(half, Some(task), None);
    }

    /// Detaches a sink. Its sends are still carried out, but their outcomes are dropped. Its
    /// receives are cancelled, and their messages go to other receivers. `task` is unregistered.
    pub(crate) fn forget_sink(self: &Arc<Self>, half: Half, sink: &Arc<dyn Sink>, task: &Waker) {
        match half {
            Half::Out => {
                let mut sending = self.sending.lock();
                // Operations that can end now still give their outcomes to the sink.
                sending.drive();
                sending.forget_sink(sink);
                Self::forget_task(&mut *sending, &self.sending_alarm, task);
                let is_left = sending.has_posted();
                // The receive direction is locked before the send direction, never after it.
                drop(sending);
                Self::lock_and_forget_task(&self.receiving, &self.receiving_alarm, task);
                if is_left {
                    self.carry();
                }
            }
            Half::In => {
                let mut receiving = self.receiving.lock();
                let missed = receiving.forget_sink(sink);
                Self::forget_task(&mut *receiving, &self.receiving_alarm, task);
                receiving.drive();
                drop(receiving);
                Self::lock_and_forget_task(&self.sending, &self.sending_alarm, task);
                drop(missed);
            }
        }
    }

    /// Unregisters a task from a direction that it may have driven in addition to its own.
    fn lock_and_forget_task<D: Direction>(
        direction: &DirectionLock<D>,
        alarm: &Alarm,
        task: &Waker,
    ) {
        Self::forget_task(&mut *direction.lock(), alarm, task);
    }

    /// Unregisters a task together with its watcher registration. Other waiting tasks register the
    /// source again.
    fn forget_task<D: Direction>(direction: &mut D, alarm: &Alarm, task: &Waker) {
        alarm.forget(task);
        // The device is armed for a registration that ends here. For the tasks that are left, the
        // release of the lock arms it again.
        alarm.disarm();
        direction.common().watch = None;
    }

    fn progress_of<D: Direction>(
        direction: &DirectionLock<D>,
        alarm: &Alarm,
        task: Option<&Waker>,
        watcher: Option<&Arc<Watcher>>,
    ) -> bool {
        let mut direction = direction.lock();
        // Driven and registered under the same lock. Its release arms the device, which reports
        // what comes after the drive.
        DirectionLock::drive_for_task(&mut *direction);
        let is_left = direction.has_posted();
        if let (Some(task), true) = (task, is_left) {
            alarm.register(task, watcher);
        }
        is_left
    }

    /// Returns true if messages can be held back.
    #[inline]
    pub fn gathers(&self) -> bool {
        self.batching.is_used()
    }

    /// Returns true if a whole message has arrived that was not received yet. A thread is then
    /// processing messages and polls again soon.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.batching.has_more()
    }

    /// Leaves a small message with the device. It goes with the next message, with a
    /// [flush](Self::flush), or before the next [poll](Self::flush_before_poll). Returns false if
    /// the message has to be sent by itself.
    pub fn gather_message(self: &Arc<Self>, header: Header, segments: &[IoSlice<'_>]) -> bool {
        if !self.gathers() {
            return false;
        }
        let lengths = segments.iter().map(|segment| segment.len() as u64);
        let length = lengths.fold(0, u64::saturating_add);
        if length > self.info.limits.max_send {
            return false;
        }
        let header = Outbound::new(header, length, Body::Borrowed(segments)).header;
        let held_back = self.batching.hold_back(&self.sending, header, segments);
        if let HeldBack::Untimed = held_back {
            self.set_flush_timer();
        }
        !matches!(held_back, HeldBack::No)
    }

    #[cold]
    fn set_flush_timer(self: &Arc<Self>) {
        let waker = || Arc::new(FlushTimer(Arc::downgrade(self))).into();
        if self.batching.set_timer(waker) {
            return;
        }
        // Nothing is held back. If a sleeping sender has the half, the messages go when a thread
        // sends or polls next.
        if let Flushed::Posted = self.batching.flush_timed(&self.sending) {
            self.carry();
        }
    }

    /// Sends the messages that are held back before a caller polls for more than has already
    /// arrived, which takes a system call.
    #[inline]
    pub fn flush_before_poll(self: &Arc<Self>) {
        if self.batching.needs_flush_before_poll() {
            self.flush();
        }
    }

    /// Sends the messages that are held back if no other thread is going to poll.
    #[inline]
    pub fn flush_unless_more(self: &Arc<Self>) {
        if self.batching.needs_flush_unless_more() {
            self.flush();
        }
    }

    /// Sends the messages that are held back. Those for which the device has no room now are
    /// posted.
    pub fn flush(self: &Arc<Self>) {
        let flushed = self.batching.flush(&self.sending);
        self.schedule_rest(flushed);
    }

    /// Arranges that the rest is sent.
    fn schedule_rest(self: &Arc<Self>, flushed: Flushed) {
        match flushed {
            Flushed::All => {}
            Flushed::Posted => self.carry(),
            Flushed::Later if self.batching.claim_timer() => self.set_flush_timer(),
            Flushed::Later => {}
        }
    }

    /// Shuts down the send direction behind everything posted. Blocks up to the time of `patience`,
    /// which is limited.
    pub fn finish(&self, patience: Patience) -> Result<(), SendError> {
        // Gathered messages precede the farewell.
        self.batching.flush(&self.sending);
        let sending = self.sending.lock();
        let all_gone = |sending: &mut SendDirection| {
            let all_gone = sending.has_turn() && !sending.waits_for_credit();
            all_gone.then_some(())
        };
        let deadline = || patience.deadline();
        let (mut sending, found) =
            self.sending
                .wait_until(&self.receiving, sending, deadline, all_gone);
        let half = found.and_then(|()| sending.finish());
        drop(sending);
        // Not under the lock, because the peer may take its time.
        // Without a half, the direction has ended, and there is nobody to be told.
        let is_told = half.is_none_or(|mut half| half.finish(patience.deadline()));
        found
            .filter(|()| is_told)
            .ok_or_else(|| self.timeout_error(patience))
    }

    /// Closes the connection. All blocked callers return with an error.
    pub(crate) fn close(&self) {
        // A forked child has only copies of the descriptors. Closing the device would end the
        // parent's connection.
        if self.is_elsewhere() {
            return;
        }
        self.batching.flush(&self.sending);
        // The device is closed without a lock: it wakes the threads that sleep with the halves.
        // They put the halves back, and the calls below, or `put_back`, drop them.
        self.info.close();
        self.receiving.lock().close();
        self.sending.lock().close();
        self.info.release();
    }

    /// Returns the descriptor that is polled for messages.
    pub(super) fn source(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(source) = self.source.get() {
            return Ok(source.as_fd());
        }
        let source = self.receiving.lock().source()?;
        // Another thread may have set it meanwhile. Its descriptor is the same source, and this one
        // is closed.
        Ok(self.source.get_or_init(|| source).as_fd())
    }

    /// Prepares for a sleep in the program's own poll. Returns true if something must be received
    /// first.
    pub(super) fn arm(&self) -> bool {
        self.receiving.lock().arm_bare()
    }
}

/// Ends the other direction if one has failed.
impl BreakOff for Shared {
    fn break_off(&self) {
        // An end that the peer announced takes precedence, whichever direction has failed first.
        self.receiving.lock().detect_end();
        self.info.break_off();
        self.receiving.lock().report();
        self.progress(Half::In, None, None);
        self.progress(Half::Out, None, None);
    }
}

impl Close for Shared {
    fn close(&self) {
        Self::close(self);
    }
}

/// Ends the connection, and drops the posted messages at once.
impl Evict for Shared {
    fn evict(&self, why: &'static str) {
        self.info.record_eviction(why);
        Self::close(self);
        let info = self.info.clone();
        emit(Level::WARN, move || {
            tracing::warn!(peer = %info.peer, scheme = info.scheme, why, "ended");
        });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            self.sending.get_mut().disown();
            self.receiving.get_mut().disown();
            // The count never reaches zero, so the device's control, whose destructor would act on
            // the parent's descriptors, is not dropped.
            std::mem::forget(self.info.clone());
        }
        counters::retire(self.info.scheme, &self.tally);
        let (peer, scheme) = (self.info.peer.clone(), self.info.scheme);
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, scheme, "dropped");
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
