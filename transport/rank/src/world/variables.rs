//! Names of the environment variables by which a launcher, or the user, describes a world.

/// Name of the variable with the rank of a process.
pub const RANK: &str = "JSTREAM_RANK";
/// Name of the variable with the number of ranks.
pub const SIZE: &str = "JSTREAM_SIZE";
/// Name of the variable with the addresses of rank 0, separated by white space.
pub const WORLD: &str = "JSTREAM_WORLD";
/// Name of the optional variable with the [`Session`](super::Session).
pub const SESSION: &str = "JSTREAM_SESSION";
/// Name of the optional variable with the number of ranks of the process, which are threads of it
/// (default 1); see [`World::run_from_env`](super::World::run_from_env).
pub const THREADS: &str = "JSTREAM_THREADS";
/// Name of the optional variable with the id of the parent process. The process is killed when its
/// parent ends.
pub const PARENT: &str = "JSTREAM_PARENT";
/// Name of the optional variable with the number of ranks that run on the cores on which this
/// process may run; see [`WorldOptions`](super::WorldOptions) for what depends on it.
pub const SHARERS: &str = "JSTREAM_SHARERS";
/// Name of the variable that [`World::grow`](super::World::grow) sets for the processes that it adds.
pub const NEWCOMER: &str = "JSTREAM_NEWCOMER";
/// Name of the variable with the headless service of a Kubernetes job, and optionally a port
/// (default 7117): `ranks` or `ranks:7000`.
pub const SERVICE: &str = "JSTREAM_SERVICE";
