//! Worlds of threads.

use std::panic::resume_unwind;
use std::thread;

use super::error::WorldError;
use super::handle::World;
use super::limits::check_size;
use super::meeting::Meeting;
use super::options::WorldOptions;
use super::session::Session;
use super::site::Site;
use jstream_base::Address;

impl World {
    /// Runs `work` in `size` threads, each of which is a rank of one world, and finishes each rank.
    /// Returns the results by rank. The ranks reach each other directly, without connections.
    ///
    /// ```
    /// use jstream_transport::rank::world::{World, WorldError, WorldOptions};
    ///
    /// # fn main() -> Result<(), WorldError> {
    /// let sums = World::threads(3, &WorldOptions::default(), |world| {
    ///     let (next, before) = ((world.rank() + 1) % 3, (world.rank() + 2) % 3);
    ///     let mut number = [0];
    ///     world.sendrecv(next, 7, &[world.rank()], before, 7, &mut number).unwrap();
    ///     number[0] + world.rank()
    /// })?;
    /// assert_eq!(sums, [2, 1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If one of the threads panics, resumes the panic after all have ended. The other threads see
    /// the rank as gone, and do not wait for it.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if a rank did not end properly.
    pub fn threads<R: Send>(
        size: u32,
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        check_size(size)?;
        let mut options = options.clone();
        options.spin_among(size, true);
        let worlds = crate::threads(size, &options.rank).into_iter();
        let site = Site {
            session: Session::new()?,
            seen: String::new(),
            given: vec![Address::inproc("threads")?],
            members: [].into(),
            transport: options.transport.clone(),
            timeout: options.timeout,
        };
        let worlds = worlds.map(|rank| {
            let world = Self::of(rank, site.clone(), &options);
            move || Ok(world)
        });
        run(worlds.collect(), &work)
    }

    /// Like [`threads`](Self::threads), but connected over `addresses`, as processes are.
    ///
    /// # Panics
    ///
    /// As for [`threads`](Self::threads).
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the world can't be created, or a rank did not end properly.
    pub fn threads_over<R: Send>(
        addresses: &[Address],
        size: u32,
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        let meeting = Meeting::open(addresses, size, options)?;
        let mut options = options.clone();
        options.session = Some(meeting.session());
        options.spin_among(size, true);
        let addresses = meeting.addresses().to_vec();
        let mut meeting = Some(meeting);
        let joining = (0..size).map(|rank| {
            let (addresses, options) = (&addresses, &options);
            let meeting = meeting.take();
            move || match meeting {
                Some(meeting) => meeting.join(),
                None => Self::join_cheapest(addresses, rank, size, options),
            }
        });
        run(joining.collect(), &work)
    }
}

/// Runs each member in its own thread: creates its world, runs `work`, and finishes the world.
pub(super) fn run<R: Send>(
    makes: Vec<impl FnOnce() -> Result<World, WorldError> + Send>,
    work: &(impl Fn(&World) -> R + Sync),
) -> Result<Vec<R>, WorldError> {
    let ends = thread::scope(|scope| {
        let members = makes.into_iter().map(|make| {
            scope.spawn(move || {
                let world = make()?;
                let result = work(&world);
                world.finish().map(|()| result)
            })
        });
        let members: Vec<_> = members.collect();
        let ends = members.into_iter().map(thread::ScopedJoinHandle::join);
        ends.collect::<Vec<_>>()
    });
    let mut results = Vec::with_capacity(ends.len());
    let (mut failed, mut panicked) = (None, None);
    for end in ends {
        match end {
            Ok(Ok(result)) => results.push(result),
            Ok(Err(error)) => failed = failed.or(Some(error)),
            Err(panic) => panicked = panicked.or(Some(panic)),
        }
    }
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
    failed.map_or(Ok(results), Err)
}
