//! Two network namespaces joined by a veth pair, which act as two hosts in one test.
//!
//! They need root and the `ip` program. If either is missing, a test prints a note and passes.

use std::process::{self, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use testing::process::{ROLE, arguments};

pub(crate) struct Hosts {
    pub(crate) names: [String; 2],
}

impl Hosts {
    /// Creates two hosts with the addresses 1 and 2 of `network` ("10.213.0"). Returns the reason
    /// if it cannot.
    pub(crate) fn new(network: &str) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);

        if !rustix::process::geteuid().is_root() {
            return Err("this needs root".into());
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |side| format!("jstream-{}-{number}-{side}", process::id());
        let hosts = Self {
            names: [name("a"), name("b")],
        };
        for name in &hosts.names {
            run(&format!("ip netns add {name}"))?;
        }
        let [a, b] = &hosts.names;
        run(&format!(
            "ip link add line netns {a} type veth peer name line netns {b}"
        ))?;
        for (name, number) in hosts.names.iter().zip(1..) {
            run(&format!(
                "ip -n {name} addr add {network}.{number}/24 dev line"
            ))?;
            run(&format!("ip -n {name} link set line up"))?;
            run(&format!("ip -n {name} link set lo up"))?;
        }
        Ok(hosts)
    }

    /// Returns a command that runs `test` of this program on a host, in the given role.
    pub(crate) fn command(&self, host: usize, test: &str, role: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host]]);
        command.arg(std::env::current_exe().unwrap());
        command.args(arguments(test));
        command.env(ROLE, role).stdout(Stdio::piped());
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = run(&format!("ip netns del {name}"));
        }
    }
}

/// Runs a command line, split at its blanks.
pub(crate) fn run(command: &str) -> Result<(), String> {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).output();
    match output {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(Output { stderr, .. }) => {
            Err(format!("{command}: {}", String::from_utf8_lossy(&stderr)))
        }
        Err(error) => Err(format!("{command}: {error}")),
    }
}
