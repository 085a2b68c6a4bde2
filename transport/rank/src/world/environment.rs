//! Environment variables by which a launcher tells a process its rank and world.

use std::env::{self, VarError};
use std::str::FromStr;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::World;
use super::error::WorldError;
use super::limits::check_size;
use super::options::WorldOptions;
use super::session::Session;
use jstream_base::Address;

/// Name of the variable with the rank of a process.
pub const RANK: &str = "JSTREAM_RANK";
/// Name of the variable with the number of ranks.
pub const SIZE: &str = "JSTREAM_SIZE";
/// Name of the variable with the addresses of rank 0, separated by white space.
pub const WORLD: &str = "JSTREAM_WORLD";
/// Name of the optional variable with the [`Session`].
pub const SESSION: &str = "JSTREAM_SESSION";
/// Name of the optional variable with the number of ranks of the process, which are threads of it
/// (default 1); see [`World::run_from_env`].
pub const THREADS: &str = "JSTREAM_THREADS";
/// Name of the optional variable with the id of the parent process. The process is killed when its
/// parent ends.
pub const PARENT: &str = "JSTREAM_PARENT";

/// The ranks and world of this process.
pub(super) struct ProcessRole {
    /// The first rank of the process.
    pub(super) rank: u32,
    pub(super) size: u32,
    /// Number of ranks of the process.
    pub(super) threads: u32,
    pub(super) addresses: Vec<Address>,
    session: Option<Session>,
}

impl ProcessRole {
    /// Reads the variables. Returns `None` if no launcher has set them.
    pub(super) fn of_this_process() -> Result<Option<Self>, WorldError> {
        if env::var_os(RANK).is_none() {
            return Ok(None);
        }
        end_with_parent()?;
        let missing = |variable| WorldError::Environment {
            variable,
            problem: "is not set".to_owned(),
        };
        let addresses = env::var(WORLD).map_err(|_| missing(WORLD))?;
        let addresses = addresses.split_whitespace().map(str::parse);
        let addresses: Result<Vec<Address>, _> = addresses.collect();
        Ok(Some(Self {
            rank: variable(RANK)?.ok_or_else(|| missing(RANK))?,
            size: variable(SIZE)?.ok_or_else(|| missing(SIZE))?,
            threads: variable(THREADS)?.unwrap_or(1),
            addresses: addresses.map_err(|error| WorldError::Environment {
                variable: WORLD,
                problem: format!("has an invalid address: {error}"),
            })?,
            session: variable(SESSION)?,
        }))
    }

    /// Like [`of_this_process`](Self::of_this_process), but it is an error if no launcher has set
    /// the variables, or if they describe ranks that the world does not have.
    pub(super) fn require() -> Result<Self, WorldError> {
        let role = Self::of_this_process()?.ok_or_else(|| WorldError::Environment {
            variable: RANK,
            problem: "is not set".to_owned(),
        })?;
        check_size(role.size)?;
        let left = role.size.saturating_sub(role.rank);
        if left == 0 {
            let (rank, size) = (role.rank, role.size);
            return Err(WorldError::NoRank { rank, size });
        }
        if (1..=left).contains(&role.threads) {
            return Ok(role);
        }
        Err(WorldError::Environment {
            variable: THREADS,
            problem: format!(
                "is {}, but the world has {left} ranks from {} on",
                role.threads, role.rank
            ),
        })
    }

    /// Returns an error if the environment has another number than this program.
    pub(super) fn check(variable: &'static str, here: u32, asked: u32) -> Result<(), WorldError> {
        if here == asked {
            return Ok(());
        }
        Err(WorldError::Environment {
            variable,
            problem: format!("is {here}, but this program asks for {asked}"),
        })
    }

    /// Returns the options with the session of the environment.
    pub(super) fn options(&self, options: &WorldOptions) -> WorldOptions {
        let mut options = options.clone();
        options.session = self.session.or(options.session);
        options
    }

    /// Joins as the only rank of this process.
    pub(super) fn join(self, options: &WorldOptions) -> Result<World, WorldError> {
        Self::check(THREADS, self.threads, 1)?;
        let options = self.options(options);
        World::join_cheapest(&self.addresses, self.rank, self.size, &options)
    }
}

impl World {
    /// Joins the world that the environment describes by [`RANK`], [`SIZE`], [`WORLD`], and
    /// optionally [`SESSION`] and [`PARENT`]. A launcher sets these variables for each process, on
    /// one host or on several.
    ///
    /// # Errors
    ///
    /// [`WorldError::Environment`] if a variable is missing or invalid, or another [`WorldError`].
    pub fn from_env(options: &WorldOptions) -> Result<Self, WorldError> {
        ProcessRole::require()?.join(options)
    }
}

/// Returns the value of a variable, if it is set.
fn variable<T: FromStr>(variable: &'static str) -> Result<Option<T>, WorldError> {
    let text = match env::var(variable) {
        Ok(text) => text,
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(_)) => String::new(),
    };
    match text.parse() {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(WorldError::Environment {
            variable,
            problem: format!("is `{}`, which is not valid", text.escape_debug()),
        }),
    }
}

/// If [`PARENT`] is set, asks the kernel to kill this process when its parent ends.
fn end_with_parent() -> Result<(), WorldError> {
    let Some(parent) = variable::<i32>(PARENT)? else {
        return Ok(());
    };
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(std::io::Error::from)?;
    // The parent may have ended before that.
    if getppid().is_some_and(|found| found.as_raw_nonzero().get() == parent) {
        return Ok(());
    }
    Err(WorldError::Environment {
        variable: PARENT,
        problem: format!("is {parent}, but that process did not start this process, or has ended"),
    })
}
