//! Listening sockets that the service manager has given to this process (systemd's socket
//! activation).
//!
//! The manager binds the sockets, and starts the program with their descriptors. It keeps them, so
//! that peers can connect while the program is being replaced.
//!
//! Decision 125 has the reasons.

use std::env;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use socket2::{Domain, Socket, Type};

use super::connection::Accept;
use super::tcp;
#[cfg(feature = "tls")]
use super::tls;
use super::uds;
use jstream_base::ListenError;
use jstream_base::Options;

/// The first descriptor of the protocol.
const FIRST: RawFd = 3;

/// Maximum number of descriptors that are accepted.
const MOST: i32 = 1024;

/// True if the sockets were taken. They are taken once, so that no two listeners share them.
static ARE_TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the listening sockets that the service manager has given to this process, in its order. A
/// TCP socket with the name `tls`, or one that begins with `tls-`, is for TLS.
///
/// The descriptors are not inherited by processes that are started from now on. The variables of
/// the environment stay, and name this process, so that others take nothing.
///
/// # Errors
///
/// [`ListenError::NotActivated`] if there are no sockets for this process, or they were taken
/// before; [`ListenError::BadSocket`] if one of them is not a listening stream socket of TCP or of
/// Unix; and the errors of listening.
pub fn take_activated(options: &Options) -> Result<Vec<Box<dyn Accept>>, ListenError> {
    let sockets = Activation::of_environment(|name| env::var(name).ok(), process::id())?;
    if ARE_TAKEN.swap(true, Ordering::SeqCst) {
        return Err(not_activated("they were taken before"));
    }
    let taken: Vec<_> = sockets.names().collect();
    let taken = taken.into_iter().map(|(fd, name)| match take(fd) {
        Ok(socket) => listener(socket, fd, name, options),
        Err(error) => Err(bad(fd, name, &format!("it can't be used: {error}"))),
    });
    // All are taken before the first error is returned, so that none is inherited.
    let taken: Vec<_> = taken.collect();
    taken.into_iter().collect()
}

fn not_activated(reason: &str) -> ListenError {
    ListenError::NotActivated {
        reason: reason.to_owned(),
    }
}

fn bad(descriptor: RawFd, name: &str, reason: &str) -> ListenError {
    ListenError::BadSocket {
        descriptor,
        name: name.to_owned(),
        reason: reason.to_owned(),
    }
}

/// The number and the names of the sockets, as stated by the environment.
#[derive(Debug, PartialEq, Eq)]
struct Activation {
    count: i32,
    names: Vec<String>,
}

impl Activation {
    /// Reads the variables `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
    fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
        own_process: u32,
    ) -> Result<Self, ListenError> {
        let lacking = |name: &str| not_activated(&format!("{name} is not set"));
        let process = variable("LISTEN_PID").ok_or_else(|| lacking("LISTEN_PID"))?;
        if process.parse() != Ok(own_process) {
            let reason = format!("LISTEN_PID is {process:?}, and this process is {own_process}");
            return Err(not_activated(&reason));
        }
        let count = variable("LISTEN_FDS").ok_or_else(|| lacking("LISTEN_FDS"))?;
        let number = count
            .parse()
            .ok()
            .filter(|count| (1..=MOST).contains(count));
        let Some(number) = number else {
            let reason = format!("LISTEN_FDS is {count:?}, and must be a number from 1 to {MOST}");
            return Err(not_activated(&reason));
        };
        let names = variable("LISTEN_FDNAMES").unwrap_or_default();
        Ok(Self {
            count: number,
            names: names.split(':').map(str::to_owned).collect(),
        })
    }

    /// Returns the descriptors with their names. Those without a name have the one that systemd
    /// gives them.
    fn names(&self) -> impl Iterator<Item = (RawFd, &str)> {
        let names = self.names.iter().map(String::as_str);
        let names = names.filter(|name| !name.is_empty());
        let names = names.chain(std::iter::repeat("unknown"));
        let numbers = FIRST..FIRST.saturating_add(self.count);
        numbers.zip(names)
    }
}

