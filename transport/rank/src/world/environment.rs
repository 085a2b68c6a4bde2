//! Environment variables by which a launcher tells a process its rank and world.

use std::env::{self, VarError};
use std::fs;
use std::str::FromStr;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::World;
use super::error::WorldError;
use super::launcher::{
    Announcement, Exchange, Job, Published, Surroundings, addresses, host_address, host_name,
};
use super::limits::check_size;
use super::meeting::Meeting;
use super::options::WorldOptions;
use super::places::Whereabouts;
use super::seat::Seat;
use super::session::Session;
use super::variables::{PARENT, RANK, SESSION, SHARERS, SIZE, THREADS, WORLD};
use jstream_base::Address;
use jstream_device::deadline::Deadline;

/// The ranks and world of this process.
pub(super) struct ProcessRole {
    /// The first rank of the process.
    pub(super) rank: u32,
    pub(super) size: u32,
    /// Number of ranks of the process.
    pub(super) threads: u32,
    /// Number of ranks that share the cores of this process, if it is known.
    sharers: Option<u32>,
    origin: Origin,
    session: Option<Session>,
}

/// The source of the addresses of rank 0.
enum Origin {
    Addresses(Vec<Address>),
    Job(Job),
}

/// The way of the ranks of a process into their world.
pub(super) struct Assembly {
    /// The addresses of rank 0.
    pub(super) addresses: Vec<Address>,
    /// The options, with the session of the world.
    pub(super) options: WorldOptions,
    /// The meeting, if rank 0 is in this process and already listens.
    pub(super) meeting: Option<AnnouncedMeeting>,
}

/// A meeting whose addresses the other processes have been told.
pub(super) struct AnnouncedMeeting {
    meeting: Meeting,
    published: Published,
}

impl AnnouncedMeeting {
    /// Joins as rank 0.
    pub(super) fn join(self, seat: Seat) -> Result<World, WorldError> {
        let world = self.meeting.join_unless(seat, &mut || Ok(()));
        // All members have read the announcement.
        drop(self.published);
        world
    }
}

impl ProcessRole {
    /// Reads the variables. Returns `None` if no launcher has set them.
    pub(super) fn of_this_process() -> Result<Option<Self>, WorldError> {
        if env::var_os(RANK).is_none() {
            return Ok(None);
        }
        // Before anything else, so that the process does not survive a parent that ends meanwhile.
        end_with_parent()?;
        let missing = |variable| WorldError::Environment {
            variable,
            problem: "is not set".to_owned(),
        };
        let given = env::var(WORLD).map_err(|_| missing(WORLD))?;
        Ok(Some(Self {
            rank: variable(RANK)?.ok_or_else(|| missing(RANK))?,
            size: variable(SIZE)?.ok_or_else(|| missing(SIZE))?,
            threads: variable(THREADS)?.unwrap_or(1),
            sharers: variable(SHARERS)?,
            origin: Origin::Addresses(addresses(&given)?),
            session: variable(SESSION)?,
        }))
    }

    /// Returns the role that another launcher has given to this process.
    fn of_launcher() -> Result<Option<Self>, WorldError> {
        let Some(job) = Job::detect(&Environment)? else {
            return Ok(None);
        };
        let threads = variable(THREADS)?.unwrap_or(1);
        let local_processes = job.local_processes;
        Ok(Some(Self {
            rank: job.process.saturating_mul(threads),
            size: job.processes.saturating_mul(threads),
            threads,
            sharers: variable(SHARERS)?.or_else(|| sharers(threads, local_processes)),
            session: variable(SESSION)?,
            origin: Origin::Job(job),
        }))
    }

    /// Like [`of_this_process`](Self::of_this_process), but it is an error if no launcher has set
    /// the variables, or if they describe ranks that the world does not have.
    pub(super) fn require() -> Result<Self, WorldError> {
        let process = match Self::of_this_process()? {
            None => Self::of_launcher()?,
            process => process,
        };
        let process = process.ok_or_else(|| WorldError::Environment {
            variable: RANK,
            problem: "is not set, nor are those of another launcher".to_owned(),
        })?;
        check_size(process.size)?;
        let left = process.size.saturating_sub(process.rank);
        if left == 0 {
            let (rank, size) = (process.rank, process.size);
            return Err(WorldError::NoRank { rank, size });
        }
        if (1..=left).contains(&process.threads) {
            return Ok(process);
        }
        Err(WorldError::Environment {
            variable: THREADS,
            problem: format!(
                "is {}, but the world has {left} ranks from {} on",
                process.threads, process.rank
            ),
        })
    }

