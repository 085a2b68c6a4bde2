//! Variables with a value for each rank.
//!
//! Decision 106 has the reasons.

use super::member::Rank;

/// A variable with one value for each rank, made by [`rank_local!`](crate::rank_local).
///
/// The value of a rank is created when the rank first uses the variable, and dropped after the last
/// handle of the rank. All communicators of the rank have the same value.
pub struct RankLocal<T: 'static> {
    initial: fn() -> T,
}

impl<T: Send + Sync + 'static> RankLocal<T> {
    /// Creates a variable. `initial` returns the first value for each rank.
    #[must_use]
    pub const fn new(initial: fn() -> T) -> Self {
        Self { initial }
    }

    /// Returns the value of a rank, which the first call creates. Other threads that use the value
    /// meanwhile wait.
    ///
    /// If the creation panics, the next call tries again. A value that holds a handle of its own
    /// rank keeps that rank alive for ever.
    pub fn get<'rank>(&'static self, rank: &'rank Rank) -> &'rank T {
        let variable = (&raw const *self).addr();
        rank.node().locals.cell(variable).get_or_init(self.initial)
    }
}

/// Declares variables that have one value for each rank.
///
/// A `static` is one variable for all ranks that are threads of a process, and a
/// [`thread_local!`](std::thread_local) is another one in each thread that a rank starts. A
/// variable of this macro belongs to the rank in every kind of [world](crate::world), and in all threads of
/// the rank. [`RankLocal::get`] names the rank by any of its handles: a `Rank`, a
/// [`World`](crate::world::World), or a communicator that was [split](Rank::split) from it.
///
/// Several threads may use a rank, so the type is [`Sync`]: an atomic, a
/// [`Mutex`](std::sync::Mutex), or a value that does not change.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use jstream_transport::rank::world::{World, WorldError, WorldOptions};
/// use jstream_transport::rank::{Rank, rank_local};
///
/// rank_local! {
///     /// Number of steps that the rank has done.
///     static STEPS: AtomicU32 = AtomicU32::new(0);
/// }
///
/// fn step(rank: &Rank) {
///     STEPS.get(rank).fetch_add(1, Ordering::Relaxed);
/// }
///
/// # fn main() -> Result<(), WorldError> {
/// let steps = World::threads(3, &WorldOptions::default(), |world| {
///     std::thread::scope(|scope| {
///         for _ in 0..world.rank() {
///             scope.spawn(|| step(world));
///         }
///     });
///     STEPS.get(world).load(Ordering::Relaxed)
/// })?;
/// assert_eq!(steps, [0, 1, 2]);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! rank_local {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis static $name:ident: $type:ty = $initial:expr
    );* $(;)?) => {$(
        $(#[$attribute])*
        $visibility static $name: $crate::RankLocal<$type> =
            $crate::RankLocal::new(|| -> $type { $initial });
    )*};
}