/// Duplicates a descriptor of this process, and keeps the original from being inherited.
fn take(fd: RawFd) -> io::Result<Socket> {
    // SAFETY: this command takes a number, and neither reads nor writes memory of the process. It
    // does not change the descriptor `fd`, whoever owns it; if `fd` is not open, it fails.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created the descriptor `copy`, so nothing else owns it.
    let owned = unsafe { OwnedFd::from_raw_fd(copy) };
    // SAFETY: as above. The flag takes effect when another program is executed, and concerns no
    // memory; a descriptor stays open and valid for its owner, whoever that is.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Socket::from(owned))
}

/// Checks a socket, and creates its listener.
fn listener(
    socket: Socket,
    fd: RawFd,
    name: &str,
    options: &Options,
) -> Result<Box<dyn Accept>, ListenError> {
    let unusable = |error: io::Error| bad(fd, name, &format!("it is not a socket: {error}"));
    if socket.r#type().map_err(unusable)? != Type::STREAM {
        return Err(bad(fd, name, "it is not a stream socket"));
    }
    if !socket.is_listener().map_err(unusable)? {
        return Err(bad(fd, name, "it does not listen; set Accept=no"));
    }
    let is_for_tls = name == "tls" || name.starts_with("tls-");
    let domain = socket.domain().map_err(unusable)?;
    match (domain, is_for_tls) {
        (Domain::IPV4 | Domain::IPV6, false) => tcp::listen_shared(socket, options),
        #[cfg(feature = "tls")]
        (Domain::IPV4 | Domain::IPV6, true) => tls::listen_shared(socket, options),
        (Domain::UNIX, false) => uds::listen_shared(socket, options),
        (_, true) => Err(bad(
            fd,
            name,
            "TLS needs a TCP socket, and the feature `tls`",
        )),
        (_, false) => Err(bad(
            fd,
            name,
            "it belongs neither to TCP nor to Unix sockets",
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    fn activation(values: [Option<&str>; 3]) -> Result<Activation, ListenError> {
        let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];
        let variable = |name: &str| {
            let place = names.iter().position(|known| *known == name)?;
            values[place].map(str::to_owned)
        };
        Activation::of_environment(variable, 77)
    }

    #[test]
    fn only_sockets_for_this_process_are_taken() {
        for (values, reason) in [
            ([None, Some("1"), None], "LISTEN_PID is not set"),
            ([Some("78"), Some("1"), None], "LISTEN_PID is \"78\""),
            ([Some("77x"), Some("1"), None], "LISTEN_PID is \"77x\""),
            ([Some("77"), None, None], "LISTEN_FDS is not set"),
            ([Some("77"), Some("0"), None], "a number from 1"),
            ([Some("77"), Some("-1"), None], "a number from 1"),
            ([Some("77"), Some("99999999999"), None], "a number from 1"),
            ([Some("77"), Some("1025"), None], "a number from 1"),
        ] {
            let error = activation(values).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn descriptors_begin_at_3_and_may_have_names() {
        let of = |names| {
            let activation = activation([Some("77"), Some("3"), names]).unwrap();
            let names = activation.names();
            names
                .map(|(fd, name)| (fd, name.to_owned()))
                .collect::<Vec<_>>()
        };
        let names = |names: [&str; 3]| {
            let names = names.map(str::to_owned).into_iter();
            (3..6).zip(names).collect::<Vec<_>>()
        };
        assert_eq!(of(Some("a:b:c:d")), names(["a", "b", "c"]));
        assert_eq!(of(Some("a")), names(["a", "unknown", "unknown"]));
        assert_eq!(of(None), names(["unknown"; 3]));
    }

    #[test]
    fn other_descriptors_are_refused_with_their_names() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let options = Options::default();
        for (socket, reason) in [
            (Socket::from(connected), "does not listen"),
            (Socket::from(datagrams), "not a stream socket"),
        ] {
            let error = listener(socket, 9, "web", &options).err().unwrap();
            let text = error.to_string();
            for part in [reason, "9", "web"] {
                assert!(text.contains(part), "{text}");
            }
        }
        let error = take(1 << 20).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
}
