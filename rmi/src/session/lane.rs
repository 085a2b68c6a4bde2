//! The lane: a second connection for calls with large arguments, which would otherwise delay other
//! calls.
//!
//! Decision 082 has the reasons.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use jstream_active::Settings;
use jstream_base::{Address, Options};

use crate::session::connection::Connection;
use crate::support::lock;

/// Pause after a failed attempt to open a lane.
const PAUSE: Duration = Duration::from_secs(10);

/// The lane of a session. It is opened when it is first needed.
pub(crate) struct Lane {
    address: Address,
    options: Options,
    settings: Settings,
    connect: ConnectLane,
    state: Mutex<LaneState>,
}

/// Function that opens the lane of a connection. Returns `None` if it fails.
pub(crate) type ConnectLane = fn(&Lane, &Connection) -> Option<Connection>;

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
    pub(crate) fn new(
        address: &Address,
        options: &Options,
        settings: &Settings,
        connect: ConnectLane,
    ) -> Self {
        Self {
            address: address.clone(),
            options: options.clone(),
            settings: settings.clone(),
            connect,
            state: Mutex::new(LaneState::Closed),
        }
    }

    /// Returns the lane of a session, and opens it if necessary. Returns `None` if no lane is
    /// available now.
    pub(super) fn open(&self, main: &Connection) -> Option<Connection> {
        let mut state = lock(&self.state);
        match &*state {
            LaneState::Open(lane) if !lane.peer().has_ended() => return Some(lane.clone()),
            LaneState::Refused(then) if *then > Instant::now() => return None,
            LaneState::Ended | LaneState::Opening => return None,
            _ => {}
        }
        *state = LaneState::Opening;
        drop(state);
        // The lock is released here: methods may be served meanwhile, and their calls use the first
        // connection.
        let lane = (self.connect)(self, main);
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
            LaneState::Open(lane) if !lane.peer().has_ended() => Some(lane.clone()),
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
            LaneState::Open(lane) => lane.peer().has_ended(),
            _ => false,
        }
    }

    /// Closes the lane for good. Calls in flight on it fail.
    pub(super) fn close(&self) {
        let before = std::mem::replace(&mut *lock(&self.state), LaneState::Ended);
        if let LaneState::Open(lane) = before {
            lane.peer().close();
        }
    }

    /// Returns the address and the options of the connection.
    pub(crate) fn route(&self) -> (&Address, &Options, &Settings) {
        (&self.address, &self.options, &self.settings)
    }
}
