//! Worlds of threads.

use std::panic::resume_unwind;
use std::thread;

use super::World;
use super::error::WorldError;
use super::meeting::Meeting;
use super::options::WorldOptions;
use crate::address::Address;

impl World {
    /// Runs `work` in `size` threads, each a rank of one world that is connected over `addresses`, and
    /// finishes each world. What they returned, by rank.
    ///
    /// # Panics
    ///
    /// As soon as all have ended when one panicked, with what that one did. Its connections end, so the others
    /// don't wait for it.
    ///
    /// # Errors
    ///
    /// [`WorldError`] when there is no world, or it did not end properly.
    pub fn threads_over<R: Send>(
        addresses: &[Address],
        size: u32,
        options: &WorldOptions,
        work: impl Fn(&Self) -> R + Sync,
    ) -> Result<Vec<R>, WorldError> {
        let meeting = Meeting::open(addresses, size, options)?;
        let mut options = options.clone();
        options.session = Some(meeting.session());
        let at = meeting.addresses().to_vec();
        let member = |world: Result<Self, WorldError>| {
            let world = world?;
            let result = work(&world);
            world.finish().map(|()| result)
        };
        let ends = thread::scope(|scope| {
            let (at, options, member) = (&at, &options, &member);
            let others = (1..size).map(|rank| {
                scope.spawn(move || member(Self::join_cheapest(at, rank, size, options)))
            });
            let others: Vec<_> = others.collect();
            let first = scope.spawn(move || member(meeting.join()));
            let all = [first].into_iter().chain(others);
            all.map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        let mut results = Vec::with_capacity(ends.len());
        let mut failed = None;
        let mut panicked = None;
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
}
