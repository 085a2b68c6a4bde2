//! The lane: a second connection for calls with large arguments, which would otherwise delay other
//! calls.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jstream_transport::active::Settings;
use jstream_transport::{Address, Options};

use super::{Connection, Parts, of_clients};
use crate::client::Client;
use crate::interface::Stub;
use crate::sync::lock;

/// Pause after a failed attempt to open a lane.
const PAUSE: Duration = Duration::from_secs(10);

/// The lane of a session. It is opened when it is first needed.
pub(super) struct Lane {
    address: Address,
    options: Options,
    settings: Settings,
    state: Mutex<LaneState>,
}

enum LaneState {
    Closed,
    Open(Connection),
    /// A thread is opening the lane.
    Opening,
    /// An attempt has failed. There is no other attempt before this time.
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

    /// Returns the lane of a session, and opens it if necessary. Returns `None` if no lane is
    /// available now.
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
        // The lock is released here: methods may be served meanwhile, and their calls use the first
        // connection.
        let lane = self.connect(main);
        let mut state = lock(&self.state);
        if let LaneState::Ended = &*state {
            return None;
        }
        *state = match &lane {
            Some(lane) => LaneState::Open(lane.clone()),
            // Without a lane, large calls continue to use the first connection.
            None => {
                let now = Instant::now();
                LaneState::Refused(now.checked_add(PAUSE).unwrap_or(now))
            }
        };
        lane
    }

    /// Returns the lane if it is open.
    pub(super) fn current(&self) -> Option<Connection> {
        match &*lock(&self.state) {
            LaneState::Open(lane) if !lane.peer.has_ended() => Some(lane.clone()),
            _ => None,
        }
    }

    /// Returns true if the other side may know of a lane of this session, current or past.
    pub(super) fn is_known(&self) -> bool {
        !matches!(&*lock(&self.state), LaneState::Closed | LaneState::Ended)
    }

    /// Returns true if the lane was not needed yet, or has ended.
    pub(super) fn is_closed(&self) -> bool {
        match &*lock(&self.state) {
            LaneState::Closed => true,
            LaneState::Open(lane) => lane.peer.has_ended(),
            _ => false,
        }
    }

    /// Closes the lane for good. Calls in flight on it fail.
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
