//! A second connection for calls with many bytes of arguments, which others would have to wait for.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jstream_transport::active::Settings;
use jstream_transport::{Address, Options};

use super::{Connection, Parts, of_clients};
use crate::client::Client;
use crate::interface::Stub;
use crate::sync::lock;

/// How long a lane that could not be opened is not tried again.
const PAUSE: Duration = Duration::from_secs(10);

/// Opened when it is needed first.
pub(super) struct Lane {
    address: Address,
    options: Options,
    settings: Settings,
    state: Mutex<LaneState>,
}

enum LaneState {
    Closed,
    Open(Connection),
    /// Somebody is about to.
    Opening,
    /// Not before then.
    Refused(Instant),
    /// The session has been closed.
    Ended,
}

impl Lane {
    pub(super) fn new(address: &Address, options: &Options, settings: &Settings) -> Self {
        Self {
            address: address.clone(),
            options: options.clone(),
            settings: settings.clone(),
            state: Mutex::new(LaneState::Closed),
        }
    }

    /// The lane of a session, as long as there is one to be had.
    pub(super) fn open(&self, main: &Connection) -> Option<Connection> {
        let mut state = lock(&self.state);
        match &*state {
            LaneState::Open(lane) if !lane.peer.has_ended() => return Some(lane.clone()),
            LaneState::Refused(then) if *then > Instant::now() => return None,
            LaneState::Ended | LaneState::Opening => return None,
            _ => {}
        }
        *state = LaneState::Opening;
        drop(state);
        // Methods may be served meanwhile, whose calls go by the first connection.
        let lane = self.connect(main);
        let mut state = lock(&self.state);
        if let LaneState::Ended = &*state {
            return None;
        }
        *state = match &lane {
            Some(lane) => LaneState::Open(lane.clone()),
            // What went before goes on by the first connection.
            None => {
                let now = Instant::now();
                LaneState::Refused(now.checked_add(PAUSE).unwrap_or(now))
            }
        };
        lane
    }

    /// The one that is open.
    pub(super) fn current(&self) -> Option<Connection> {
        match &*lock(&self.state) {
            LaneState::Open(lane) if !lane.peer.has_ended() => Some(lane.clone()),
            _ => None,
        }
    }

    /// Whether the other side may know of one, now or from before.
    pub(super) fn is_known(&self) -> bool {
        !matches!(&*lock(&self.state), LaneState::Closed | LaneState::Ended)
    }

    /// Whether it was not needed yet, or has ended.
    pub(super) fn is_closed(&self) -> bool {
        match &*lock(&self.state) {
            LaneState::Closed => true,
            LaneState::Open(lane) => lane.peer.has_ended(),
            _ => false,
        }
    }

    /// Ends it: calls on their way fail, and there are no more.
    pub(super) fn close(&self) {
        let before = std::mem::replace(&mut *lock(&self.state), LaneState::Ended);
        if let LaneState::Open(lane) = before {
            lane.peer.close();
        }
    }

    fn connect(&self, main: &Connection) -> Option<Connection> {
        let session = main.session();
        let time = self.settings.handshake_timeout;
        let registry = |of: &Connection| Client::of(of.clone()).registry().within(time);
        let key = (*registry(main).lane().wait().ok()?.get())?;
        let (settings, terms) = (self.settings.clone(), session.terms.clone());
        let endpoint = super::connect(&self.address, &self.options, &settings, &terms).ok()?;
        let parts = Parts {
            exports: session.exports.clone(),
            references: session.references().clone(),
            lane: None,
            is_lane: true,
            waiting: Arc::default(),
        };
        let lane = Connection::join(endpoint, of_clients(), settings, terms, parts).ok()?;
        let joined = registry(&lane).join(key).wait().ok()?;
        joined.get().then_some(lane)
    }
}
