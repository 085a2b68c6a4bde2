//! Subjects of each case.

use super::case::{Case, Objects, Way, What};
use super::pair::Serving;
use super::samples::Samples;
use super::service::Given;
use super::with_jstream::{ONCE_CONNECTED, SET_OF_ONE};
use super::{raw, with_added, with_endpoint, with_jstream, with_objects, with_streams};
#[cfg(feature = "peers")]
use super::{with_capnp, with_tarpc, with_tonic};
use crate::Failure;

/// The calling side of a subject.
pub(super) trait Caller {
    /// Makes the calls of a round one after another.
    fn calls(&mut self, samples: &mut Samples) -> Result<(), Failure>;

    /// Makes `calls` calls without arguments, with [`IN_FLIGHT`](super::case::IN_FLIGHT) of them in
    /// flight.
    fn flood(&mut self, calls: usize) -> Result<(), Failure>;

    /// Returns additional figures after all rounds.
    fn more(&mut self) -> Result<Vec<Figure>, Failure> {
        Ok(Vec::new())
    }
}

/// A metric, its value and its unit.
pub(super) type Figure = (&'static str, f64, &'static str);

/// Makes the calls of a round for a caller that blocks until each call is done.
pub(super) fn one_by_one(
    samples: &mut Samples,
    mut call: impl FnMut() -> Result<Given, Failure>,
) -> Result<(), Failure> {
    while let Some(calls) = samples.next() {
        for _ in 0..calls {
            samples.given(call()?);
        }
    }
    Ok(())
}

/// Returns the names of the subjects of a case, jstream first.
pub(super) fn subjects(case: &Case) -> Vec<&'static str> {
    match case.what {
        What::Waits => return vec!["jstream", "jstream-ready", "jstream-inline"],
        What::Objects(Objects::Exported(_)) => {
            return vec!["jstream", "jstream-one", "jstream-each"];
        }
        What::Objects(_) => return vec!["jstream", "jstream-plain"],
        _ => {}
    }
    if case.what == What::Stream {
        return vec!["jstream", "jstream-channel"];
    }
    let mut subjects = vec!["jstream", "jstream-endpoint"];
    if matches!(case.what, What::Sum(_)) && !case.is_encrypted() {
        subjects.push("jstream-copying");
    }
    if case.way == Way::Shm && case.has_arguments() {
        subjects.push("jstream-trusted");
    }
    if case.way == Way::Shm && matches!(case.what, What::Null | What::Structs(_)) {
        subjects.push("jstream-added");
    }
    if case.what == What::Null && !case.is_encrypted() {
        subjects.extend([ONCE_CONNECTED, SET_OF_ONE]);
    }
    if case.is_encrypted() {
        subjects.push("jstream-tcp");
    }
    if matches!(case.way, Way::Tcp | Way::Uds) || case.is_encrypted() {
        subjects.push("raw");
    }
    #[cfg(feature = "peers")]
    match (case.way, case.what) {
        (_, What::Untouched(_)) => {}
        (Way::Tcp, _) => subjects.extend(["tarpc", "tonic", "capnp-rpc"]),
        (Way::Uds, _) => subjects.push("tarpc"),
        _ if case.is_encrypted() => subjects.push("tonic"),
        _ => {}
    }
    subjects
}

/// Starts the serving side.
pub(super) fn serve(case: &Case, subject: &str) -> Result<Serving, Failure> {
    if let What::Objects(objects) = case.what {
        return with_objects::serve(case, objects, subject);
    }
    match subject {
        _ if case.what == What::Stream => with_streams::serve(case, subject),
        "jstream" | "jstream-ready" | "jstream-inline" | "jstream-trusted" | "jstream-copying"
        | "jstream-added" | ONCE_CONNECTED | SET_OF_ONE => with_jstream::serve(case, subject),
        "jstream-tcp" => with_jstream::serve(&case.over(Way::Tcp), subject),
        "jstream-endpoint" => with_endpoint::serve(case),
        "raw" => raw::serve(case),
        #[cfg(feature = "peers")]
        "tarpc" => with_tarpc::serve(case),
        #[cfg(feature = "peers")]
        "tonic" => with_tonic::serve(case),
        #[cfg(feature = "peers")]
        "capnp-rpc" => with_capnp::serve(case),
        _ => Err(format!("there is no subject {subject}").into()),
    }
}

/// Connects the calling side to the server.
pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Caller>, Failure> {
    if let What::Objects(objects) = case.what {
        return with_objects::join(case, objects, subject, address);
    }
    match subject {
        _ if case.what == What::Stream => with_streams::join(case, subject, address),
        "jstream" | "jstream-ready" | "jstream-inline" | "jstream-trusted" | "jstream-copying"
        | ONCE_CONNECTED | SET_OF_ONE => with_jstream::join(case, subject, address),
        "jstream-added" => with_added::join(case, address),
        "jstream-tcp" => with_jstream::join(&case.over(Way::Tcp), subject, address),
        "jstream-endpoint" => with_endpoint::join(case, address),
        "raw" => raw::join(case, address),
        #[cfg(feature = "peers")]
        "tarpc" => with_tarpc::join(case, address),
        #[cfg(feature = "peers")]
        "tonic" => with_tonic::join(case, address),
        #[cfg(feature = "peers")]
        "capnp-rpc" => with_capnp::join(case, address),
        _ => Err(format!("there is no subject {subject}").into()),
    }
}
