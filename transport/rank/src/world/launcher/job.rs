//! Place of a process in the job of a launcher, as its environment describes it.

use std::str::FromStr;

use crate::world::error::WorldError;
use crate::world::variables::{SERVICE, SESSION, SIZE, THREADS, WORLD};
use jstream_base::Address;

/// The port of rank 0 in a Kubernetes job, unless [`SERVICE`] names another one.
const PORT: u16 = 7117;

/// Ports of rank 0 in steps of Slurm without a key-value store. They are below the range that Linux
/// assigns to outgoing connections.
const STEP_PORTS: std::ops::Range<u16> = 10_240..32_768;

/// Source of environment variables and of the host's name.
pub(in crate::world) trait Surroundings {
    /// Returns the value of a variable. Text that is not UTF-8 is lossily converted.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the name of this host.
    fn host(&self) -> String;
}

/// The place of a process in the job of a launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::world) struct Job {
    /// The launcher, for error messages.
    pub(in crate::world) launcher: &'static str,
    /// Number of this process, from 0.
    pub(in crate::world) process: u32,
    /// Number of processes.
    pub(in crate::world) processes: u32,
    /// Number of processes on this host, if the launcher tells it.
    pub(in crate::world) local_processes: Option<u32>,
    /// Number of the descriptor of the PMI server, if there is one.
    pub(super) pmi: Option<i32>,
    /// The PMIx server, if there is one.
    pub(super) pmix: Option<PmixPlace>,
    /// A name of the job that no other job of this user on this host has.
    pub(super) name: String,
    /// Addresses that the user has set, or that can be derived.
    pub(super) addresses: KnownAddresses,
}

/// The place of a process as the PMIx server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PmixPlace {
    /// The directory of the launcher's installation, if it is known.
    pub(super) prefix: Option<String>,
}

/// Addresses of rank 0 that are known before it listens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct KnownAddresses {
    /// True if the user has set them.
    pub(super) are_set: bool,
    /// The addresses at which rank 0 listens.
    pub(super) listen: Vec<Address>,
    /// The addresses at which the others reach rank 0.
    pub(super) reach: Vec<Address>,
}

impl Job {
    /// Returns the place of this process. `None` if no launcher is recognised.
    pub(in crate::world) fn detect(around: &dyn Surroundings) -> Result<Option<Self>, WorldError> {
        // The variables of several launchers may be set: the plugin `pmi2` of Slurm sets those of
        // PMI beside its own.
        let job = if has(around, OPEN_MPI) {
            Some(Self::of_open_mpi(around)?)
        } else if has(around, PMI_RANK) && has(around, PMI_FD) {
            Some(Self::of_pmi(around)?)
        } else if has(around, SLURM_PROCID) && has(around, SLURM_STEP_ID) {
            Some(Self::of_slurm(around)?)
        } else if has(around, JOB_COMPLETION_INDEX) {
            Some(Self::of_kubernetes(around)?)
        } else {
            None
        };
        let Some(mut job) = job else {
            return Ok(None);
        };
        if job.process >= job.processes {
            let (rank, size) = (job.process, job.processes);
            return Err(WorldError::NoRank { rank, size });
        }
        if let Some(given) = around.variable(WORLD) {
            let given = addresses(&given)?;
            job.addresses = KnownAddresses {
                are_set: true,
                listen: given.clone(),
                reach: given,
            };
        }
        Ok(Some(job))
    }

    /// Returns true if all processes are known to be on this host.
    pub(super) fn is_on_one_host(&self) -> bool {
        self.local_processes == Some(self.processes)
    }

    fn of_open_mpi(around: &dyn Surroundings) -> Result<Self, WorldError> {
        let space = around.variable(PMIX_NAMESPACE);
        Ok(Self {
            launcher: "mpirun of OpenMPI",
            process: number(around, OPEN_MPI)?,
            processes: number(around, "OMPI_COMM_WORLD_SIZE")?,
            local_processes: optional(around, "OMPI_COMM_WORLD_LOCAL_SIZE")?,
            pmi: None,
            pmix: pmix(around),
            name: format!("openmpi-{}", plain(&space.unwrap_or_default())),
            addresses: KnownAddresses::default(),
        })
    }

