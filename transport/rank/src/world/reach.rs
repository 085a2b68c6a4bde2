//! Connecting to a member that may not listen yet.

use std::thread;
use std::time::Duration;

use super::error::WorldError;
use super::lobby::Check;
use super::request::JoinAnswer;
use super::session::Session;
use super::words::{Ask, Unheard};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, HandshakeError};
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, connect};

/// First and last pause between attempts if nothing listens. The pause doubles each time.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_millis(50);

/// Maximum number of connections that end before an answer. A member that has too many connections
/// ends some; one that does not speak this protocol ends all.
const MOST_ENDS: u32 = 32;

/// The member to connect to, and the deadline.
pub(super) struct Reach<'r> {
    pub(super) rank: u32,
    pub(super) addresses: &'r [Address],
    pub(super) options: &'r Options,
    pub(super) until: Deadline,
    /// True if the member listens already. A missing listener is then an immediate error.
    pub(super) is_there: bool,
}

impl Reach<'_> {
    /// Connects to the cheapest address that works, asks to be accepted, and retries until that
    /// succeeds. Returns the connection and the answer: the session, and the host under which the
    /// other member sees this one. Waits for at most `wait` for an answer.
    pub(super) fn join(
        &self,
        ask: Ask,
        wait: Duration,
        unheard: impl Fn(Unheard) -> WorldError,
        check: Check<'_>,
    ) -> Result<(Endpoint, (Session, String)), WorldError> {
        let mut before = None;
        let mut pause = SOON;
        for tries in 1_u32.. {
            let endpoint = self.reach(&mut before, check)?;
            let wait = self.until.left().map_or(wait, |left| left.min(wait));
            match ask.be_welcomed((self.rank, &endpoint), wait, &unheard)? {
                JoinAnswer::Welcome(session, seen) => return Ok((endpoint, (session, seen))),
                JoinAnswer::Ended(error) if tries >= MOST_ENDS || self.until.has_passed() => {
                    return Err(error);
                }
                JoinAnswer::Ended(error) => before = Some(error.to_string()),
            }
            // The end of a process, or a failure that was told, ends the attempts early.
            check()?;
            pause = self.rest(pause);
        }
        Err(WorldError::NoAddress)
    }

    /// Connects to the cheapest address that works, and retries until one does. `before` is the
    /// last error of an attempt that has reached a listener.
    fn reach(&self, before: &mut Option<String>, check: Check<'_>) -> Result<Endpoint, WorldError> {
        let addresses = by_cost(self.addresses);
        let mut pause = SOON;
        loop {
            let source = match self.try_all(&addresses) {
                Ok(endpoint) => return Ok(endpoint),
                Err(Some(source)) => source,
                Err(None) => return Err(WorldError::NoAddress),
            };
            check()?;
            if !self.may_succeed(&source) || self.until.has_passed() {
                return Err(WorldError::Unreachable {
                    rank: self.rank,
                    // Nobody may listen any more where somebody did.
                    before: before.take().filter(|before| *before != source.to_string()),
                    source,
                });
            }
            if has_reached(&source) {
                *before = Some(source.to_string());
            }
            pause = self.rest(pause);
        }
    }

    /// Sleeps before the next attempt. Returns the pause after that.
    fn rest(&self, pause: Duration) -> Duration {
        let left = self.until.left();
        thread::sleep(left.map_or(pause, |left| left.min(pause)));
        pause.saturating_mul(2).min(LATER)
    }

    /// Connects to the cheapest address that works. On failure, returns the error of an address
    /// that may work later, if there is one.
    fn try_all(&self, addresses: &[&Address]) -> Result<Endpoint, Option<ConnectError>> {
        let mut reason: Option<ConnectError> = None;
        for (place, address) in addresses.iter().enumerate() {
            match self.connect(address) {
                Ok(endpoint) => {
                    // The member may have begun to listen between the attempts. The cheaper
                    // addresses before this one are tried once more.
                    let cheaper = addresses.get(..place).unwrap_or_default();
                    return Ok(self.cheaper(cheaper).unwrap_or(endpoint));
                }
                Err(error) => {
                    if !reason
                        .as_ref()
                        .is_some_and(|reason| self.may_succeed(reason))
                    {
                        reason = Some(error);
                    }
                }
            }
        }
        Err(reason)
    }

    /// Tries the cheaper addresses once more: if the member began to listen between two attempts,
    /// it listens on all of its addresses by now.
    fn cheaper(&self, addresses: &[&Address]) -> Option<Endpoint> {
        let mut addresses = addresses.iter();
        addresses.find_map(|address| self.connect(address).ok())
    }

    fn connect(&self, address: &Address) -> Result<Endpoint, ConnectError> {
        let mut options = self.options.clone();
        if let Some(left) = self.until.left() {
            let left = left.max(Duration::from_millis(1));
            options.connect_timeout = options.connect_timeout.min(left);
            options.handshake_timeout = options.handshake_timeout.min(left);
        }
        connect(address, &options)
    }

    /// Returns true if a later attempt may succeed.
    fn may_succeed(&self, error: &ConnectError) -> bool {
        match error {
            ConnectError::TimedOut { .. } => true,
            ConnectError::NoListener { .. }
            | ConnectError::Unreachable { .. }
            | ConnectError::Resolve { .. } => !self.is_there,
            ConnectError::Handshake { source, .. } => matches!(
                source,
                HandshakeError::TimedOut { .. }
                    | HandshakeError::Closed { .. }
                    | HandshakeError::System { .. }
            ),
            _ => false,
        }
    }
}

/// Returns true if something has answered at the address, or has been too busy to do so.
fn has_reached(error: &ConnectError) -> bool {
    matches!(
        error,
        ConnectError::Handshake { .. } | ConnectError::TimedOut { .. }
    )
}

/// Sorts the addresses by cost, cheapest first.
fn by_cost(addresses: &[Address]) -> Vec<&Address> {
    let devices = jstream_device::devices();
    let cost = |address: &&Address| {
        let scheme = address.scheme();
        devices.iter().position(|device| device.scheme() == scheme)
    };
    let mut sorted: Vec<_> = addresses.iter().collect();
    sorted.sort_by_key(cost);
    sorted
}
