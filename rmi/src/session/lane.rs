//! A second connection for calls with many bytes of arguments, which others would have to wait for.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jstream_transport::active::Settings;
use jstream_transport::{Address, Options};

use super::{Connection, Session, of_clients};
use crate::sync::lock;

/// How long a lane that could not be opened is not tried again.
const PAUSE: Duration = Duration::from_secs(10);

/// Opened when it is needed first.
pub(super) struct Lane {
    address: Address,
    options: Options,
    settings: Settings,
    state: Mutex<State>,
}

enum State {
    Closed,
    Open(Connection),
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
            state: Mutex::new(State::Closed),
        }
    }

    /// The lane of a session, as long as there is one to be had.
    pub(super) fn open(&self, session: &Session) -> Option<Connection> {
        let mut state = lock(&self.state);
        match &*state {
            State::Open(lane) if !lane.peer.has_ended() => return Some(lane.clone()),
            State::Refused(then) if *then > Instant::now() => return None,
            State::Ended => return None,
            _ => {}
        }
        match self.connect(session) {
            Some(lane) => {
                *state = State::Open(lane.clone());
                Some(lane)
            }
            None => {
                // What went before goes on by the first connection.
                let now = Instant::now();
                *state = State::Refused(now.checked_add(PAUSE).unwrap_or(now));
                None
            }
        }
    }

    /// Ends it: calls on their way fail, and there are no more.
    pub(super) fn close(&self) {
        let before = std::mem::replace(&mut *lock(&self.state), State::Ended);
        if let State::Open(lane) = before {
            lane.peer.close();
        }
    }

    fn connect(&self, session: &Session) -> Option<Connection> {
        let (settings, terms) = (self.settings.clone(), session.terms.clone());
        let endpoint = super::connect(&self.address, &self.options, &settings, &terms).ok()?;
        let parts = (session.exports.clone(), None, Arc::default());
        Connection::join(endpoint, of_clients(), settings, terms, parts).ok()
    }
}
