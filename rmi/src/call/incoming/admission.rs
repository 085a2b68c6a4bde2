//! Calls that ask for admission: they start, wait in the queue of their caller, or are refused.
//!
//! Decision 124 has the reasons.

use std::time::Duration;

use jstream_active::{Request, encode_retry_after};

use crate::frame::{Code, REFLECTION, REGISTRY};
use crate::session::{Aim, Asked, CallerHandle, Named, QueueEnd, RunPermit, Session, fail};
use crate::support::RareBox;

/// State that is attached to the request of a call whose wait for admission has ended. It contains
/// the state with which the call is to start.
pub(super) struct AdmittedCall {
    pub(super) named: Box<Named>,
    /// `None` if the call has to ask again.
    pub(super) permit: RareBox<RunPermit>,
    /// True if the call was queued, so that it has counted for the rate of its caller.
    pub(super) has_waited: bool,
}

impl AdmittedCall {
    /// Takes the state of a call out of its request.
    pub(super) fn take(request: &mut Request) -> Option<Self> {
        // A call that has waited carries its permit. Any other one has the state with which it
        // arrived.
        if let Some(admitted) = request.take_kept::<Self>() {
            return Some(*admitted);
        }
        Some(Self {
            named: request.take_kept()?,
            permit: RareBox::none(),
            has_waited: false,
        })
    }

    /// Gives back the permit of a call that does not start now. It asks again later.
    pub(super) fn give_permit_back(request: &mut Request) {
        if let Some(mut admitted) = request.take_kept::<Self>() {
            let permit = admitted.permit.take();
            // The call asks again when it is taken from the deferred ones, and its caller must not
            // pay twice.
            admitted.named.has_paid |= permit.is_some();
            request.keep(admitted);
            // Dropped when the request is whole again: the drop starts queued calls, which run code
            // of the program.
            drop(permit);
        }
    }
}

/// Asks for the admission of a call of this object. Returns `None` if the connection has no
/// admission control.
///
/// The limit does not apply to the registry and the reflection: their methods are short, and an
/// overloaded server must be found and observed.
pub(super) fn ask(session: &Session, object: u32, has_paid: bool) -> Option<Asked> {
    let caller = session.admission.as_ref()?;
    let is_exempt = matches!(object, REGISTRY | REFLECTION);
    Some(caller.ask(has_paid, is_exempt))
}

/// Asks for the admission of a call whose state is attached to its request. Returns the call if it
/// may start or fails for another reason. If it is refused and has its turn among other calls, the
/// turn passes to the next one.
pub(super) fn admit(request: Request, mut call: AdmittedCall) -> Option<(Request, AdmittedCall)> {
    let object = match &call.named.aim {
        Aim::Object(object) => *object,
        Aim::Given(turn) => turn.object,
        // These do not run, so they take neither a token nor a place.
        Aim::Held | Aim::Refused(..) | Aim::Full => return Some((request, call)),
    };
    let session = request.attached::<Session>()?;
    if call.permit.is_none() {
        match ask(session, object, call.has_waited || call.named.has_paid) {
            None => {}
            Some(Asked::Runs(permit)) => call.permit = Some(permit).into(),
            Some(Asked::Refused(retry_after)) => {
                refuse_named(request, call.named, retry_after);
                return None;
            }
            Some(Asked::Waits) => {
                // The call keeps its turn in its state. So the calls behind it wait as well, and
                // the order of the pipelined calls stays.
                queue(request, call.named);
                return None;
            }
        }
    }
    Some((request, call))
}

/// Queues a call until it may start.
pub(super) fn queue(mut request: Request, named: Box<Named>) {
    let caller = request.attached::<Session>();
    let Some(caller) = caller.and_then(|session| session.admission.clone()) else {
        return;
    };
    let deadline = named.deadline;
    request.keep(named);
    if let Some((request, retry_after)) = CallerHandle::queue(&caller, request, deadline, leave) {
        refuse_kept(request, retry_after);
    }
}

/// Continues a call that was queued.
fn leave(mut request: Request, end: QueueEnd) {
    let permit = match end {
        QueueEnd::Starts(permit) => Some(permit),
        // Without a permit, a call goes on to the handler, which returns it as *ending* if the
        // server is shutting down.
        QueueEnd::Ended => None,
        QueueEnd::Overdue => return fail(request, Code::TooLate, ""),
        QueueEnd::Refused(retry_after) => return refuse_kept(request, retry_after),
    };
    let Some(named) = request.take_kept::<Named>() else {
        return;
    };
    request.keep(Box::new(AdmittedCall {
        named,
        permit: permit.into(),
        has_waited: true,
    }));
    // For a serving thread. This one may be in the drop of another call's permit, inside of a
    // method.
    request.run_again();
}

fn refuse_kept(mut request: Request, retry_after: Duration) {
    match request.take_kept::<Named>() {
        Some(named) => refuse_named(request, named, retry_after),
        None => refuse(request, retry_after, true),
    }
}

fn refuse_named(request: Request, named: Box<Named>, retry_after: Duration) {
    let may_return = named.may_be_returned();
    // The calls that depend on this one fail, and the turn passes to the next one.
    drop(named);
    refuse(request, retry_after, may_return);
}

/// Refuses a call. Its arguments are returned so that the caller can repeat it, unless it has its
/// turn among other calls, or others depend on it: a repeated call would be another one.
pub(super) fn refuse(request: Request, retry_after: Duration, may_return: bool) {
    if let Some(session) = request.attached::<Session>() {
        session.load().refuse();
    }
    match may_return {
        true => request.nack_for(retry_after),
        // A code instead of the reason *busy*: the client repeats what is returned as busy, with a
        // new number that no other call names.
        false => fail(request, Code::Streams, &encode_retry_after(retry_after)),
    }
}
