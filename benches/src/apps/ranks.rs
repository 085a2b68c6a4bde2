//! The communicator of kernels over the ranks of this toolkit.

use jstream_transport::rank::{Destination, Rank, Source};

use super::comm::Comm;
use crate::Failure;

impl Comm for Rank {
    fn rank(&self) -> usize {
        Self::rank(self) as usize
    }

    fn size(&self) -> usize {
        Self::size(self) as usize
    }

    fn send_bytes(&self, to: usize, sent: &[u8]) -> Result<(), Failure> {
        Ok(self.send(to as u32, 0, sent)?)
    }

    fn recv_bytes(&self, from: usize, received: &mut [u8]) -> Result<(), Failure> {
        let status = self.recv(from as u32, 0, received)?;
        if status.bytes != received.len() as u64 {
            let (found, expected) = (status.bytes, received.len());
            return Err(format!("rank {from} sent {found} bytes instead of {expected}").into());
        }
        Ok(())
    }

    fn sendrecv_bytes(
        &self,
        to: Option<usize>,
        sent: &[u8],
        from: Option<usize>,
        received: &mut [u8],
    ) -> Result<(), Failure> {
        let to = to.map_or(Destination::Null, |rank| (rank as u32).into());
        let from = from.map_or(Source::Null, |rank| (rank as u32).into());
        self.sendrecv(to, 0, sent, from, 0, received)?;
        Ok(())
    }

    fn all_gather_bytes(
        &self,
        sent: &[u8],
        counts: &[usize],
        received: &mut [u8],
    ) -> Result<(), Failure> {
        Ok(self.all_gather_v(sent, counts, received)?)
    }
}
