//! Subjects of each case.

use super::case::{Case, Layer, Pattern, Way};
use super::pair::Waiting;
use super::raw::{connections, ring, stream};
use super::side::Side;
use super::{socket_buffers, with_channel, with_jstream, with_ranks};
#[cfg(feature = "peers")]
use super::{with_iceoryx2, with_ipc_channel, with_threads};
use crate::Failure;

/// Returns the names of the subjects of a case that run in two threads or processes of this
/// program, jstream first.
pub(super) fn subjects(case: &Case) -> Vec<&'static str> {
    let mut subjects = vec!["jstream"];
    if case.layer == Layer::Group {
        #[cfg(feature = "peers")]
        if matches!(
            case.pattern,
            Pattern::BroadcastObject | Pattern::ScatterObjects
        ) {
            subjects.push("postcard");
        }
        return subjects;
    }
    if matches!(case.pattern, Pattern::Tags { .. } | Pattern::Pairs(_)) {
        return subjects;
    }
    if case.has_socket_buffers() {
        if socket_buffers::are_settable() {
            subjects.extend(socket_buffers::SUBJECTS.map(|(name, _)| name));
        }
        subjects.push("raw");
        return subjects;
    }
    if case.layer == Layer::Rank {
        subjects.extend(["jstream-filled", "jstream-endpoint"]);
        return subjects;
    }
    if case.layer == Layer::Channel {
        subjects.extend(match case.pattern {
            Pattern::Records => &["jstream-endpoint", "jstream-bytes"][..],
            Pattern::Large => &["jstream-8", "jstream-owned"],
            _ if case.way == Way::Inproc => &["jstream-owned", "jstream-endpoint"],
            _ => &["jstream-endpoint"],
        });
        #[cfg(feature = "peers")]
        subjects.push(match case.way {
            Way::Inproc => "crossbeam",
            _ => "ipc-channel",
        });
        return subjects;
    }
    match (case.way, case.pattern) {
        (Way::Inproc | Way::Shm, Pattern::PingPong) => {
            subjects.extend(["jstream-recv-into", "jstream-filled", "raw"]);
        }
        (Way::Shm, Pattern::Window(_)) if case.bytes <= 1024 => {
            subjects.extend(["jstream-recv-into", "raw"]);
        }
        (_, Pattern::Records) => {
            subjects.extend(["jstream-bytes", "jstream-bytes-clean", "jstream-sent-on"]);
        }
        (_, Pattern::Large) => subjects.push("jstream-8"),
        (Way::Uring, _) => subjects.extend(["jstream-tcp", "raw"]),
        _ => subjects.push("raw"),
    }
    if case.way == Way::Shm && (case.bytes > 8 || case.pattern == Pattern::Records) {
        subjects.push("jstream-trusted");
    }
    #[cfg(feature = "peers")]
    match (case.way, case.pattern) {
        (Way::Inproc, Pattern::PingPong | Pattern::Large) => {
            subjects.extend(["rtrb", "crossbeam"]);
        }
        (Way::Shm, Pattern::PingPong) => subjects.push("iceoryx2"),
        _ => {}
    }
    subjects
}

/// Starts the side of a subject that waits for the other.
pub(super) fn serve(case: &Case, subject: &str) -> Result<Waiting, Failure> {
    match (subject, case.way, case.pattern) {
        ("raw", _, Pattern::Connections(_)) => connections::serve(case),
        ("raw", Way::Inproc | Way::Shm, _) => ring::serve(case),
        ("raw", _, _) => stream::serve(case),
        #[cfg(feature = "peers")]
        ("rtrb" | "crossbeam", _, _) => with_threads::serve(case, subject),
        #[cfg(feature = "peers")]
        ("iceoryx2", _, _) => with_iceoryx2::serve(case),
        #[cfg(feature = "peers")]
        ("ipc-channel", _, _) => with_ipc_channel::serve(case),
        ("jstream" | "jstream-filled" | "postcard", _, _)
            if matches!(case.layer, Layer::Rank | Layer::Group) =>
        {
            with_ranks::serve(case, subject)
        }
        ("jstream" | "jstream-8" | "jstream-owned", _, _) if case.layer == Layer::Channel => {
            with_channel::serve(case, subject)
        }
        _ if subject.starts_with("jstream") => with_jstream::serve(case, subject),
        _ => Err(format!("there is no subject {subject}").into()),
    }
}

/// Connects the other side to it.
pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Side>, Failure> {
    match (subject, case.way, case.pattern) {
        ("raw", _, Pattern::Connections(_)) => Ok(Box::new(connections::join(case, address)?)),
        ("raw", Way::Inproc | Way::Shm, _) => Ok(Box::new(ring::join(case, address)?)),
        ("raw", _, _) => stream::join(case, address),
        #[cfg(feature = "peers")]
        ("rtrb" | "crossbeam", _, _) => with_threads::join(address),
        #[cfg(feature = "peers")]
        ("iceoryx2", _, _) => with_iceoryx2::join(case, address),
        #[cfg(feature = "peers")]
        ("ipc-channel", _, _) => with_ipc_channel::join(case, address),
        ("jstream" | "jstream-filled" | "postcard", _, _)
            if matches!(case.layer, Layer::Rank | Layer::Group) =>
        {
            with_ranks::join(case, subject, address)
        }
        ("jstream" | "jstream-8" | "jstream-owned", _, _) if case.layer == Layer::Channel => {
            with_channel::join(case, subject, address)
        }
        _ if subject.starts_with("jstream") => with_jstream::join(case, subject, address),
        _ => Err(format!("there is no subject {subject}").into()),
    }
}
