//! Creation of a connection after the handshake.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::queue::Queue;
use super::{Link, ServedBy, Starvation, Unread};
use crate::error::JoinError;
use crate::handlers::Handlers;
use crate::hello::Theirs;
use crate::ledger::{Accounts, Ledger, Window};
use crate::poll_loop::PollLoop;
use crate::settings::Settings;
use jstream_endpoint::Endpoint;
use jstream_endpoint::shared::Shared;
use jstream_sync::panics::catch_panic;
use jstream_sync::publishing_lock::PublishingLock;

impl Link {
    pub(crate) fn new(
        endpoint: Endpoint,
        handlers: Handlers,
        theirs: Theirs,
        settings: Settings,
    ) -> Result<Arc<Self>, JoinError> {
        // 0 stands for no connection.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let inward = Window::new(settings.window_messages(), settings.window_bytes.max(1));
        let group = PollLoop::new(endpoint.shared().info().spin);
        let shared: Weak<Shared> = Arc::downgrade(endpoint.shared());
        let backlog_bytes = settings.backlog_in_all.holder(shared);
        let seat = ServedBy {
            group: group.clone(),
            posted: false,
            moves: 0,
        };
        let link = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            accounts: Accounts::new(Ledger::new(theirs.window, inward)),
            known: theirs.known,
            endpoint,
            handlers,
            settings,
            answers: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            first: group.clone(),
            seat: PublishingLock::new(seat, ()),
            moving: Mutex::default(),
            backlog: AtomicU64::new(0),
            backlog_bytes,
            queue: Queue::new(),
            unread: PublishingLock::new(Unread::default(), ()),
            returned: Mutex::default(),
            stopping: AtomicBool::new(false),
            peer_is_done: AtomicBool::new(false),
            attached: OnceLock::new(),
            at_end: Mutex::new(Some(Vec::new())),
            served: AtomicBool::new(false),
            starved: PublishingLock::new(Starvation::default(), ()),
        });
        if let Some(tap) = &link.settings.tap {
            let ours: Vec<_> = link.handlers.entries().iter().map(|of| &*of.name).collect();
            let theirs: Vec<_> = link.known.iter().map(|of| &*of.name).collect();
            catch_panic(|| tap.joined(&ours, &theirs));
        }
        group.enter(&link);
        let attached: Weak<Self> = Arc::downgrade(&link);
        if link.endpoint.shared().attach(attached) {
            return Ok(link);
        }
        Err(JoinError::NotActive {
            peer: link.endpoint.peer().clone(),
            reason: "this endpoint was joined before",
        })
    }
}
