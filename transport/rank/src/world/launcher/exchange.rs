//! Agreement of the processes of a job on the addresses of rank 0 and the session.
//!
//! Decision 094 has the reasons.

use std::net::UdpSocket;

use super::job::{Job, no_session};
use super::pmi::PmiClient;
use super::pmix::PmixLibrary;
use super::rendezvous_file::{self, RendezvousFile};
use crate::world::error::WorldError;
use crate::world::session::Session;
use crate::world::words::{addresses_of, line_of};
use jstream_base::Address;
use jstream_device::deadline::Deadline;

/// The name of the value in the launcher's store.
const KEY: &str = "jstream-world";

/// The first word of an announcement. Another one is of another version.
const MARK: &str = "jstream1";

/// Facts that rank 0 tells all processes of its job, or the reason why it can't open a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::world) struct Announcement(
    pub(in crate::world) Result<(Session, Vec<Address>), String>,
);

/// The means by which the processes of a job agree.
pub(in crate::world) enum Exchange {
    Pmi(PmiClient),
    Pmix(PmixLibrary),
    /// Processes on one host, with a file of this name.
    File(String),
    /// There is no store. The addresses and the session are known to all.
    Known {
        session: Session,
    },
}

/// A published announcement, which has to stay until all processes have joined.
#[expect(dead_code, reason = "held for its destructor")]
pub(in crate::world) struct Published(Option<RendezvousFile>);

impl Exchange {
    /// Returns the means that the job offers. `session` is the one that the user has set.
    pub(in crate::world) fn new(
        job: &Job,
        session: Option<Session>,
        until: Deadline,
    ) -> Result<Self, WorldError> {
        if let Some(descriptor) = job.pmi {
            let client = PmiClient::of_descriptor(descriptor, until);
            return client.map(Self::Pmi).map_err(failed(job));
        }
        if job.processes == 1 {
            let session = session.map_or_else(Session::new, Ok)?;
            return Ok(Self::Known { session });
        }
        let mut reason = None;
        if let Some(place) = &job.pmix {
            match PmixLibrary::load(place) {
                Ok(library) => return Ok(Self::Pmix(library)),
                Err(error) => reason = Some(error),
            }
        }
        if job.is_on_one_host() {
            return Ok(Self::File(job.name.clone()));
        }
        match (session, reason) {
            (Some(session), _) if !job.addresses.reach.is_empty() => Ok(Self::Known { session }),
            (_, Some(reason)) => Err(failed(job)(format!(
                "the PMIx library can't be loaded: {reason}"
            ))),
            _ => Err(no_session(job)),
        }
    }

    /// Returns the addresses at which rank 0 listens.
    pub(in crate::world) fn listen(&self, job: &Job) -> Result<Vec<Address>, WorldError> {
        // Addresses that are derived from the job are needed only without a store. Those of the
        // environment are a wish of the user.
        if !job.addresses.listen.is_empty()
            && (matches!(self, Self::Known { .. }) || job.addresses.are_set)
        {
            return Ok(job.addresses.listen.clone());
        }
        let name = format!("jsw-{}-0", Session::new()?.short());
        let mut addresses = Vec::new();
        if jstream_device::by_scheme("shm").is_some() {
            addresses.push(Address::shm(&name)?);
        }
        if job.is_on_one_host() {
            addresses.push(Address::uds(&format!("@{name}"))?);
        } else {
            addresses.push(Address::tcp(&host_address(), 0)?);
        }
        Ok(addresses)
    }

    /// Tells the other processes the announcement of rank 0. If there is a store, waits until all
    /// processes have called this or [`obtain`](Self::obtain).
    pub(in crate::world) fn publish(
        self,
        job: &Job,
        announcement: &Announcement,
        until: Deadline,
    ) -> Result<Published, WorldError> {
        let text = announcement.to_text();
        let mut file = None;
        let done = match self {
            Self::Pmi(mut client) => {
                let put = client.put(KEY, &text).and_then(|()| client.barrier());
                put.and_then(|()| client.finish())
            }
            Self::Pmix(library) => library.exchange(KEY, Some(text), until).map(drop),
            Self::File(name) => match RendezvousFile::publish(&name, &text) {
                Ok(published) => {
                    file = Some(published);
                    Ok(())
                }
                Err(error) => Err(error.to_string()),
            },
            Self::Known { .. } => Ok(()),
        };
        done.map(|()| Published(file)).map_err(failed(job))
    }

