//! Calls of objects that other calls, still on their way, will give.
//!
//! The caller numbers the calls that give a reference. One that names such a call is held by the server until that is
//! over, and begins then with the object that it gave. A call names only what has come before, so that nothing waits for
//! itself. The last results are known by their calls' numbers for a while: their answers may not have been read yet.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use jstream_transport::active::Request;
use rustc_hash::FxHashMap;

use crate::frame::{Code, PROMISE_NUMBERS, PROMISED};
use crate::interface::Interface;
use crate::object::Object;
use crate::reference::Between;
use crate::server::fail;
use crate::session::{Connection, Waits};
use crate::sync::lock;

/// How many results are known by their calls.
const MOST_KNOWN: usize = 1024;

/// How many calls may wait for each other in a row.
pub(crate) const LONGEST_CHAIN: usize = 64;

/// What stands behind the arguments of a call that others name: its number and the id of an interface.
const LENGTH: usize = 12;

/// What the server says of a call that is not begun.
const NOT_GIVEN: &str =
    "the call that was to give its object failed, gave none, or gave one of somebody else";

/// A call that others may name, as it says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) number: u32,
    interface: u64,
}

impl Made {
    /// What stands behind the arguments.
    pub(crate) fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (number, interface) = bytes.split_at_mut(4);
        number.copy_from_slice(&self.number.to_le_bytes());
        interface.copy_from_slice(&self.interface.to_le_bytes());
        bytes
    }

    /// The same, and how long the arguments are.
    pub(crate) fn of(payload: &[u8]) -> Option<(Self, usize)> {
        let length = payload.len().checked_sub(LENGTH)?;
        let (number, interface) = payload.get(length..)?.split_at_checked(4)?;
        let made = Self {
            number: u32::from_le_bytes(number.try_into().ok()?),
            interface: u64::from_le_bytes(interface.try_into().ok()?),
        };
        (made.number < PROMISE_NUMBERS).then_some((made, length))
    }
}

/// What a call on its way will give, at its caller.
pub(crate) struct Ahead {
    /// None of a call of an object of this program.
    at: Option<(Connection, u32)>,
    /// None when it has given nothing.
    became: OnceLock<Option<Object>>,
}

impl Ahead {
    pub(crate) fn new(at: Option<(Connection, u32)>) -> Self {
        Self {
            at,
            became: OnceLock::new(),
        }
    }

    /// The call is over.
    pub(crate) fn settle(&self, object: Option<Object>) {
        drop(self.became.set(object));
    }

    pub(crate) fn object(&self) -> Option<&Object> {
        self.became.get()?.as_ref()
    }

    /// By what number it is called meanwhile.
    pub(crate) fn way(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        Some((connection, number | PROMISED))
    }

    /// Why it can't be called.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        match (self.became.get(), &self.at) {
            (Some(None), _) => {
                Some("the call that was to give its object was given up, or gave none")
            }
            (None, None) => Some(
                "the call that gives its object is of an object of this program: wait for that first",
            ),
            _ => None,
        }
    }
}

/// The calls of one connection whose results others name, at their server; and the numbers of those that go the other way.
#[derive(Default)]
pub(crate) struct Promises {
    state: Mutex<State>,
    next: AtomicU32,
}

#[derive(Default)]
struct State {
    open: FxHashMap<u32, Open>,
    /// What the last ones have given.
    known: FxHashMap<u32, Option<u32>>,
    order: VecDeque<u32>,
    has_ended: bool,
}

/// A call that is not over.
struct Open {
    /// How many it waits for in a row.
    depth: usize,
    held: Vec<Arrived>,
}

/// A call that has come and is not begun.
pub(crate) struct Arrived {
    pub(crate) request: Request,
    pub(crate) object: u32,
    pub(crate) method: u16,
    pub(crate) deadline: Option<Instant>,
    pub(crate) promise: Option<Promise>,
    /// It is held.
    pub(crate) waits: Option<Waits>,
}

/// What is known of a call that another one names.
pub(crate) enum Named {
    /// It waits for so many in a row.
    Open(usize),
    Gave(u32),
    GaveNone,
    /// It has not come yet, or is forgotten.
    Unknown,
}

thread_local! {
    /// Calls whose objects this thread's method has given.
    static READY: RefCell<VecDeque<Arrived>> = const { RefCell::new(VecDeque::new()) };
}

