//! Connecting to a member that may not be there yet.

use std::thread;
use std::time::Duration;

use super::error::WorldError;
use super::hall::Check;
use crate::address::Address;
use crate::device;
use crate::device::deadline::Deadline;
use crate::endpoint::{Endpoint, connect};
use crate::error::{ConnectError, HandshakeError};
use crate::options::Options;

/// How soon one who finds nobody looks again: at first, and at last.
const SOON: Duration = Duration::from_millis(1);
const LATER: Duration = Duration::from_millis(50);

/// Who is to be reached, and for how long.
pub(super) struct Reach<'r> {
    pub(super) rank: u32,
    pub(super) addresses: &'r [Address],
    pub(super) options: &'r Options,
    pub(super) until: Deadline,
    /// It listens already: that nobody does is an error at once.
    pub(super) is_there: bool,
}

impl Reach<'_> {
    /// Connects to the cheapest address that works, and waits for one that does.
    pub(super) fn reach(&self, check: Check<'_>) -> Result<Endpoint, WorldError> {
        let addresses = by_cost(self.addresses);
        let mut pause = SOON;
        loop {
            let source = match self.try_all(&addresses) {
                Ok(endpoint) => return Ok(endpoint),
                Err(Some(source)) => source,
                Err(None) => return Err(WorldError::NoAddress),
            };
            check()?;
            if !self.may_come(&source) || self.until.has_passed() {
                return Err(WorldError::Unreachable {
                    rank: self.rank,
                    source,
                });
            }
            let left = self.until.left();
            thread::sleep(left.map_or(pause, |left| left.min(pause)));
            pause = pause.saturating_mul(2).min(LATER);
        }
    }

    /// The cheapest that works, or why none does: what may change, if there is such a reason.
    fn try_all(&self, addresses: &[&Address]) -> Result<Endpoint, Option<ConnectError>> {
        let mut why: Option<ConnectError> = None;
        for (place, address) in addresses.iter().enumerate() {
            match self.connect(address) {
                Ok(endpoint) => {
                    let cheaper = addresses.get(..place).unwrap_or_default();
                    return Ok(self.cheaper(cheaper).unwrap_or(endpoint));
                }
                Err(error) => {
                    if !why.as_ref().is_some_and(|why| self.may_come(why)) {
                        why = Some(error);
                    }
                }
            }
        }
        Err(why)
    }

    /// Who has begun to listen between two attempts listens at all its addresses by now.
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

    /// Whether it may work later.
    fn may_come(&self, error: &ConnectError) -> bool {
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

/// The cheapest first.
fn by_cost(addresses: &[Address]) -> Vec<&Address> {
    let devices = device::devices();
    let cost = |address: &&Address| {
        let scheme = address.scheme();
        devices.iter().position(|device| device.scheme() == scheme)
    };
    let mut sorted: Vec<_> = addresses.iter().collect();
    sorted.sort_by_key(cost);
    sorted
}
