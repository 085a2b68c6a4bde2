//! Hosts: network namespaces at one bridge, or, where those aren't to be had, addresses of the loopback.

use std::env;
use std::io;
use std::process::{Command, ExitCode};

/// How this program ends where there is no network to be made.
const NONE: u8 = 77;

/// Namespaces of their own, which end with the processes in them: so nothing is left, however they end.
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

/// What programs of the system can't do.
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

/// Starts this program again where it may make networks. `None` where it may not, which it has said.
pub(crate) fn inside(argument: &str) -> io::Result<Option<ExitCode>> {
    if let Err(why) = done("unshare", &format!("{} true", UNSHARE.join(" "))) {
        println!("no namespaces here: {why}");
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

/// Makes so many hosts at a bridge.
fn bridged(hosts: u8) -> Result<(), String> {
    // Names of namespaces are files there, for nobody else to see.
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
    /// One of so many hosts, or how the program is to end where that can't be.
    pub(crate) fn make(hosts: u8) -> Result<Self, ExitCode> {
        match bridged(hosts) {
            Ok(()) => Ok(Self::Namespaces),
            Err(why) => {
                println!("no network of namespaces here: {why}");
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

    /// This program, on a host.
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
