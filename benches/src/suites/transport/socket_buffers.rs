//! Sizes of socket buffers, as in section 5.2.5 of the thesis on McMPI.
//!
//! The library leaves the buffers to the system, which adapts them. These subjects set fixed sizes:
//! they duplicate the descriptors of their connection, and set the sizes through the duplicates,
//! which are the same sockets.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use rustix::net::{SocketAddr, SocketAddrAny, getpeername, getsockname};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use crate::Failure;

/// Subjects with the bytes of their send buffer and of their receive buffer. The 8 KiB of the
/// thesis are not among them: a segment of the loopback device has 64 KiB, and connections with
/// much smaller buffers stall.
pub(super) const SUBJECTS: [(&str, usize); 4] = [
    ("jstream-32K", 32 << 10),
    ("jstream-64K", 64 << 10),
    ("jstream-128K", 128 << 10),
    ("jstream-512K", 512 << 10),
];

/// Returns true if the system lets this process duplicate its descriptors in this way.
pub(super) fn are_settable() -> bool {
    let this = pidfd_open(getpid(), PidfdFlags::empty());
    this.is_ok_and(|this| pidfd_getfd(&this, this.as_raw_fd(), PidfdGetfdFlags::empty()).is_ok())
}

/// Sets the buffers of all sockets of this process that are connections with the port of
/// `address`, if the subject has buffers of a fixed size.
pub(super) fn apply(subject: &str, address: &str) -> Result<(), Failure> {
    let Some((_, bytes)) = SUBJECTS.iter().find(|(name, _)| *name == subject) else {
        return Ok(());
    };
    let port = address.rsplit(':').next().map(str::parse::<u16>);
    let Some(Ok(port)) = port else {
        return Err(format!("{subject}: the address {address} has no port").into());
    };
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    let mut is_set = false;
    for entry in fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(Ok(descriptor)) = name.to_str().map(str::parse) else {
            continue;
        };
        // The descriptor with which the folder is read may be closed by now, and is no socket.
        let Ok(socket) = pidfd_getfd(&this, descriptor, PidfdGetfdFlags::empty()) else {
            continue;
        };
        if is_connection(&socket, port) {
            set_socket_send_buffer_size(&socket, *bytes)?;
            set_socket_recv_buffer_size(&socket, *bytes)?;
            is_set = true;
        }
    }
    is_set
        .then_some(())
        .ok_or_else(|| format!("{subject}: no socket of this process has port {port}").into())
}

/// Returns true if the descriptor is a connected socket whose own or other port is `port`.
fn is_connection(socket: &OwnedFd, port: u16) -> bool {
    let port_of = |address: SocketAddrAny| SocketAddr::try_from(address).ok().map(|at| at.port());
    let (own, other) = (getsockname(socket), getpeername(socket));
    match (own, other) {
        (Ok(own), Ok(Some(other))) => port_of(own) == Some(port) || port_of(other) == Some(port),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use rustix::net::sockopt::{socket_recv_buffer_size, socket_send_buffer_size};

    use super::*;

    #[test]
    fn only_the_connections_of_the_port_are_set() {
        let connected = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap().to_string();
            let out = TcpStream::connect(&address).unwrap();
            let back = listener.accept().unwrap().0;
            (address, out, back)
        };
        if !are_settable() {
            return;
        }
        let (address, out, back) = connected();
        let (_, apart, _) = connected();
        let before = socket_send_buffer_size(&apart).unwrap();
        apply("jstream-32K", &address).unwrap();
        for socket in [&out, &back] {
            // Linux reports twice the size, for its own data.
            assert_eq!(socket_send_buffer_size(socket).unwrap(), 64 << 10);
            assert_eq!(socket_recv_buffer_size(socket).unwrap(), 64 << 10);
        }
        assert_eq!(socket_send_buffer_size(&apart).unwrap(), before);
    }

    #[test]
    fn a_subject_without_a_size_changes_nothing_and_a_missing_connection_is_an_error() {
        assert!(apply("jstream", "nowhere").is_ok());
        assert!(apply("jstream-64K", "nowhere").is_err());
        if are_settable() {
            let error = apply("jstream-64K", "tcp://127.0.0.1:1").unwrap_err();
            assert!(error.to_string().contains("port 1"));
        }
    }
}
