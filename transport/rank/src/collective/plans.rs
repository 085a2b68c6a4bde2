//! Plans of collective operations: what a rank has to know to take part, apart from its memory.

use std::borrow::Cow;
use std::sync::Arc;

use jstream_collective::{Algorithm, Blocks, Collective, Schedule, ScheduleError};

use super::call::{Call, NO_ROOT, UNEQUAL};
use super::kept::{KeptPlan, PlanKey};
use crate::element::{Element, descriptor};
use crate::error::Error;
use crate::member::Rank;
use crate::operation::Operation;

/// A numbered operation and the steps of this rank, or the error of the arguments, of which the
/// other ranks have been told.
pub(super) type Plan<'c> = Result<(Call, Cow<'c, Arc<Schedule>>), Error>;

/// Makes the plans of the collective operations of a rank.
#[derive(Clone, Copy)]
pub(super) struct Plans<'r>(pub(super) &'r Rank);

impl<'r> Plans<'r> {
    pub(super) fn barrier(self) -> Plan<'r> {
        let key = self.key::<u8>(Collective::Barrier, NO_ROOT, 0);
        self.plan::<u8>(key, 0, |_| Ok(Schedule::barrier(self.0.position())))
    }

    pub(super) fn broadcast<E: Element>(self, root: u32, count: usize) -> Plan<'r> {
        let key = self.key::<E>(Collective::Broadcast, root, count);
        self.plan::<E>(key, count, |algorithm| {
            Schedule::broadcast(self.0.position(), root as usize, count, algorithm)
        })
    }

    pub(super) fn scatter<E: Element>(self, root: u32, received: usize) -> Plan<'r> {
        let collective = Collective::Scatter;
        let at = self.0.position();
        let blocks = self
            .0
            .arguments(collective, Blocks::equal(at.size, received))?;
        let key = self.key::<E>(collective, root, received);
        self.plan::<E>(key, blocks.total(), |algorithm| {
            Schedule::scatter(at, root as usize, &blocks, algorithm)
        })
    }

    pub(super) fn scatter_v<E: Element>(
        self,
        root: u32,
        counts: &[usize],
        received: usize,
    ) -> Plan<'r> {
        let collective = Collective::Scatter;
        let blocks = self.blocks_of_root(root, counts, received);
        let blocks = self.0.arguments(collective, blocks)?;
        let algorithm = Algorithm::Direct;
        let schedule = Schedule::scatter(self.0.position(), root as usize, &blocks, algorithm);
        let schedule = self.0.arguments(collective, schedule)?;
        let call = self.0.call::<E>(collective, algorithm, root, UNEQUAL);
        Ok((call, owned(schedule)))
    }

    pub(super) fn gather<E: Element>(self, root: u32, sent: usize) -> Plan<'r> {
        let collective = Collective::Gather;
        let at = self.0.position();
        let blocks = self.0.arguments(collective, Blocks::equal(at.size, sent))?;
        let key = self.key::<E>(collective, root, sent);
        self.plan::<E>(key, blocks.total(), |algorithm| {
            Schedule::gather(at, root as usize, &blocks, algorithm)
        })
    }

    pub(super) fn gather_v<E: Element>(self, root: u32, counts: &[usize], sent: usize) -> Plan<'r> {
        let collective = Collective::Gather;
        let blocks = self.blocks_of_root(root, counts, sent);
        let blocks = self.0.arguments(collective, blocks)?;
        let algorithm = Algorithm::Direct;
        let schedule = Schedule::gather(self.0.position(), root as usize, &blocks, algorithm);
        let schedule = self.0.arguments(collective, schedule)?;
        let call = self.0.call::<E>(collective, algorithm, root, UNEQUAL);
        Ok((call, owned(schedule)))
    }

    pub(super) fn all_gather<E: Element>(self, sent: usize) -> Plan<'r> {
        let collective = Collective::AllGather;
        let at = self.0.position();
        let blocks = self.0.arguments(collective, Blocks::equal(at.size, sent))?;
        let total = blocks.total();
        let key = self.key::<E>(collective, NO_ROOT, total);
        self.plan::<E>(key, total, |algorithm| {
            Schedule::all_gather(at, &blocks, algorithm)
        })
    }

    pub(super) fn all_gather_v<E: Element>(self, counts: &[usize]) -> Plan<'r> {
        let collective = Collective::AllGather;
        let blocks = self
            .0
            .arguments(collective, Blocks::of(counts.iter().copied()))?;
        let bytes = bytes_of::<E>(blocks.total());
        let algorithm = self.0.algorithm_of(collective, bytes, true)?;
        let schedule = Schedule::all_gather(self.0.position(), &blocks, algorithm);
        let schedule = self.0.arguments(collective, schedule)?;
        let call = self
            .0
            .call::<E>(collective, algorithm, NO_ROOT, blocks.total());
        Ok((call, owned(schedule)))
    }

    pub(super) fn reduce<E: Element, O: Operation<E>>(self, root: u32, count: usize) -> Plan<'r> {
        let is_commutative = O::IS_COMMUTATIVE;
        let key = PlanKey {
            is_commutative,
            ..self.key::<E>(Collective::Reduce, root, count)
        };
        self.plan::<E>(key, count, |algorithm| {
            let at = self.0.position();
            Schedule::reduce(at, root as usize, count, is_commutative, algorithm)
        })
    }

    pub(super) fn all_reduce<E: Element, O: Operation<E>>(self, count: usize) -> Plan<'r> {
        let is_commutative = O::IS_COMMUTATIVE;
        let key = PlanKey {
            is_commutative,
            ..self.key::<E>(Collective::AllReduce, NO_ROOT, count)
        };
        self.plan::<E>(key, count, |algorithm| {
            Schedule::all_reduce(self.0.position(), count, is_commutative, algorithm)
        })
    }

    pub(super) fn scan<E: Element, O: Operation<E>>(self, count: usize) -> Plan<'r> {
        let schedule = Schedule::scan(self.0.position(), count);
        self.scan_of::<E, O>(Collective::Scan, schedule, count)
    }

    pub(super) fn exclusive_scan<E: Element, O: Operation<E>>(self, count: usize) -> Plan<'r> {
        let schedule = Schedule::exclusive_scan(self.0.position(), count);
        self.scan_of::<E, O>(Collective::ExclusiveScan, schedule, count)
    }

    fn scan_of<E: Element, O: Operation<E>>(
        self,
        collective: Collective,
        schedule: Result<Schedule, ScheduleError>,
        count: usize,
    ) -> Plan<'r> {
        let bytes = bytes_of::<E>(count);
        let algorithm = self.0.algorithm_of(collective, bytes, O::IS_COMMUTATIVE)?;
        let schedule = self.0.arguments(collective, schedule)?;
        let call = self.0.call::<E>(collective, algorithm, NO_ROOT, count);
        Ok((ordered::<E, O>(call), owned(schedule)))
    }

    pub(super) fn reduce_scatter<E: Element, O: Operation<E>>(self, received: usize) -> Plan<'r> {
        let blocks = Blocks::equal(self.0.position().size, received);
        self.reduce_scatter_of::<E, O>(blocks)
    }

    pub(super) fn reduce_scatter_v<E: Element, O: Operation<E>>(
        self,
        counts: &[usize],
    ) -> Plan<'r> {
        self.reduce_scatter_of::<E, O>(Blocks::of(counts.iter().copied()))
    }

    fn reduce_scatter_of<E: Element, O: Operation<E>>(
        self,
        blocks: Result<Blocks, ScheduleError>,
    ) -> Plan<'r> {
        let collective = Collective::ReduceScatter;
        let blocks = self.0.arguments(collective, blocks)?;
        let is_commutative = O::IS_COMMUTATIVE;
        let bytes = bytes_of::<E>(blocks.total());
        let algorithm = self.0.algorithm_of(collective, bytes, is_commutative)?;
        let at = self.0.position();
        let schedule = Schedule::reduce_scatter(at, &blocks, is_commutative, algorithm);
        let schedule = self.0.arguments(collective, schedule)?;
        let call = self
            .0
            .call::<E>(collective, algorithm, NO_ROOT, blocks.total());
        Ok((ordered::<E, O>(call), owned(schedule)))
    }

    pub(super) fn all_to_all<E: Element>(self, sent: usize) -> Plan<'r> {
        let collective = Collective::AllToAll;
        let size = self.0.position().size;
        let count = sent.checked_div(size).unwrap_or(0);
        let blocks = self.0.arguments(collective, Blocks::equal(size, count))?;
        let key = self.key::<E>(collective, NO_ROOT, count);
        self.plan::<E>(key, blocks.total(), |algorithm| {
            Schedule::all_to_all(self.0.position(), &blocks, &blocks, algorithm)
        })
    }

    pub(super) fn all_to_all_v<E: Element>(
        self,
        sent_counts: &[usize],
        received_counts: &[usize],
    ) -> Plan<'r> {
        let collective = Collective::AllToAll;
        let sent = self
            .0
            .arguments(collective, Blocks::of(sent_counts.iter().copied()))?;
        let received = self
            .0
            .arguments(collective, Blocks::of(received_counts.iter().copied()))?;
        // The choice must not depend on the counts, which differ between ranks.
        let algorithm = if self.0.position().size <= 8 {
            Algorithm::Direct
        } else {
            Algorithm::Pairwise
        };
        let schedule = Schedule::all_to_all(self.0.position(), &sent, &received, algorithm);
        let schedule = self.0.arguments(collective, schedule)?;
        let call = self.0.call::<E>(collective, algorithm, NO_ROOT, UNEQUAL);
        Ok((call, owned(schedule)))
    }

    fn key<E: Element>(self, collective: Collective, root: u32, count: usize) -> PlanKey {
        PlanKey {
            collective,
            algorithm: self.0.algorithm(),
            root,
            count,
            element: descriptor::<E>(),
            is_commutative: true,
        }
    }

    /// Returns the plan for these arguments, which the communicator may have kept. The choice of
    /// the algorithm goes by the `total` number of elements.
    #[inline]
    fn plan<E: Element>(
        self,
        key: PlanKey,
        total: usize,
        make: impl FnOnce(Algorithm) -> Result<Schedule, ScheduleError>,
    ) -> Plan<'r> {
        if let Some(plan) = self.0.communicator().plans.find(&key) {
            let call = Call::described::<E>(self.0, key.collective, plan.descriptor);
            return Ok((call, Cow::Borrowed(&plan.schedule)));
        }
        self.make_plan::<E>(key, total, make)
    }

    #[cold]
    fn make_plan<E: Element>(
        self,
        key: PlanKey,
        total: usize,
        make: impl FnOnce(Algorithm) -> Result<Schedule, ScheduleError>,
    ) -> Plan<'r> {
        let PlanKey {
            collective,
            root,
            count,
            is_commutative,
            ..
        } = key;
        let algorithm = self
            .0
            .algorithm_of(collective, bytes_of::<E>(total), is_commutative)?;
        let schedule = Arc::new(self.0.arguments(collective, make(algorithm))?);
        let call = self.0.call::<E>(collective, algorithm, root, count);
        let call = if is_commutative {
            call
        } else {
            call.in_order()
        };
        let descriptor = call.descriptor();
        let plan = KeptPlan {
            descriptor,
            schedule,
        };
        self.0.communicator().plans.keep(key, &plan);
        Ok((call, Cow::Owned(plan.schedule)))
    }

    /// Returns the blocks of a scatter or gather with counts, which only the root knows.
    fn blocks_of_root(
        self,
        root: u32,
        counts: &[usize],
        own: usize,
    ) -> Result<Blocks, ScheduleError> {
        let own_rank = self.0.rank();
        if own_rank == root {
            return Blocks::of(counts.iter().copied());
        }
        Blocks::of((0..self.0.size()).map(|rank| if rank == own_rank { own } else { 0 }))
    }
}

/// Returns a schedule that is not kept.
fn owned(schedule: Schedule) -> Cow<'static, Arc<Schedule>> {
    Cow::Owned(Arc::new(schedule))
}

/// Returns the call of an operation whose operands may have to keep their order.
fn ordered<E: Element, O: Operation<E>>(call: Call) -> Call {
    if O::IS_COMMUTATIVE {
        call
    } else {
        call.in_order()
    }
}

fn bytes_of<E>(count: usize) -> usize {
    count.saturating_mul(size_of::<E>())
}
