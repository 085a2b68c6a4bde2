//! Placement of processes on this host.

use std::ffi::OsString;

use jstream_transport::rank::world::{RANK, SHARERS};

use crate::binding::{Cores, Neighbours};
use crate::process::{ProcessInput, ProcessLaunch};

/// Places the processes of this host, and returns a message about this, if there is one.
pub(crate) fn place_all(
    firsts: &[u32],
    neighbours: Neighbours,
    common: &[(OsString, OsString)],
) -> (Vec<ProcessLaunch>, Option<String>) {
    let cores = Cores::of_this_host();
    let notice = (neighbours.bind && !cores.suffice(neighbours)).then(|| {
        let ranks = u64::from(neighbours.processes).saturating_mul(u64::from(neighbours.threads));
        format!("{ranks} ranks are more than the cores of this host, so they are not bound")
    });
    let processes = (0u32..).zip(firsts).map(|(number, first)| {
        let placement = cores.placement(number, neighbours);
        let mut environment = common.to_vec();
        // The first of these variables are those that the user looks for in a dry run.
        environment.insert(0, (RANK.into(), first.to_string().into()));
        environment.push((SHARERS.into(), placement.sharers.to_string().into()));
        ProcessLaunch {
            number: usize::try_from(number).unwrap_or(usize::MAX),
            environment,
            set: placement.set,
            input: ProcessInput::Empty,
        }
    });
    (processes.collect(), notice)
}
