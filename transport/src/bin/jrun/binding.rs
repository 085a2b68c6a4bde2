//! Cores of this host, and the processes that run on them.

use std::collections::BTreeMap;
use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity};

/// The processes of one host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbours {
    /// Number of processes.
    pub(crate) processes: u32,
    /// Number of ranks of each process.
    pub(crate) threads: u32,
    /// True if each process is to have cores of its own.
    pub(crate) bind: bool,
}

/// Cores of this host on which processes may run, and the hardware threads of each.
pub(crate) struct Cores(Vec<Vec<usize>>);

/// The placement of a process.
pub(crate) struct Placement {
    /// The hardware threads on which it may run. `None` for all.
    pub(crate) set: Option<CpuSet>,
    /// Number of ranks that share these cores.
    pub(crate) sharers: u32,
}

impl Cores {
    /// Returns the cores on which this process may run.
    pub(crate) fn of_this_host() -> Self {
        let Ok(allowed) = sched_getaffinity(None) else {
            return Self(Vec::new());
        };
        let mut cores: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            // Without the file, each hardware thread counts as a siblings.
            let siblings = fs::read_to_string(file).unwrap_or_else(|_| cpu.to_string());
            cores.entry(siblings).or_default().push(cpu);
        }
        let mut cores: Vec<_> = cores.into_values().collect();
        cores.sort();
        Self(cores)
    }

    /// Returns true if all processes can have cores of their own.
    pub(crate) fn suffice(&self, neighbours: Neighbours) -> bool {
        let ranks = u64::from(neighbours.processes).saturating_mul(u64::from(neighbours.threads));
        ranks <= self.0.len() as u64
    }

    /// Returns the placement of one process, by its number on this host.
    pub(crate) fn placement(&self, number: u32, neighbours: Neighbours) -> Placement {
        let Neighbours {
            processes,
            threads,
            bind,
        } = neighbours;
        if !bind || !self.suffice(neighbours) {
            return Placement {
                set: None,
                sharers: processes.saturating_mul(threads),
            };
        }
        let mut set = CpuSet::new();
        let first = number.saturating_mul(threads);
        let own = self.0.iter().skip(first as usize).take(threads as usize);
        for cpu in own.flatten() {
            set.set(*cpu);
        }
        Placement {
            set: Some(set),
            sharers: threads,
        }
    }
}

/// Returns the members of a set as a list: `0,2`.
pub(crate) fn list_of(set: &CpuSet) -> String {
    let members = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    let members: Vec<_> = members.map(|cpu| cpu.to_string()).collect();
    members.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_have_cores_of_their_own() {
        let cores = Cores(vec![vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]]);
        let mut neighbours = Neighbours {
            processes: 2,
            threads: 2,
            bind: true,
        };
        let place = |number, neighbours| {
            let placement = cores.placement(number, neighbours);
            (placement.set.map(|set| list_of(&set)), placement.sharers)
        };
        assert_eq!(place(0, neighbours), (Some("0,1,4,5".to_owned()), 2));
        assert_eq!(place(1, neighbours), (Some("2,3,6,7".to_owned()), 2));
        neighbours.processes = 3;
        assert_eq!(place(1, neighbours), (None, 6));
        neighbours.bind = false;
        assert_eq!(place(0, neighbours), (None, 6));
    }

    #[test]
    fn this_host_has_a_core() {
        let alone = Neighbours {
            processes: 1,
            threads: 1,
            bind: true,
        };
        let cores = Cores::of_this_host();
        assert!(cores.suffice(alone));
        assert!(cores.placement(0, alone).set.is_some());
    }
}
