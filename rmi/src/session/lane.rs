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
            // A lane that has ended is opened again. Its server may have closed it as unused.
            LaneState::Open(lane) if !lane.peer().has_ended() => return Some(lane.clone()),
            LaneState::Refused(then) if *then > Instant::now() => return None,
            // The thread that opens the lane waits for answers of the registry, and serves calls
            // meanwhile. A method that it runs may make a large call, which would wait here for its
            // own thread.
            LaneState::Ended | LaneState::Opening => return None,
            _ => {}
        }
        *state = LaneState::Opening;
        drop(state);
        // The lock is released here: methods may be served meanwhile, and their calls use the first
        // connection.
        let lane = (self.connect)(self, main);
        let mut state = lock(&self.state);
        // The session was closed meanwhile, after which nobody would close the new connection.
        // Dropping the handle ends it.
        if let LaneState::Ended = &*state {
            return None;
        }
        *state = match &lane {
            Some(lane) => LaneState::Open(lane.clone()),
            // Without a lane, large calls continue to use the first connection.
            None => {
                // A server that has no room for a second connection refuses each attempt. The pause
                // keeps large calls from paying for a failed handshake each.
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
        // A refused lane counts as known: the server may have seen the join although its answer was
        // lost.
        !matches!(&*lock(&self.state), LaneState::Closed | LaneState::Ended)
    }

    /// Returns true if the lane was not needed yet, or has ended.
    pub(super) fn is_closed(&self) -> bool {
        match &*lock(&self.state) {
            // A refused lane is not reported as closed, so that large results do not start a thread
            // for an attempt that the pause forbids.
            LaneState::Closed => true,
            LaneState::Open(lane) => lane.peer().has_ended(),
            _ => false,
        }
    }

    /// Closes the lane for good. Calls in flight on it fail.
    pub(super) fn close(&self) {
        // The guard is released at the end of this statement. Closing the lane runs callbacks,
        // which may ask for the lane.
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
