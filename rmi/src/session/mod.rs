//! Layer 4: sessions, the state that both sides keep for a connection.
//!
//! A session has the tables of what arrives: exported objects, references in both directions,
//! streams, pipelined calls, and counts of suspended methods. It does not know who makes or serves
//! calls. An object is called by the trait [`Callee`]. Functions of the client open a [`Lane`] and
//! [claim](Claim) objects of third parties.
//!
//! Imports the layers before it, up to `interface`.
//!
//! | order | modules |
//! |---|---|
//! | 1 | `auth`, `clock`, `connection`, `peer_info`, `intercept`, `capture`, `waiting`, `refusal`, `location` |
//! | 2 | `admission`, `pipelining`, `streams` |
//! | 3 | `objects` |
//! | 4 | `references` |
//! | 5 | `exports`, `lane`, `moving`, `terms` |
//! | 6 | `state`: the session itself |
//! | 7 | `suspended`, `sending`, `kept_results`, `attending`, `arrival`, `establish` |

mod admission;
mod arrival;
mod attending;
#[cfg_attr(not(feature = "secret"), path = "no_auth.rs")]
mod auth;
#[cfg_attr(not(feature = "capture"), path = "no_capture.rs")]
mod capture;
mod clock;
mod connection;
mod establish;
mod exports;
mod intercept;
mod kept_results;
mod lane;
mod location;
mod moving;
mod objects;
mod peer_info;
mod pipelining;
mod references;
mod refusal;
mod sending;
mod state;
mod streams;
mod suspended;
mod terms;
mod waiting;

pub(crate) use self::admission::{AdmissionControl, Asked, CallerHandle, QueueEnd, RunPermit};
pub use self::admission::{AdmissionOptions, AdmissionStatus, RefusalCounts};
pub(crate) use self::arrival::{admit, moving, referenced, retire, streamed};
pub(crate) use self::attending::attend;
pub use self::auth::Secret;
#[cfg(feature = "secret")]
pub use self::auth::SecretTooShort;
pub use self::capture::Capture;
#[cfg(feature = "capture")]
pub use self::capture::CaptureOptions;
pub(crate) use self::clock::Alarm;
pub use self::clock::Clock;
pub(crate) use self::connection::Connection;
pub(crate) use self::exports::Exports;
#[cfg(feature = "tower")]
pub use self::intercept::CallService;
#[cfg(feature = "metrics")]
pub use self::intercept::Metered;
pub use self::intercept::{
    AsyncInterceptor, CallEnd, CallInfo, CallRequest, CallResponse, Denied, Interceptor,
    Interceptors, Side, Traced, Watch,
};
pub(crate) use self::intercept::{
    CallFuture, CallLayers, CallParts, InnerCall, StopSwitch, Watched,
};
pub(crate) use self::kept_results::{
    discard_answer, discard_kept, fetched, keep_result, number_of,
};
pub(crate) use self::lane::Lane;
#[cfg(feature = "directory")]
pub(crate) use self::location::{is_loopback, is_near, located};
pub(crate) use self::location::{passed_address, received_address};
pub(crate) use self::moving::MoveWait;
pub use self::objects::{Answer, Context, Failed, Incoming, context};
pub(crate) use self::objects::{
    CallVersion, Callee, Counts, Home, LocalOutcome, LocalSlot, Node, Owned, Plain, Rest, entered,
    has_deadline, inherited_deadline, inherited_metadata, is_called, passes_on,
};
pub use self::peer_info::PeerInfo;
pub(crate) use self::pipelining::{Aim, Named, Promise, PromisedArguments, Turn};
pub(crate) use self::references::{
    As, ClaimRole, ConvertedObject, Import, Key, References, TOO_MANY, VersionPlace, claim_nonce,
};
pub(crate) use self::refusal::{fail, refuse, refuse_received};
pub(crate) use self::sending::MUCH;
pub(crate) use self::state::Session;
pub(crate) use self::streams::{
    Flow, Frame, Half, Inbox, Line, Room, Signal, Stop, Streams, Taken, Tasks, blocking_depth,
    until_ready,
};
pub(crate) use self::suspended::Waits;
pub(crate) use self::terms::{Claim, Terms, max_result_streams};
pub(crate) use self::waiting::{ServerCounters, Waiting};