/// The next call that this thread is to begin.
pub(crate) fn next_ready() -> Option<Arrived> {
    READY.with(|ready| ready.try_borrow_mut().ok()?.pop_front())
}

impl Promises {
    /// A call to the other side that others may name.
    pub(crate) fn make(&self, interface: &Interface) -> Made {
        Made {
            number: self.next.fetch_add(1, Ordering::Relaxed) % PROMISE_NUMBERS,
            interface: interface.id(),
        }
    }

    /// A call has come that others may name. None when there is such a one.
    pub(crate) fn open(self: &Arc<Self>, made: Made, depth: usize) -> Option<Promise> {
        let mut state = lock(&self.state);
        let known = state.known.contains_key(&made.number);
        if known || state.has_ended || state.open.contains_key(&made.number) {
            return None;
        }
        let held = Vec::new();
        state.open.insert(made.number, Open { depth, held });
        Some(Promise {
            promises: self.clone(),
            made,
            is_open: true,
        })
    }

    pub(crate) fn named(&self, number: u32) -> Named {
        let state = lock(&self.state);
        match (state.open.get(&number), state.known.get(&number)) {
            (Some(open), _) => Named::Open(open.depth),
            (None, Some(Some(object))) => Named::Gave(*object),
            (None, Some(None)) => Named::GaveNone,
            (None, None) => Named::Unknown,
        }
    }

    /// Holds a call until another one is over. It comes back when that is.
    pub(crate) fn hold(&self, number: u32, arrived: Arrived) -> Option<Arrived> {
        match lock(&self.state).open.get_mut(&number) {
            Some(open) => {
                open.held.push(arrived);
                None
            }
            None => Some(arrived),
        }
    }

    /// A call is over: those that name it.
    fn close(&self, number: u32, gave: Option<u32>) -> Vec<Arrived> {
        let mut state = lock(&self.state);
        let held = state.open.remove(&number).map(|open| open.held);
        if state.has_ended {
            return held.unwrap_or_default();
        }
        if state.known.insert(number, gave).is_none() {
            state.order.push_back(number);
        }
        if state.order.len() > MOST_KNOWN {
            if let Some(oldest) = state.order.pop_front() {
                state.known.remove(&oldest);
            }
        }
        held.unwrap_or_default()
    }

    /// The connection has ended.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        let before = std::mem::replace(
            &mut *state,
            State {
                has_ended: true,
                ..State::default()
            },
        );
        drop(state);
        drop(before);
    }
}

/// A call whose result others name. They fail when it is dropped.
pub(crate) struct Promise {
    promises: Arc<Promises>,
    made: Made,
    is_open: bool,
}

impl Promise {
    /// The call has given an object of this side: those that name it begin when its thread is [done](next_ready) with it.
    pub(crate) fn keep(mut self, object: u32, to: &Between) {
        let Between::Peers(to) = to else { return };
        let node = to.references().object(object);
        if node.is_none_or(|node| node.interface().id() != self.made.interface) {
            return;
        }
        self.is_open = false;
        let held = self.promises.close(self.made.number, Some(object));
        READY.with(|ready| {
            let held = held
                .into_iter()
                .map(|arrived| Arrived { object, ..arrived });
            ready.borrow_mut().extend(held);
        });
    }

    /// The call goes back, and may come again, as may those that name it.
    pub(crate) fn forget(mut self) {
        self.is_open = false;
        let held = lock(&self.promises.state).open.remove(&self.made.number);
        for arrived in held.into_iter().flat_map(|open| open.held) {
            arrived.nack();
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        for arrived in self.promises.close(self.made.number, None) {
            arrived.fail(Code::NotGiven, NOT_GIVEN);
        }
    }
}

impl Arrived {
    /// Gives it back for now.
    pub(crate) fn nack(mut self) {
        let promise = self.promise.take();
        self.request.nack();
        if let Some(promise) = promise {
            promise.forget();
        }
    }

    pub(crate) fn fail(self, code: Code, why: &str) {
        fail(self.request, code, why);
    }

    /// It names a call that has given nothing.
    pub(crate) fn not_given(self) {
        self.fail(Code::NotGiven, NOT_GIVEN);
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Promise").field(&self.made).finish()
    }
}
