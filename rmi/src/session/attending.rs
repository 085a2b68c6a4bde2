//! The thread that attends to servers which are shutting down, for all connections of the program
//! that do so.
//!
//! The thread looks at each connection ten times a second, since an unused one shows nothing by
//! itself. When the server has told this side to move, the connection is retired, so that callers
//! use another one. When no call is in flight any longer, the thread ends the calls over the
//! connection, and answers.
//!
//! Invariants: a connection is in the list until it has ended or the server was answered. While the
//! list is not empty, `process` is the process whose thread looks at it. Connections are polled and
//! dropped without the lock.
//!
//! Decision 126 has the reasons.

use std::process;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use jstream_active::WeakPeer;
use jstream_sync::panics::catch_panic;
use jstream_sync::{lock, unpoisoned};

use crate::session::connection::Connection;

/// Pause between two looks at connections whose servers are not moving.
const PAUSE: Duration = Duration::from_millis(100);

/// Pauses while a server waits for an answer.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Number of looks at which no call was in flight, before a server is answered whose results may
/// have to be fetched by further requests.
const IDLE_LOOKS: u32 = 10;

static ATTENDING: Mutex<AttendedList> = Mutex::new(AttendedList {
    connections: Vec::new(),
    is_due: false,
    process: None,
});

static CHANGED: Condvar = Condvar::new();

struct AttendedList {
    connections: Vec<AttendedConnection>,
    /// True if the thread is to look at once.
    is_due: bool,
    /// The process that has the thread. A forked child has none.
    process: Option<u32>,
}

/// Function that is called when a server is moving.
type OnMove = Box<dyn FnOnce() + Send>;

/// A connection whose server may move. The list does not keep it open.
struct AttendedConnection {
    peer: WeakPeer,
    on_move: Option<OnMove>,
    /// Number of looks in a row at which no call was in flight, once the server is moving.
    idle_looks: u32,
}

/// State of a connection after a look at it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The server is not moving.
    Open,
    /// The server waits for an answer.
    Moving,
    /// There is nothing left to do.
    Done,
}

/// Attends to the server of a connection: calls `on_move` when it is shutting down, and answers it.
/// Does nothing if no thread can be started; the server then does not wait for an answer.
pub(crate) fn attend(connection: &Connection, on_move: impl FnOnce() + Send + 'static) {
    let own = process::id();
    // Dropped after the lock.
    let _unusable;
    let mut list = lock(&ATTENDING);
    if list.process != Some(own) {
        // Those of the parent of a forked child are not usable in the child.
        _unusable = std::mem::take(&mut list.connections);
        let started = jstream_sync::threads::spawn("jstream-attend", run);
        list.process = started.is_ok().then_some(own);
        if list.process.is_none() {
            return;
        }
    }
    list.connections.push(AttendedConnection {
        peer: connection.peer().downgrade(),
        on_move: Some(Box::new(on_move)),
        idle_looks: 0,
    });
    drop(list);
    // This comes after the entry: from now on the server waits for an answer, which only the thread
    // sends for connections in the list.
    connection.announce_attendance();
}

/// Ends the pause of the thread, because a server is moving.
pub(super) fn hurry() {
    lock(&ATTENDING).is_due = true;
    CHANGED.notify_all();
}

fn run() {
    let mut pause = PAUSE;
    while pause_for(pause) {
        // The list is moved out, because a look polls the connection, and that may run wakers of
        // the program, which may look up objects and so take the lock.
        let mut looked_at = std::mem::take(&mut lock(&ATTENDING).connections);
        let mut is_awaited = false;
        looked_at.retain_mut(|connection| {
            // Code of the program may run here, such as a waker.
            let mut look = Look::Open;
            catch_panic(|| look = connection.look());
            is_awaited |= look == Look::Moving;
            look != Look::Done
        });
        let mut list = lock(&ATTENDING);
        looked_at.append(&mut list.connections);
        list.connections = looked_at;
        drop(list);
        // The first pauses are short because an unused connection can answer at once. They grow
        // because the calls in flight may take long, and each look takes the processor from them.
        pause = match is_awaited {
            true if pause == PAUSE => FIRST_PAUSE,
            true => pause.saturating_mul(2).min(LONGEST_PAUSE),
            false => PAUSE,
        };
    }
}

/// Pauses the thread. Returns false if no connection is left.
fn pause_for(time: Duration) -> bool {
    let until = Instant::now().checked_add(time);
    let mut list = lock(&ATTENDING);
    while !list.is_due {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            break;
        };
        list = unpoisoned(CHANGED.wait_timeout(list, left)).0;
    }
    list.is_due = false;
    // Under this lock no `attend` can add a connection that the ending thread would miss: it finds
    // `process` empty and starts another thread.
    if list.connections.is_empty() {
        list.process = None;
    }
    list.process.is_some()
}

impl AttendedConnection {
    fn look(&mut self) -> Look {
        // The last handle is gone, so the connection is closed and the server does not wait for it.
        let Some(peer) = self.peer.upgrade() else {
            return Look::Done;
        };
        // No other thread may be receiving, since the program makes no calls. Without this, neither
        // the message *move* nor the end of the connection would be noticed.
        peer.attendant().poll_deferring();
        if peer.has_ended() {
            return Look::Done;
        }
        if !peer.is_retired() {
            return Look::Open;
        }
        // Taken, because many looks may follow. The callback runs before the first attempt to
        // leave, so that new calls use another connection while those in flight end here.
        if let Some(on_move) = self.on_move.take() {
            on_move();
        }
        let connection = Connection::from_peer(peer);
        connection.session().moving.wake_waiters();
        match self.has_left(&connection) {
            true => Look::Done,
            false => Look::Moving,
        }
    }

    /// Ends the calls over a connection if none is in flight, and answers the server. Returns false
    /// if that has to be repeated.
    fn has_left(&mut self, connection: &Connection) -> bool {
        let has_ended = match connection.fetches() {
            false => connection.peer().attendant().stop_requests(),
            // An answered call may need another request for its result, so calls can't be ended.
            true => {
                self.idle_looks = match connection.has_calls() {
                    true => 0,
                    false => self.idle_looks.saturating_add(1),
                };
                self.idle_looks >= IDLE_LOOKS
            }
        };
        // *Moved* is a promise to make no more calls, so it may be sent only once requests are
        // refused. If there is no credit for it, the next look repeats it.
        has_ended && connection.answer_move()
    }
}
