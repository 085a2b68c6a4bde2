//! A network namespace for each server, which can be cut off from that of the clients.

use std::process::{Command, Stdio};

use super::SERVERS;
use crate::Failure;

/// The namespaces of the servers of a run. Dropping them removes them.
///
/// Each is joined to the namespace of this process by a pair of virtual devices. While the inner
/// one is down, what either side sends is lost without an error.
#[derive(Debug)]
pub(super) struct Network {
    namespaces: Vec<String>,
}

/// Runs `ip` with these words.
fn ip(words: &str) -> Result<(), Failure> {
    let output = Command::new("ip")
        .args(words.split(' '))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {words}: {}", reason.trim()).into())
}

impl Network {
    /// Creates the namespaces.
    ///
    /// # Errors
    ///
    /// The reason why this process cannot do that, such as missing rights.
    pub(super) fn new() -> Result<Self, Failure> {
        let mut network = Self {
            namespaces: Vec::new(),
        };
        let run = std::process::id();
        for server in 0..SERVERS {
            let (name, device) = (
                format!("jstream-{run}-{server}"),
                format!("js{run}-{server}"),
            );
            ip(&format!("netns add {name}"))?;
            network.namespaces.push(name.clone());
            let (near, far) = (Self::host(server, 1), Self::host(server, 2));
            ip(&format!(
                "link add {device} type veth peer name eth0 netns {name}"
            ))?;
            ip(&format!("addr add {near}/30 dev {device}"))?;
            ip(&format!("link set {device} up"))?;
            ip(&format!("-n {name} addr add {far}/30 dev eth0"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set eth0 up"))?;
        }
        Ok(network)
    }

    /// Returns the address of a host in the network of a server, which is in the range for
    /// benchmarks (RFC 2544).
    fn host(server: usize, host: usize) -> String {
        format!("198.18.{server}.{host}")
    }

    /// Returns the internet address of a server.
    pub(super) fn server(server: usize) -> String {
        Self::host(server, 2)
    }

    /// Returns the command that executes a program in the namespace of a server.
    pub(super) fn command(&self, server: usize) -> Vec<String> {
        let name = self.namespaces.get(server).cloned().unwrap_or_default();
        ["ip", "netns", "exec"]
            .map(str::to_owned)
            .into_iter()
            .chain([name])
            .collect()
    }

    pub(super) fn cut(&self, server: usize) -> Result<(), Failure> {
        self.set(server, "down")
    }

    pub(super) fn mend(&self, server: usize) -> Result<(), Failure> {
        self.set(server, "up")
    }

    fn set(&self, server: usize, state: &str) -> Result<(), Failure> {
        let name = self
            .namespaces
            .get(server)
            .ok_or("there is no such server")?;
        ip(&format!("-n {name} link set eth0 {state}"))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let run = std::process::id();
        for (server, name) in self.namespaces.iter().enumerate() {
            // A namespace removes its devices after the command has ended, and the next run has
            // devices of the same names. It may not have been created completely.
            let _ = ip(&format!("link del js{run}-{server}"));
            let _ = ip(&format!("netns del {name}"));
        }
    }
}