    /// Hydra, and other launchers with a PMI descriptor, such as Slurm.
    fn of_pmi(around: &dyn Surroundings) -> Result<Self, WorldError> {
        let processes = number(around, "PMI_SIZE")?;
        let hosts: Option<u32> = optional(around, "SLURM_STEP_NUM_NODES")?;
        let local = optional(around, "MPI_LOCALNRANKS")?;
        Ok(Self {
            launcher: "the PMI server",
            process: number(around, PMI_RANK)?,
            processes,
            local_processes: local.or((hosts == Some(1)).then_some(processes)),
            pmi: Some(number(around, PMI_FD)?),
            pmix: None,
            name: String::new(),
            addresses: KnownAddresses::default(),
        })
    }

    fn of_slurm(around: &dyn Surroundings) -> Result<Self, WorldError> {
        let processes = match optional(around, "SLURM_STEP_NUM_TASKS")? {
            Some(processes) => processes,
            None => number(around, "SLURM_NTASKS")?,
        };
        let hosts: u32 = number(around, "SLURM_STEP_NUM_NODES")?;
        let job: u64 = number(around, "SLURM_JOB_ID")?;
        let step_id: u64 = number(around, SLURM_STEP_ID)?;
        let list = around.variable("SLURM_STEP_NODELIST").unwrap_or_default();
        let first = first_host(&list).ok_or_else(|| WorldError::Environment {
            variable: "SLURM_STEP_NODELIST",
            problem: format!("is `{}`, which names no host", list.escape_debug()),
        })?;
        // All processes compute the same port without talking to one another. Steps of a job get
        // different ones.
        let width = u64::from(STEP_PORTS.end.saturating_sub(STEP_PORTS.start));
        let mixed = job.wrapping_mul(31).wrapping_add(step_id);
        let offset = mixed.checked_rem(width).unwrap_or(0);
        let port = STEP_PORTS
            .start
            .saturating_add(u16::try_from(offset).unwrap_or(0));
        Ok(Self {
            launcher: "srun of Slurm",
            process: number(around, SLURM_PROCID)?,
            processes,
            local_processes: (hosts == 1).then_some(processes),
            pmi: None,
            pmix: pmix(around),
            name: format!("slurm-{job}-{step_id}"),
            addresses: KnownAddresses {
                are_set: false,
                listen: vec![Address::tcp("0.0.0.0", port)?],
                reach: vec![Address::tcp(&first, port)?],
            },
        })
    }

    fn of_kubernetes(around: &dyn Surroundings) -> Result<Self, WorldError> {
        let size: u32 = number(around, SIZE)?;
        let threads = optional(around, THREADS)?.unwrap_or(1);
        if size.checked_rem(threads) != Some(0) {
            return Err(WorldError::Environment {
                variable: SIZE,
                problem: format!("is {size}, which is no multiple of {THREADS}, {threads}"),
            });
        }
        let process: u32 = number(around, JOB_COMPLETION_INDEX)?;
        let addresses = match around.variable(SERVICE) {
            Some(service) => of_service(&service, process, &around.host())?,
            None if has(around, WORLD) => KnownAddresses::default(),
            None => {
                return Err(WorldError::Environment {
                    variable: SERVICE,
                    problem: "is not set; it names the headless service of the job".to_owned(),
                });
            }
        };
        Ok(Self {
            launcher: "Kubernetes",
            process,
            processes: size.checked_div(threads).unwrap_or(0),
            local_processes: None,
            pmi: None,
            pmix: None,
            name: String::new(),
            addresses,
        })
    }
}

const OPEN_MPI: &str = "OMPI_COMM_WORLD_RANK";
const PMI_RANK: &str = "PMI_RANK";
const PMI_FD: &str = "PMI_FD";
const PMIX_NAMESPACE: &str = "PMIX_NAMESPACE";
const SLURM_PROCID: &str = "SLURM_PROCID";
const SLURM_STEP_ID: &str = "SLURM_STEP_ID";
const JOB_COMPLETION_INDEX: &str = "JOB_COMPLETION_INDEX";

