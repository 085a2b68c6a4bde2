//! Plans of collective operations: what a rank has to know to take part, apart from its memory.

use std::sync::Arc;

use jstream_collective::{Algorithm, Blocks, Collective, Schedule, ScheduleError};

use super::call::{Call, NO_ROOT, UNEQUAL};
use super::kept::ScheduleKey;
use crate::element::Element;
use crate::error::Error;
use crate::member::Rank;
use crate::operation::Operation;

/// A numbered operation and the steps of this rank, or the error of the arguments, of which the
/// other ranks have been told.
pub(super) type Plan = Result<(Call, Arc<Schedule>), Error>;

impl Rank {
    pub(super) fn barrier_plan(&self) -> Plan {
        let collective = Collective::Barrier;
        let algorithm = self.algorithm_of(collective, 0, true)?;
        let key = self.key(collective, algorithm, NO_ROOT, 0);
        let schedule = self.kept(key, || Ok(Schedule::barrier(self.position())))?;
        Ok((self.call::<u8>(collective, algorithm, NO_ROOT, 0), schedule))
    }

    pub(super) fn broadcast_plan<E: Element>(&self, root: u32, count: usize) -> Plan {
        let collective = Collective::Broadcast;
        let algorithm = self.algorithm_of(collective, bytes_of::<E>(count), true)?;
        let key = self.key(collective, algorithm, root, count);
        let schedule = self.kept(key, || {
            Schedule::broadcast(self.position(), root as usize, count, algorithm)
        })?;
        Ok((self.call::<E>(collective, algorithm, root, count), schedule))
    }

    pub(super) fn scatter_plan<E: Element>(&self, root: u32, received: usize) -> Plan {
        let collective = Collective::Scatter;
        let at = self.position();
        let blocks = self.arguments(collective, Blocks::equal(at.size, received))?;
        let bytes = bytes_of::<E>(blocks.total());
        let algorithm = self.algorithm_of(collective, bytes, true)?;
        let key = self.key(collective, algorithm, root, received);
        let schedule = self.kept(key, || {
            Schedule::scatter(at, root as usize, &blocks, algorithm)
        })?;
        let call = self.call::<E>(collective, algorithm, root, received);
        Ok((call, schedule))
    }

    pub(super) fn scatter_v_plan<E: Element>(
        &self,
        root: u32,
        counts: &[usize],
        received: usize,
    ) -> Plan {
        let collective = Collective::Scatter;
        let blocks = self.blocks_of_root(root, counts, received);
        let blocks = self.arguments(collective, blocks)?;
        let algorithm = Algorithm::Direct;
        let schedule = Schedule::scatter(self.position(), root as usize, &blocks, algorithm);
        let schedule = Arc::new(self.arguments(collective, schedule)?);
        let call = self.call::<E>(collective, algorithm, root, UNEQUAL);
        Ok((call, schedule))
    }

    pub(super) fn gather_plan<E: Element>(&self, root: u32, sent: usize) -> Plan {
        let collective = Collective::Gather;
        let at = self.position();
        let blocks = self.arguments(collective, Blocks::equal(at.size, sent))?;
        let bytes = bytes_of::<E>(blocks.total());
        let algorithm = self.algorithm_of(collective, bytes, true)?;
        let key = self.key(collective, algorithm, root, sent);
        let schedule = self.kept(key, || {
            Schedule::gather(at, root as usize, &blocks, algorithm)
        })?;
        let call = self.call::<E>(collective, algorithm, root, sent);
        Ok((call, schedule))
    }

    pub(super) fn gather_v_plan<E: Element>(
        &self,
        root: u32,
        counts: &[usize],
        sent: usize,
    ) -> Plan {
        let collective = Collective::Gather;
        let blocks = self.blocks_of_root(root, counts, sent);
        let blocks = self.arguments(collective, blocks)?;
        let algorithm = Algorithm::Direct;
        let schedule = Schedule::gather(self.position(), root as usize, &blocks, algorithm);
        let schedule = Arc::new(self.arguments(collective, schedule)?);
        let call = self.call::<E>(collective, algorithm, root, UNEQUAL);
        Ok((call, schedule))
    }