    /// Waits for the announcement of rank 0.
    pub(in crate::world) fn obtain(
        self,
        job: &Job,
        until: Deadline,
    ) -> Result<Announcement, WorldError> {
        let text = match self {
            Self::Pmi(mut client) => {
                let got = client.barrier().and_then(|()| client.get(KEY));
                got.and_then(|text| client.finish().map(|()| text))
            }
            Self::Pmix(library) => library.exchange(KEY, None, until),
            Self::File(name) => {
                let text = rendezvous_file::obtain(&name, until);
                text.map_err(|error| error.to_string())
            }
            Self::Known { session } => {
                return Ok(Announcement(Ok((session, job.addresses.reach.clone()))));
            }
        };
        let text = text.map_err(failed(job))?;
        Announcement::from_text(&text).map_err(failed(job))
    }
}

fn failed(job: &Job) -> impl Fn(String) -> WorldError + use<> {
    let launcher = job.launcher;
    move |reason| WorldError::Launcher { launcher, reason }
}

impl Announcement {
    /// Encodes this in hexadecimal digits, because some stores allow neither white space nor
    /// punctuation in values.
    pub(in crate::world) fn to_text(&self) -> String {
        let plain = match &self.0 {
            Ok((session, addresses)) => format!("{MARK} {session} {}", line_of(addresses)),
            Err(reason) => {
                let reason: String = reason.chars().take(100).collect();
                format!("{MARK} failed {reason}")
            }
        };
        plain.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(in crate::world) fn from_text(text: &str) -> Result<Self, String> {
        let wrong = || {
            let shown: String = text.escape_debug().take(64).collect();
            format!("`{shown}` is no announcement of rank 0; do all ranks have the same version?")
        };
        let digits = text.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| {
                let pair = std::str::from_utf8(pair)
                    .ok()
                    .filter(|pair| pair.len() == 2)?;
                let is_hex = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
                is_hex.then(|| u8::from_str_radix(pair, 16).ok()).flatten()
            })
            .collect();
        let plain = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let plain = plain.ok_or_else(wrong)?;
        let words = plain
            .strip_prefix(MARK)
            .and_then(|rest| rest.strip_prefix(' '));
        let (first, rest) = words
            .and_then(|words| words.split_once(' '))
            .ok_or_else(wrong)?;
        if first == "failed" {
            let shown = rest.chars().map(|c| if c.is_control() { ' ' } else { c });
            return Ok(Self(Err(shown.collect())));
        }
        let session = first.parse().map_err(|_| wrong())?;
        Ok(Self(Ok((session, addresses_of(rest)?))))
    }
}

/// Returns an IP address of this host, under which others reach it: the one from which it would
/// send to other networks. Without one, returns the name of the host.
pub(in crate::world) fn host_address() -> String {
    // Connecting a datagram socket sends nothing. The address is one for documentation.
    let route = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    match route {
        Ok(local) if !local.ip().is_unspecified() && !local.ip().is_loopback() => {
            local.ip().to_string()
        }
        _ => host_name(),
    }
}

/// Returns the name of this host.
pub(in crate::world) fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_travel() {
        let session = Session::new().unwrap();
        let addresses = ["shm://a", "tcp://192.0.2.1:7"];
        let addresses = addresses.map(|uri| uri.parse().unwrap()).to_vec();
        for announcement in [
            Announcement(Ok((session, addresses))),
            Announcement(Err("it can't listen".to_owned())),
        ] {
            let text = announcement.to_text();
            assert!(text.len() < 512, "{}", text.len());
            assert!(text.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
            assert_eq!(Announcement::from_text(&text), Ok(announcement));
        }
    }

    #[test]
    fn other_texts_are_errors() {
        let hex =
            |text: &str| -> String { text.bytes().map(|byte| format!("{byte:02x}")).collect() };
        let zeros = "0".repeat(32);
        for text in [
            "",
            "1",
            "zz",
            "+1",
            "\u{e4}\u{e4}",
            "ff",
            &hex("jstream1"),
            &hex("jstream2 failed x"),
            &hex("jstream1 12 shm://a"),
            &hex(&format!("jstream1 {zeros} shm://a")),
            &hex("jstream1 00000000000000000000000000000001 nothing"),
            &hex("jstream1 00000000000000000000000000000001 "),
        ] {
            assert!(Announcement::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hosts_have_an_address() {
        assert!(Address::tcp(&host_address(), 1).is_ok());
        assert!(!host_name().is_empty());
    }
}
