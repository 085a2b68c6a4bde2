//! The threads of a set: one that starts the others, one for each member that has to be connected
//! or asked, one that asks the source, and one that runs the requests of members while there are
//! some.

use std::io;
use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

use jstream_base::Address;
use jstream_sync::panics::catch_panic;

use crate::client::{ClientOptions, connect};
use crate::client_set::core::{DueWork, MemberWork, SetCore};
use crate::client_set::signal::SetSignal;
use crate::session::Connection;
use crate::support::{CallError, LookupError};

/// Pause of the thread of a set after code of the program has panicked in it.
const PAUSE_AFTER_PANIC: Duration = Duration::from_millis(100);

/// Starts the thread of a set. It ends with the set.
pub(super) fn start(state: &Arc<SetCore>) -> io::Result<()> {
    let (signal, state) = (state.signal.clone(), Arc::downgrade(state));
    jstream_sync::threads::spawn("jstream-set", move || run(&state, &signal)).map(drop)
}

fn run(core: &Weak<SetCore>, signal: &SetSignal) {
    loop {
        // Code of the program may panic here, such as a subscriber of `tracing`.
        let mut next = Some(PAUSE_AFTER_PANIC);
        catch_panic(|| next = core.upgrade().and_then(|state| advance(&state)));
        let Some(pause) = next else {
            return;
        };
        if !signal.pause(pause) {
            return;
        }
    }
}

/// Does what is due. Returns the pause before the next step, or `None` if the set is closed.
fn advance(state: &Arc<SetCore>) -> Option<Duration> {
    // Calls poll their connections themselves. Of an unused one, this shows the end. A method that
    // a member calls may block, so another thread runs it.
    let mut has_requests = false;
    for connection in state.connections() {
        has_requests |= connection.peer().attendant().poll_deferring();
    }
    if has_requests && state.begin_serving() {
        let place = ServingPlace {
            state: Arc::downgrade(state),
        };
        let _ = jstream_sync::threads::spawn("jstream-set-serve", move || place.serve());
    }
    state.count_openings();
    let DueWork {
        asks_source,
        members,
        pause,
    } = state.due_work()?;
    if asks_source {
        let place = SourcePlace {
            state: Arc::downgrade(state),
            is_answered: false,
        };
        // A thread that can't be started drops its place.
        let _ = jstream_sync::threads::spawn("jstream-members", move || place.ask());
    }
    for id in members {
        let place = MemberPlace {
            state: Arc::downgrade(state),
            id,
            failure: Some("no thread could be started, or it has panicked".to_owned()),
        };
        let _ = jstream_sync::threads::spawn("jstream-member", move || place.attend());
    }
    Some(pause)
}

/// Place of the thread that asks the source. It is given back by the drop.
struct SourcePlace {
    state: Weak<SetCore>,
    is_answered: bool,
}

impl SourcePlace {
    fn ask(mut self) {
        let Some(state) = self.state.upgrade() else {
            return;
        };
        let (source, changed) = (state.source.clone(), Waker::from(state.signal.clone()));
        // A source may block for ever, and does not keep the set.
        drop(state);
        let answer = source.members(&changed);
        // The set may have ended while the source was asked.
        if let Some(state) = self.state.upgrade() {
            // Before the answer is stored, which ends the question by itself.
            self.is_answered = true;
            state.replace_members(answer);
        }
    }
}

impl Drop for SourcePlace {
    fn drop(&mut self) {
        if let (false, Some(state)) = (self.is_answered, self.state.upgrade()) {
            state.end_question("the source of the members has panicked, or has no thread");
        }
    }
}

/// Place of the thread that runs the requests of members. It is given back by the drop.
struct ServingPlace {
    state: Weak<SetCore>,
}

impl ServingPlace {
    fn serve(self) {
        let connections = self.state.upgrade().map(|state| state.connections());
        // A method may block for ever, and does not keep the connections.
        let peers = connections.into_iter().flatten();
        let peers: Vec<_> = peers.map(|one| one.peer().downgrade()).collect();
        for peer in peers {
            if let Some(peer) = peer.upgrade() {
                peer.poll();
            }
        }
    }
}

impl Drop for ServingPlace {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            state.end_serving();
        }
    }
}

/// Place of the thread of a member. It is given back by the drop.
struct MemberPlace {
    state: Weak<SetCore>,
    id: u64,
    /// The reason why the thread has not done all.
    failure: Option<String>,
}

impl Drop for MemberPlace {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            state.end_member_thread(self.id, self.failure.take());
        }
    }
}

impl MemberPlace {
    /// Connects to the member, and looks up the names that are missing.
    fn attend(mut self) {
        self.failure = self.work().err();
    }

    fn work(&self) -> Result<(), String> {
        let begun = self.state.upgrade();
        let Some((state, work)) =
            begun.and_then(|state| Some((state.clone(), state.member_work(self.id)?)))
        else {
            return Ok(());
        };
        let options = state.options.client.clone();
        // The set is not kept while the thread waits for a server.
        drop(state);
        let MemberWork {
            addresses,
            connection,
            load,
            entries,
            has_state,
        } = work;
        let connection = match connection {
            Some(connection) => connection,
            None => {
                let connection = connect_to(&addresses, &options)?;
                let state = self.state.upgrade();
                // The member may have left the list, or the set may have been closed, while this
                // thread connected. Dropping the connection ends it.
                if !state.is_some_and(|state| state.put_connection(self.id, &connection)) {
                    return Ok(());
                }
                connection
            }
        };
        let time = options.messages.handshake_timeout;
        let mut failure = None;
        for entry in entries {
            let began = Instant::now();
            let name = &entry.name;
            let found = (name.find)(&connection, &name.name, name.interface, time);
            let Some(state) = self.state.upgrade() else {
                return Ok(());
            };
            match found {
                Ok(found) => {
                    if let Some(load) = &load {
                        // Any answer shows that the member is back, also to a name that was known.
                        load.reinstate();
                    }
                    state.put_object(self.id, (&entry, found), began.elapsed());
                }
                // Asking again would not change the interface, so this is no failure of the member.
                Err(error @ LookupError::OtherInterface { .. }) => {
                    state.refuse(self.id, name, error.to_string());
                }
                Err(error) => {
                    failure = Some(error.to_string());
                    // After a long failure of the network, the system sends again only after a
                    // pause that is as long. A new connection is answered sooner. One that leads to
                    // state of the program is kept: objects with a state, and references.
                    let is_late = matches!(error, LookupError::Call(CallError::Deadline { .. }));
                    if is_late && !has_state && !connection.has_references() {
                        connection.retire();
                        break;
                    }
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

/// Connects to the first of the addresses of a server that can be reached.
fn connect_to(addresses: &[Address], options: &ClientOptions) -> Result<Connection, String> {
    let mut reason = "it has no address".to_owned();
    for address in addresses {
        match connect(address, options) {
            Ok(connection) => return Ok(connection),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(reason)
}