    pub(super) fn all_gather_plan<E: Element>(&self, sent: usize) -> Plan {
        self.all_gather_of::<E>(Blocks::equal(self.position().size, sent), true)
    }

    pub(super) fn all_gather_v_plan<E: Element>(&self, counts: &[usize]) -> Plan {
        self.all_gather_of::<E>(Blocks::of(counts.iter().copied()), false)
    }

    fn all_gather_of<E: Element>(
        &self,
        blocks: Result<Blocks, ScheduleError>,
        is_equal: bool,
    ) -> Plan {
        let collective = Collective::AllGather;
        let blocks = self.arguments(collective, blocks)?;
        let bytes = bytes_of::<E>(blocks.total());
        let algorithm = self.algorithm_of(collective, bytes, true)?;
        let make = || Schedule::all_gather(self.position(), &blocks, algorithm);
        let schedule = if is_equal {
            self.kept(
                self.key(collective, algorithm, NO_ROOT, blocks.total()),
                make,
            )?
        } else {
            Arc::new(self.arguments(collective, make())?)
        };
        let call = self.call::<E>(collective, algorithm, NO_ROOT, blocks.total());
        Ok((call, schedule))
    }

    pub(super) fn reduce_plan<E: Element, O: Operation<E>>(&self, root: u32, count: usize) -> Plan {
        let collective = Collective::Reduce;
        let is_commutative = O::IS_COMMUTATIVE;
        let algorithm = self.algorithm_of(collective, bytes_of::<E>(count), is_commutative)?;
        let at = self.position();
        let key = ScheduleKey {
            is_commutative,
            ..self.key(collective, algorithm, root, count)
        };
        let schedule = self.kept(key, || {
            Schedule::reduce(at, root as usize, count, is_commutative, algorithm)
        })?;
        let call = self.call::<E>(collective, algorithm, root, count);
        Ok((ordered::<E, O>(call), schedule))
    }

    pub(super) fn all_reduce_plan<E: Element, O: Operation<E>>(&self, count: usize) -> Plan {
        let collective = Collective::AllReduce;
        let is_commutative = O::IS_COMMUTATIVE;
        let algorithm = self.algorithm_of(collective, bytes_of::<E>(count), is_commutative)?;
        let key = ScheduleKey {
            is_commutative,
            ..self.key(collective, algorithm, NO_ROOT, count)
        };
        let schedule = self.kept(key, || {
            Schedule::all_reduce(self.position(), count, is_commutative, algorithm)
        })?;
        let call = self.call::<E>(collective, algorithm, NO_ROOT, count);
        Ok((ordered::<E, O>(call), schedule))
    }

    pub(super) fn scan_plan<E: Element, O: Operation<E>>(&self, count: usize) -> Plan {
        let schedule = Schedule::scan(self.position(), count);
        self.scan_of::<E, O>(Collective::Scan, schedule, count)
    }

    pub(super) fn exclusive_scan_plan<E: Element, O: Operation<E>>(&self, count: usize) -> Plan {
        let schedule = Schedule::exclusive_scan(self.position(), count);
        self.scan_of::<E, O>(Collective::ExclusiveScan, schedule, count)
    }

    fn scan_of<E: Element, O: Operation<E>>(
        &self,
        collective: Collective,
        schedule: Result<Schedule, ScheduleError>,
        count: usize,
    ) -> Plan {
        let bytes = bytes_of::<E>(count);
        let algorithm = self.algorithm_of(collective, bytes, O::IS_COMMUTATIVE)?;
        let schedule = Arc::new(self.arguments(collective, schedule)?);
        let call = self.call::<E>(collective, algorithm, NO_ROOT, count);
        Ok((ordered::<E, O>(call), schedule))
    }

