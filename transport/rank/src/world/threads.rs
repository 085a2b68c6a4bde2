//! Worlds of threads.

use std::panic::resume_unwind;
use std::thread;

use super::error::WorldError;
use super::handle::World;

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
        // Collected first, so that all threads run before the first of them is joined.
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
    // A panic is the likely cause of errors at the other ranks.
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
    failed.map_or(Ok(results), Err)
}
