//! Jobs on several hosts: `jrun` starts an agent on each of them, which starts its processes.

pub(crate) mod agent;
mod framed_output;
mod host_file;
mod input_pipe;
mod link;
mod port;
mod protocol;
mod remote;
mod rendezvous;
mod shell;

pub(crate) use self::host_file::{HostShare, allot, read};
pub(crate) use self::protocol::StartOrder;
pub(crate) use self::remote::{PlannedHosts, RemoteProcesses};
pub(crate) use self::shell::{RemoteShell, quoted};