    pub(super) fn reduce_scatter_plan<E: Element, O: Operation<E>>(&self, received: usize) -> Plan {
        let blocks = Blocks::equal(self.position().size, received);
        self.reduce_scatter_of::<E, O>(blocks)
    }

    pub(super) fn reduce_scatter_v_plan<E: Element, O: Operation<E>>(
        &self,
        counts: &[usize],
    ) -> Plan {
        self.reduce_scatter_of::<E, O>(Blocks::of(counts.iter().copied()))
    }

    fn reduce_scatter_of<E: Element, O: Operation<E>>(
        &self,
        blocks: Result<Blocks, ScheduleError>,
    ) -> Plan {
        let collective = Collective::ReduceScatter;
        let blocks = self.arguments(collective, blocks)?;
        let is_commutative = O::IS_COMMUTATIVE;
        let bytes = bytes_of::<E>(blocks.total());
        let algorithm = self.algorithm_of(collective, bytes, is_commutative)?;
        let at = self.position();
        let schedule = Schedule::reduce_scatter(at, &blocks, is_commutative, algorithm);
        let schedule = Arc::new(self.arguments(collective, schedule)?);
        let call = self.call::<E>(collective, algorithm, NO_ROOT, blocks.total());
        Ok((ordered::<E, O>(call), schedule))
    }

    pub(super) fn all_to_all_plan<E: Element>(&self, sent: usize) -> Plan {
        let collective = Collective::AllToAll;
        let size = self.position().size;
        let count = sent.checked_div(size).unwrap_or(0);
        let blocks = self.arguments(collective, Blocks::equal(size, count))?;
        let algorithm = self.algorithm_of(collective, bytes_of::<E>(sent), true)?;
        let key = self.key(collective, algorithm, NO_ROOT, count);
        let schedule = self.kept(key, || {
            Schedule::all_to_all(self.position(), &blocks, &blocks, algorithm)
        })?;
        let call = self.call::<E>(collective, algorithm, NO_ROOT, count);
        Ok((call, schedule))
    }

    pub(super) fn all_to_all_v_plan<E: Element>(
        &self,
        sent_counts: &[usize],
        received_counts: &[usize],
    ) -> Plan {
        let collective = Collective::AllToAll;
        let sent = self.arguments(collective, Blocks::of(sent_counts.iter().copied()))?;
        let received = self.arguments(collective, Blocks::of(received_counts.iter().copied()))?;
        // The choice must not depend on the counts, which differ between ranks.
        let algorithm = if self.position().size <= 8 {
            Algorithm::Direct
        } else {
            Algorithm::Pairwise
        };
        let schedule = Schedule::all_to_all(self.position(), &sent, &received, algorithm);
        let schedule = Arc::new(self.arguments(collective, schedule)?);
        let call = self.call::<E>(collective, algorithm, NO_ROOT, UNEQUAL);
        Ok((call, schedule))
    }

    fn key(
        &self,
        collective: Collective,
        algorithm: Algorithm,
        root: u32,
        count: usize,
    ) -> ScheduleKey {
        ScheduleKey {
            collective,
            algorithm,
            root,
            count,
            is_commutative: true,
        }
    }

    /// Returns the schedule for these arguments, which the communicator may have kept.
    fn kept(
        &self,
        key: ScheduleKey,
        make: impl FnOnce() -> Result<Schedule, ScheduleError>,
    ) -> Result<Arc<Schedule>, Error> {
        let schedule = self.communicator().schedules.get(key, make);
        self.arguments(key.collective, schedule)
    }

    /// Returns the blocks of a scatter or gather with counts, which only the root knows.
    fn blocks_of_root(
        &self,
        root: u32,
        counts: &[usize],
        own: usize,
    ) -> Result<Blocks, ScheduleError> {
        let own_rank = self.rank();
        if own_rank == root {
            return Blocks::of(counts.iter().copied());
        }
        Blocks::of((0..self.size()).map(|rank| if rank == own_rank { own } else { 0 }))
    }
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
