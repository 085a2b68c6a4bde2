//! # Launching ranks
//!
//! A program that calls [`World::from_env`](crate::rank::world::World::from_env), or
//! [`World::run_from_env`](crate::rank::world::World::run_from_env) with several ranks in each
//! process, runs unchanged under these launchers:
//!
//! | launcher | command | agreement on the address of rank 0 and the session |
//! |---|---|---|
//! | `jrun` | `jrun -n 4 ./program`, `jrun --hosts hosts.txt ./program` | environment |
//! | OpenMPI 4 and 5 | `mpirun -n 4 ./program` | PMIx; without its library a private file, on one host |
//! | MPICH | `mpiexec -n 4 ./program` | PMI-1 |
//! | Slurm | `srun -n 4 --mpi=pmi2 ./program` | PMI-1 |
//! | Slurm | `srun -n 4 --mpi=pmix ./program` | PMIx |
//! | Slurm | `srun -n 4 --mpi=none ./program` | a private file on one host; on several a port of the first node, and `JSTREAM_SESSION` |
//! | Kubernetes | an indexed job | `JSTREAM_SERVICE` and `JSTREAM_SESSION` |
//!
//! [`World::from_env`](crate::rank::world::World::from_env) lists the variables. All launchers
//! accept these, too:
//!
//! | variable | meaning |
//! |---|---|
//! | `JSTREAM_THREADS` | number of ranks in each process |
//! | `JSTREAM_WORLD` | addresses at which rank 0 listens |
//! | `JSTREAM_SESSION` | the session, 32 hexadecimal digits, instead of a random one |
//! | `JSTREAM_SHARERS` | number of ranks that share the cores of the process, on which the time to spin depends |
//!
//! The members refuse processes that do not know the session. Without TLS it is sent unencrypted,
//! so it keeps out strangers, but not those who can read or redirect the packets of the network.
//!
//! # `jrun`
//!
//! `cargo install jstream-transport --features cli` installs `jrun`, which starts processes on one
//! host or on several. It labels each line of output with the rank, forwards signals, and ends all
//! processes when one fails. With `--keep-going` it lets the others go on, which may replace the
//! rank that is lost, as the example `replace` does. `jrun --help` describes the options and exit
//! codes.
//!
//! ## Several hosts
//!
//! The file of `--hosts` names a host in each line, and the number of its processes, 1 by default:
//!
//! ```text
//! # The nodes, in the order in which they get ranks.
//! node1 slots=4
//! me@node2 slots=4
//! localhost
//! ```
//!
//! `jrun --hosts FILE ./program` starts a process for each slot, and `-n N` fills the first N.
//! `--dry-run` prints the commands and the place of each rank.
//!
//! - `ssh` reaches the hosts, one connection for each. It must not ask for a password. Names, ports
//!   and keys are those of its configuration. `--ssh COMMAND`, or `JRUN_SSH`, replaces it by
//!   another program, which gets the host and a command as its last two arguments. `localhost` and
//!   the name of this host are reached without it.
//! - Each host needs the same version of `jrun`, at the same path or at that of `--remote-jrun`,
//!   and the program.
//! - The processes have the working folder of `jrun` or that of `--wdir`, the environment of a
//!   login on their host, the variables that begin with `JSTREAM_`, and those of `--env NAME` or
//!   `--env NAME=VALUE`. The process of rank 0 has the input of `jrun`.
//! - Ranks of one host are connected by shared memory, and others over TCP. Rank 0 listens at the
//!   address at which `ssh` has reached its host, or, if that is the host of `jrun`, at the address
//!   from which `jrun` has reached another one. `--world` names another address:
//!   `--world 'shm://name tcp://10.0.0.1:7000'`.
//! - The session is told through the connections of `ssh`, and is on no command line. The ranks
//!   show it to each other unencrypted.
//! - If a connection breaks, or `jrun` is killed, the processes are killed on all hosts. If the
//!   host of `jrun` loses its power, the other hosts learn of it from their `ssh` servers, so set
//!   `ClientAliveInterval` there.
//! - Each host needs three open files in `jrun` (`ulimit -n`).
//!
//! # Kubernetes
//!
//! The pods of an indexed job find rank 0 under the name of the pod with index 0 in a headless
//! service. The service has to publish addresses of pods that are not ready, and the secret has the
//! session, for example from `openssl rand -hex 16`:
//!
//! ```yaml
//! apiVersion: v1
//! kind: Service
//! metadata:
//!   name: ranks
//! spec:
//!   clusterIP: None
//!   publishNotReadyAddresses: true
//!   selector:
//!     job-name: pi
//! ---
//! apiVersion: v1
//! kind: Secret
//! metadata:
//!   name: pi-session
//! stringData:
//!   session: "REPLACE-BY-32-HEXADECIMAL-DIGITS"
//! ---
//! apiVersion: batch/v1
//! kind: Job
//! metadata:
//!   name: pi
//! spec:
//!   completionMode: Indexed
//!   completions: 8
//!   parallelism: 8
//!   backoffLimit: 0
//!   template:
//!     spec:
//!       subdomain: ranks
//!       restartPolicy: Never
//!       containers:
//!       - name: rank
//!         image: registry.example/pi:1
//!         command: ["/usr/local/bin/pi"]
//!         env:
//!         - name: JSTREAM_SIZE
//!           value: "8"
//!         - name: JSTREAM_SERVICE
//!           value: "ranks:7117"
//!         - name: JSTREAM_SESSION
//!           valueFrom:
//!             secretKeyRef:
//!               name: pi-session
//!               key: session
//! ```
//!
//! `completions` and `parallelism` are the number of pods. `JSTREAM_SIZE` is the number of ranks,
//! which is the same unless `JSTREAM_THREADS` is set.
//!
//! # Ten thousand nodes
//!
//! Start them with the launcher of the cluster, which starts processes through a tree of its
//! daemons and has a key-value store. A world has at most 65,536 ranks.
//!
//! The ranks form a tree, in which a rank has at most four children. Each process reports its
//! addresses to rank 0 and hangs up; rank 0 handles 64 reports at a time. Then the addresses of all
//! go down the tree, the word that everybody has them comes up, and the word to begin goes down.
//! A process keeps at most five connections of that tree. Other pairs are connected when one of
//! them sends for the first time. Until then, a pair has no connection, memory, thread or
//! descriptor.
//!
//! Time to join in a model with the costs that were measured at rank 0 of 256 processes on one
//! machine (0.3 ms for a report and for a connection) and a network with 1 GB/s and 50 µs:
//!
//! | processes | reports at rank 0 | addresses, readiness and begin |
//! |---:|---:|---:|
//! | 16 | 5 ms | 2.1 ms |
//! | 256 | 77 ms | 5.2 ms |
//! | 4,096 | 1.2 s | 17 ms |
//! | 10,000 | 3.0 s | 34 ms |
//! | 65,536 | 20 s | 207 ms |
//!
//! So the reports limit the start. A process makes one report for all of its ranks: use few
//! processes with many ranks (`JSTREAM_THREADS`), and raise [`WorldOptions::timeout`] above the
//! time for the reports. Where all ranks talk to all others, all pairs are connected in the end:
//! raise the limit of open files. The collective operations for small data use `log n` neighbours.
//!
//! [`WorldOptions::timeout`]: crate::rank::world::WorldOptions::timeout
