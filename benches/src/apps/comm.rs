//! The operations that kernels over messages use, for ranks of this toolkit and of MPI libraries.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::Failure;

/// Communicator. All data are bytes, so that the trait can be used as `dyn Comm`; the functions of
/// this module take numbers.
pub(in crate::apps) trait Comm {
    fn rank(&self) -> usize;

    fn size(&self) -> usize;

    fn send_bytes(&self, to: usize, sent: &[u8]) -> Result<(), Failure>;

    /// Receives a message of the length of `received`.
    fn recv_bytes(&self, from: usize, received: &mut [u8]) -> Result<(), Failure>;

    /// Sends to the rank `to` and receives from the rank `from` at the same time. A side that is
    /// `None` does nothing.
    fn sendrecv_bytes(
        &self,
        to: Option<usize>,
        sent: &[u8],
        from: Option<usize>,
        received: &mut [u8],
    ) -> Result<(), Failure>;

    /// Collects the data of all ranks at all ranks, in the order of the ranks. `counts` has the
    /// number of bytes of each rank.
    fn all_gather_bytes(
        &self,
        sent: &[u8],
        counts: &[usize],
        received: &mut [u8],
    ) -> Result<(), Failure>;
}

/// Like [`Comm::send_bytes`] for numbers and structs of them.
pub(in crate::apps) fn send<T: IntoBytes + Immutable>(
    comm: &dyn Comm,
    to: usize,
    sent: &[T],
) -> Result<(), Failure> {
    comm.send_bytes(to, sent.as_bytes())
}

/// Like [`Comm::recv_bytes`] for numbers and structs of them.
pub(in crate::apps) fn recv<T: IntoBytes + FromBytes>(
    comm: &dyn Comm,
    from: usize,
    received: &mut [T],
) -> Result<(), Failure> {
    comm.recv_bytes(from, received.as_mut_bytes())
}

/// Like [`Comm::sendrecv_bytes`] for numbers and structs of them.
pub(in crate::apps) fn sendrecv<T: IntoBytes + FromBytes + Immutable>(
    comm: &dyn Comm,
    to: Option<usize>,
    sent: &[T],
    from: Option<usize>,
    received: &mut [T],
) -> Result<(), Failure> {
    comm.sendrecv_bytes(to, sent.as_bytes(), from, received.as_mut_bytes())
}

/// Like [`Comm::all_gather_bytes`] for numbers and structs of them. `counts` has the number of
/// elements of each rank.
pub(in crate::apps) fn all_gather<T: IntoBytes + FromBytes + Immutable>(
    comm: &dyn Comm,
    sent: &[T],
    counts: &[usize],
    received: &mut [T],
) -> Result<(), Failure> {
    let counts: Vec<_> = counts.iter().map(|count| count * size_of::<T>()).collect();
    comm.all_gather_bytes(sent.as_bytes(), &counts, received.as_mut_bytes())
}