    /// Returns an error if the environment has another number than this program.
    pub(super) fn check(
        variable: &'static str,
        whereabouts: u32,
        asked: u32,
    ) -> Result<(), WorldError> {
        if whereabouts == asked {
            return Ok(());
        }
        Err(WorldError::Environment {
            variable,
            problem: format!("is {whereabouts}, but this program asks for {asked}"),
        })
    }

    /// Returns the options with the session of the environment.
    fn options(&self, options: &WorldOptions) -> WorldOptions {
        let mut options = options.clone();
        // The launcher's session counts, because the other processes got the same one.
        options.session = self.session.or(options.session);
        let sharers = self.sharers.unwrap_or(self.threads);
        options.spin_among(sharers, self.sharers.is_some());
        options
    }

    /// Learns the addresses of rank 0. In its process, listens at them.
    pub(super) fn assemble(self, options: &WorldOptions) -> Result<Assembly, WorldError> {
        let mut options = self.options(options);
        let job = match self.origin {
            Origin::Addresses(addresses) if addresses.is_empty() => {
                return Err(WorldError::NoAddress);
            }
            Origin::Addresses(addresses) => {
                return Ok(Assembly {
                    addresses,
                    options,
                    meeting: None,
                });
            }
            Origin::Job(job) => job,
        };
        let until = Deadline::after(options.timeout);
        let exchange = Exchange::new(&job, options.session, until)?;
        if self.rank > 0 {
            let Announcement(announced) = exchange.obtain(&job, until)?;
            let (session, addresses) =
                announced.map_err(|reason| WorldError::Failed { rank: 0, reason })?;
            options.session = Some(session);
            return Ok(Assembly {
                addresses,
                options,
                meeting: None,
            });
        }
        let session = options.session.map_or_else(Session::new, Ok)?;
        options.session = Some(session);
        let opened = exchange.listen(&job);
        let opened = opened.and_then(|places| Meeting::open(&places, self.size, &options));
        let announced = opened.and_then(|meeting| {
            let whereabouts = Whereabouts {
                rank: 0,
                session,
                seen: &host_address(),
            };
            let public = meeting
                .addresses()
                .iter()
                .map(|place| whereabouts.public(place));
            let public: Vec<_> = public.collect::<Result<_, _>>()?;
            Ok((meeting, public))
        });
        let announcement = match &announced {
            Ok((_, public)) => Ok((session, public.clone())),
            Err(error) => Err(error.to_string()),
        };
        // The others learn of a failure, too.
        // Checked only after the error of the meeting, which explains more.
        let published = exchange.publish(&job, &Announcement(announcement), until);
        let (meeting, _) = announced?;
        Ok(Assembly {
            addresses: meeting.addresses().to_vec(),
            options,
            meeting: Some(AnnouncedMeeting {
                meeting,
                published: published?,
            }),
        })
    }

    /// Joins as the only rank of this process.
    pub(super) fn join(self, options: &WorldOptions) -> Result<World, WorldError> {
        Self::check(THREADS, self.threads, 1)?;
        let (rank, size) = (self.rank, self.size);
        check_size(size)?;
        let assembly = self.assemble(options)?;
        let seat = Seat::alone(rank, size, &assembly.options.rank);
        match assembly.meeting {
            Some(meeting) => meeting.join(seat),
            None => seat.join(&assembly.addresses, &assembly.options),
        }
    }
}

/// Returns the number of ranks that share the cores of this process, if a launcher may have bound
/// it to some of the cores of its host: its own ranks, or all ranks of the host if they do not fit
/// on all cores.
fn sharers(threads: u32, local_processes: Option<u32>) -> Option<u32> {
    let ranks = local_processes?.saturating_mul(threads);
    let online = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    // Without more ranks than processors, the system gives each process a processor of its own.
    let fits = ranks <= count_of(online.trim())?;
    Some(if fits { threads } else { ranks })
}

/// Counts the members of a list as Linux writes it: `0-3,7`.
fn count_of(list: &str) -> Option<u32> {
    let mut count = 0u32;
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

/// The environment of this process.
struct Environment;

impl Surroundings for Environment {
    fn variable(&self, name: &str) -> Option<String> {
        let value = env::var_os(name)?;
        Some(value.to_string_lossy().into_owned())
    }

    fn host(&self) -> String {
        host_name()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!(count_of("0"), Some(1));
        assert_eq!(count_of("0-3,7,9-10"), Some(7));
        for wrong in ["", "3-1", "a", "0-4294967295"] {
            assert_eq!(count_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ranks_that_fit_do_not_share() {
        assert_eq!(sharers(2, None), None);
        assert_eq!(sharers(1, Some(1)), Some(1));
        assert_eq!(sharers(2, Some(1 << 20)), Some(2 << 20));
    }
}
