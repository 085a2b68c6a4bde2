//! The communicator of kernels over MPI.

use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use zerocopy::IntoBytes;

use super::comm::{Comm, all_gather};
use crate::Failure;

/// All ranks.
pub(super) struct World(pub(super) SimpleCommunicator);

impl World {
    /// Returns the numbers of all ranks at all ranks.
    pub(super) fn collect(&self, part: &[f64]) -> Result<Vec<f64>, Failure> {
        let mut counts = vec![0u64; self.size()];
        let own = [part.len() as u64];
        all_gather(self, &own, &vec![1; self.size()], &mut counts)?;
        let counts: Vec<_> = counts.into_iter().map(|count| count as usize).collect();
        let mut all = vec![0.0; counts.iter().sum()];
        all_gather(self, part, &counts, &mut all)?;
        Ok(all)
    }
}

impl Comm for World {
    fn rank(&self) -> usize {
        self.0.rank() as usize
    }

    fn size(&self) -> usize {
        self.0.size() as usize
    }

    fn send_bytes(&self, to: usize, sent: &[u8]) -> Result<(), Failure> {
        self.0.process_at_rank(to as i32).send(sent);
        Ok(())
    }

    fn recv_bytes(&self, from: usize, received: &mut [u8]) -> Result<(), Failure> {
        self.0.process_at_rank(from as i32).receive_into(received);
        Ok(())
    }

    fn sendrecv_bytes(
        &self,
        to: Option<usize>,
        sent: &[u8],
        from: Option<usize>,
        received: &mut [u8],
    ) -> Result<(), Failure> {
        let at = |rank: usize| self.0.process_at_rank(rank as i32);
        match (to, from) {
            (Some(to), Some(from)) => {
                mpi::point_to_point::send_receive_into(sent, &at(to), received, &at(from));
            }
            (Some(to), None) => at(to).send(sent),
            (None, Some(from)) => {
                at(from).receive_into(received);
            }
            (None, None) => {}
        }
        Ok(())
    }

    fn all_gather_bytes(
        &self,
        sent: &[u8],
        counts: &[usize],
        received: &mut [u8],
    ) -> Result<(), Failure> {
        let lengths: Vec<_> = counts.iter().map(|count| *count as i32).collect();
        let starts = lengths.iter().scan(0, |end, length| {
            let start = *end;
            *end += length;
            Some(start)
        });
        let starts: Vec<i32> = starts.collect();
        let mut received = PartitionMut::new(received.as_mut_bytes(), lengths, starts);
        self.0.all_gather_varcount_into(sent, &mut received);
        Ok(())
    }
}