fn has(around: &dyn Surroundings, name: &str) -> bool {
    around.variable(name).is_some()
}

/// Returns a number that the launcher must have set.
fn number<T: FromStr>(around: &dyn Surroundings, variable: &'static str) -> Result<T, WorldError> {
    optional(around, variable)?.ok_or_else(|| WorldError::Environment {
        variable,
        problem: "is not set".to_owned(),
    })
}

fn optional<T: FromStr>(
    around: &dyn Surroundings,
    variable: &'static str,
) -> Result<Option<T>, WorldError> {
    let Some(text) = around.variable(variable) else {
        return Ok(None);
    };
    let number = text.trim().parse().map_err(|_| WorldError::Environment {
        variable,
        problem: format!("is `{}`, which is not valid", text.escape_debug()),
    });
    number.map(Some)
}

fn pmix(around: &dyn Surroundings) -> Option<PmixPlace> {
    let is_told = has(around, PMIX_NAMESPACE) && has(around, "PMIX_RANK");
    is_told.then(|| PmixPlace {
        prefix: around.variable("PMIX_PREFIX"),
    })
}

/// Parses addresses that are separated by white space.
pub(in crate::world) fn addresses(text: &str) -> Result<Vec<Address>, WorldError> {
    let addresses: Result<Vec<Address>, _> = text.split_whitespace().map(str::parse).collect();
    addresses.map_err(|error| WorldError::Environment {
        variable: WORLD,
        problem: format!("has an invalid address: {error}"),
    })
}

/// Replaces the characters that are not usual in the name of a file.
fn plain(text: &str) -> String {
    let text = text.chars().take(128);
    let usual = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    text.map(|c| if usual(c) { c } else { '_' }).collect()
}

/// Returns the addresses of rank 0 of a Kubernetes job: the pod with index 0 in the domain of the
/// headless service. The name of a pod's host is the name of the job, a dash, and the index.
fn of_service(service: &str, process: u32, host: &str) -> Result<KnownAddresses, WorldError> {
    let wrong = |problem: String| WorldError::Environment {
        variable: SERVICE,
        problem,
    };
    let (service, port) = match service.rsplit_once(':') {
        None => (service, PORT),
        Some((name, port)) => {
            let port = port.parse();
            (
                name,
                port.map_err(|_| {
                    wrong(format!(
                        "is `{}`, which has no port",
                        service.escape_debug()
                    ))
                })?,
            )
        }
    };
    let job = host.strip_suffix(&format!("-{process}"));
    let job = job.filter(|job| !job.is_empty()).ok_or_else(|| {
        wrong(format!(
            "is set, but the name of this host, {}, does not end in the index of the pod, -{process}; \
             set {WORLD} instead",
            host.escape_debug()
        ))
    })?;
    Ok(KnownAddresses {
        are_set: false,
        listen: vec![Address::tcp("0.0.0.0", port)?],
        reach: vec![Address::tcp(&format!("{job}-0.{service}"), port)?],
    })
}

/// Returns the first host of a list as Slurm writes it: `a1,b2` or `n[01-03,7]-x,m2`.
fn first_host(list: &str) -> Option<String> {
    let end = list.find(['[', ',']).unwrap_or(list.len());
    let (prefix, rest) = list.split_at_checked(end)?;
    let host = match rest.strip_prefix('[') {
        None => prefix.to_owned(),
        Some(rest) => {
            let (numbers, behind) = rest.split_once(']')?;
            let digits = numbers.split(['-', ',']).next()?;
            let suffix = behind.split(',').next().unwrap_or_default();
            format!("{prefix}{digits}{suffix}")
        }
    };
    // A second bracket is possible, but no system is known to have names of two dimensions.
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    (!host.is_empty() && host.chars().all(is_name)).then_some(host)
}

