//! Hosts: network namespaces on one bridge, or loopback addresses if namespaces can't be created.

use std::env;
use std::io;
use std::process::{Command, ExitCode};

/// Exit code of this program if it can't create the network.
const NONE: u8 = 77;

/// Arguments for `unshare`. The namespaces end with the processes in them, so nothing is left
/// behind.
const UNSHARE: [&str; 8] = [
    "--user",
    "--map-root-user",
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--",
];

pub(crate) enum Network {
    Namespaces,
    Loopback,
}

/// Runs a program of the system. Returns its error output if it fails.
fn done(program: &str, arguments: &str) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments.split(' '))
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default();
    Err(format!("{program} {arguments}: {said}"))
}

/// Starts this program again in new namespaces. Returns `None` if that is not permitted, and prints
/// the reason.
pub(crate) fn inside(argument: &str) -> io::Result<Option<ExitCode>> {
    if let Err(why) = done("unshare", &format!("{} true", UNSHARE.join(" "))) {
        println!("namespaces are not available: {why}");
        return Ok(None);
    }
    let status = Command::new("unshare")
        .args(UNSHARE)
        .arg(env::current_exe()?)
        .arg(argument)
        .status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(Some(code.unwrap_or(1))
        .filter(|code| *code != NONE)
        .map(ExitCode::from))
}

/// Creates this number of hosts on a bridge.
fn bridged(hosts: u8) -> Result<(), String> {
    // Namespace names are files in `/run`. The private mount hides them from other processes.
    done("mount", "-t tmpfs tmpfs /run")?;
    done("ip", "link add bridge type bridge")?;
    done("ip", "link set bridge up")?;
    for host in 1..=hosts {
        done("ip", &format!("netns add host{host}"))?;
        let peer = format!("peer name eth0 netns host{host}");
        done("ip", &format!("link add port{host} type veth {peer}"))?;
        done("ip", &format!("link set port{host} master bridge up"))?;
        let inside = format!("-n host{host}");
        let address = Network::Namespaces.address(host);
        done("ip", &format!("{inside} address add {address}/24 dev eth0"))?;
        done("ip", &format!("{inside} link set eth0 up"))?;
        done("ip", &format!("{inside} link set lo up"))?;
    }
    Ok(())
}

impl Network {
    /// Creates a network with this number of hosts. If that fails, returns the exit code of the
    /// program.
    pub(crate) fn make(hosts: u8) -> Result<Self, ExitCode> {
        match bridged(hosts) {
            Ok(()) => Ok(Self::Namespaces),
            Err(why) => {
                println!("can't create a network of namespaces: {why}");
                Err(ExitCode::from(NONE))
            }
        }
    }

    pub(crate) fn address(&self, host: u8) -> String {
        match self {
            Self::Namespaces => format!("10.77.0.{host}"),
            Self::Loopback => format!("127.0.0.{host}"),
        }
    }

    /// Returns a command that runs this program on a host.
    pub(crate) fn command(&self, host: u8) -> io::Result<Command> {
        let program = env::current_exe()?;
        Ok(match self {
            Self::Loopback => Command::new(program),
            Self::Namespaces => {
                let mut command = Command::new("nsenter");
                command.arg(format!("--net=/run/netns/host{host}"));
                command.arg("--").arg(program);
                command
            }
        })
    }
}