/// Error for a job on several hosts that has neither a key-value store nor a session.
pub(super) fn no_session(job: &Job) -> WorldError {
    WorldError::Environment {
        variable: SESSION,
        problem: format!(
            "is not set, and {} offers no key-value store; it keeps strangers out of a world on \
             several hosts",
            job.launcher
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded environment.
    pub(super) struct Recorded(pub(super) &'static str, pub(super) &'static str);

    impl Surroundings for Recorded {
        fn variable(&self, name: &str) -> Option<String> {
            let mut lines = self
                .1
                .lines()
                .filter_map(|line| line.trim().split_once('='));
            let found = lines.find(|(found, _)| *found == name);
            found.map(|(_, value)| value.to_owned())
        }

        fn host(&self) -> String {
            self.0.to_owned()
        }
    }

    fn job(host: &'static str, variables: &'static str) -> Result<Option<Job>, String> {
        Job::detect(&Recorded(host, variables)).map_err(|error| error.to_string())
    }

    fn uris(addresses: &[Address]) -> Vec<String> {
        addresses.iter().map(Address::to_string).collect()
    }

    #[test]
    fn open_mpi_5_is_recognised() {
        let text = "OMPI_COMM_WORLD_LOCAL_RANK=1
            OMPI_COMM_WORLD_LOCAL_SIZE=2
            OMPI_COMM_WORLD_NODE_RANK=1
            OMPI_COMM_WORLD_RANK=1
            OMPI_COMM_WORLD_SIZE=2
            OMPI_UNIVERSE_SIZE=2
            OMPI_VERSION=5.0.11
            PMIX_HOSTNAME=vm
            PMIX_NAMESPACE=prterun-vm-8181@1
            PMIX_PREFIX=/opt/openmpi
            PMIX_RANK=1
            PMIX_SERVER_TMPDIR=/tmp/ompi.8181
            PRTE_LAUNCHED=1";
        let job = job("vm", text).unwrap().unwrap();
        assert_eq!((job.process, job.processes), (1, 2));
        assert!(job.is_on_one_host());
        assert_eq!(job.name, "openmpi-prterun-vm-8181_1");
        let prefix = Some("/opt/openmpi".to_owned());
        assert_eq!(job.pmix, Some(PmixPlace { prefix }));
    }

    #[test]
    fn hydra_is_recognised() {
        let text = "HYDI_CONTROL_FD=7
            MPI_LOCALNRANKS=2
            MPI_LOCALRANKID=0
            PMI_FD=9
            PMI_HOSTNAME=vm
            PMI_RANK=0
            PMI_SIZE=4";
        let job = job("vm", text).unwrap().unwrap();
        assert_eq!((job.process, job.processes, job.pmi), (0, 4, Some(9)));
        assert!(!job.is_on_one_host());
    }

    const SLURM: &str = "SLURM_JOB_ID=2
        SLURM_LOCALID=1
        SLURM_NPROCS=2
        SLURM_NTASKS=8
        SLURM_PROCID=1
        SLURM_STEP_ID=0
        SLURM_STEP_NODELIST=n[01-02],m7
        SLURM_STEP_NUM_NODES=2
        SLURM_STEP_NUM_TASKS=2";

    #[test]
    fn slurm_is_recognised() {
        let job = job("vm", SLURM).unwrap().unwrap();
        assert_eq!((job.process, job.processes), (1, 2));
        assert_eq!(job.local_processes, None);
        assert_eq!(uris(&job.addresses.listen), ["tcp://0.0.0.0:10302"]);
        assert_eq!(uris(&job.addresses.reach), ["tcp://n01:10302"]);
        assert_eq!(job.name, "slurm-2-0");
    }

    #[test]
    fn slurm_with_pmi_has_a_store() {
        let text = "PMI_FD=13
            PMI_JOBID=1.0
            PMI_RANK=1
            PMI_SIZE=2
            SLURM_PROCID=1
            SLURM_STEP_ID=0
            SLURM_STEP_NUM_NODES=1";
        let job = job("vm", text).unwrap().unwrap();
        assert_eq!((job.process, job.processes, job.pmi), (1, 2, Some(13)));
        assert!(job.is_on_one_host());
    }

    #[test]
    fn batch_scripts_of_slurm_are_no_steps() {
        let text = "SLURM_JOB_ID=2\nSLURM_PROCID=0\nSLURM_NTASKS=8\nSLURM_NODEID=0";
        assert_eq!(job("vm", text), Ok(None));
    }

    #[test]
    fn kubernetes_is_recognised() {
        let text = "JOB_COMPLETION_INDEX=3
            JSTREAM_SIZE=8
            JSTREAM_THREADS=2
            JSTREAM_SERVICE=ranks.jobs.svc:7000
            KUBERNETES_SERVICE_HOST=10.96.0.1";
        let job = job("pi-3", text).unwrap().unwrap();
        assert_eq!((job.process, job.processes), (3, 4));
        assert_eq!(uris(&job.addresses.listen), ["tcp://0.0.0.0:7000"]);
        assert_eq!(
            uris(&job.addresses.reach),
            ["tcp://pi-0.ranks.jobs.svc:7000"]
        );
    }

    #[test]
    fn addresses_of_the_user_win() {
        let text = "JOB_COMPLETION_INDEX=0\nJSTREAM_SIZE=2\nJSTREAM_WORLD=tcp://a:1 tcp://b:2";
        let job = job("other", text).unwrap().unwrap();
        assert_eq!(uris(&job.addresses.listen), ["tcp://a:1", "tcp://b:2"]);
        assert_eq!(job.addresses.listen, job.addresses.reach);
    }

    #[test]
    fn environments_without_sense_are_errors() {
        for (host, text, problem) in [
            (
                "vm",
                "OMPI_COMM_WORLD_RANK=1",
                "OMPI_COMM_WORLD_SIZE is not set",
            ),
            (
                "vm",
                "OMPI_COMM_WORLD_RANK=x",
                "OMPI_COMM_WORLD_RANK is `x`",
            ),
            (
                "vm",
                "OMPI_COMM_WORLD_RANK=2\nOMPI_COMM_WORLD_SIZE=2",
                "there is no rank 2 in a world of 2",
            ),
            ("vm", "PMI_RANK=0\nPMI_FD=9", "PMI_SIZE is not set"),
            ("vm", "PMI_RANK=0\nPMI_SIZE=1\nPMI_FD=-", "PMI_FD is `-`"),
            ("pi-0", "JOB_COMPLETION_INDEX=0", "JSTREAM_SIZE is not set"),
            (
                "pi-0",
                "JOB_COMPLETION_INDEX=0\nJSTREAM_SIZE=3\nJSTREAM_THREADS=2",
                "is 3, which is no multiple of JSTREAM_THREADS, 2",
            ),
            (
                "pi-0",
                "JOB_COMPLETION_INDEX=0\nJSTREAM_SIZE=3",
                "JSTREAM_SERVICE is not set",
            ),
            (
                "pi",
                "JOB_COMPLETION_INDEX=0\nJSTREAM_SIZE=3\nJSTREAM_SERVICE=s",
                "does not end in the index",
            ),
            (
                "pi-0",
                "JOB_COMPLETION_INDEX=0\nJSTREAM_SIZE=3\nJSTREAM_SERVICE=s:http",
                "has no port",
            ),
            (
                "vm",
                "SLURM_PROCID=0\nSLURM_STEP_ID=0\nSLURM_NTASKS=1\nSLURM_STEP_NUM_NODES=1\nSLURM_JOB_ID=1",
                "names no host",
            ),
        ] {
            let error = job(host, text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn lists_of_hosts_have_a_first() {
        for (list, first) in [
            ("vm", Some("vm")),
            ("a1,b2", Some("a1")),
            ("n[1-3,7],m2", Some("n1")),
            ("n[007,9]-ib,m2", Some("n007-ib")),
            ("n[1-3", None),
            ("", None),
            (",a", None),
            ("[", None),
            ("a b", None),
        ] {
            assert_eq!(first_host(list).as_deref(), first, "{list}");
        }
    }
}
