//! Coming from MPI.
//!
//! The example `coming_from_point_to_point` has the point-to-point examples of rsmpi, the bindings
//! of MPI for Rust, as a program for ranks. It is in `examples/coming_from/point_to_point.rs` and
//! has 178 lines of code, and the originals have 385 (`send_receive`, `immediate`, `ready_send`,
//! `wait_any`, `immediate_multiple_requests` and `immediate_multiple_test`):
//!
//! ```text
//! cargo run -p jstream-transport --example coming_from_point_to_point
//! ```
//!
//! # Side by side
//!
//! | MPI | rsmpi | here |
//! |---|---|---|
//! | `mpirun -n 4 program` | the same | [`World::processes`](crate::rank::world::World::processes) in the program; with a launcher, [`World::from_env`](crate::rank::world::World::from_env); see [worlds](super::worlds) |
//! | `MPI_Init`, `MPI_Finalize` | `mpi::initialize()`, and the end of its value | a constructor of [`World`](crate::rank::world::World), and [`finish`](crate::rank::world::World::finish) |
//! | `MPI_Comm_rank`, `MPI_Comm_size` | `world.rank()`, `world.size()` | [`rank`](crate::rank::Rank::rank), [`size`](crate::rank::Rank::size) |
//! | `MPI_Comm_dup`, `MPI_Comm_split` | `duplicate`, `split_by_color_with_key` | [`duplicate`](crate::rank::Rank::duplicate), [`split`](crate::rank::Rank::split) |
//! | `MPI_Group_union`, `MPI_Group_incl`, `MPI_Comm_create` | `Group`, `split_by_subgroup_collective` | [`Group`](crate::rank::Group), [`communicator`](crate::rank::Group::communicator) |
//! | `MPI_Cart_sub`, `MPI_Neighbor_alltoallw` on a grid | – | [`subgrid`](crate::rank::Cartesian::subgrid), [`halos`](crate::rank::Cartesian::halos) |
//! | `MPI_Cart_create`, `MPI_Cart_shift`, `MPI_Cart_coords` | `create_cartesian_communicator` | [`Cartesian::new`](crate::rank::Cartesian::new), [`shift`](crate::rank::Cartesian::shift), [`coordinates`](crate::rank::Cartesian::coordinates) |
//! | `MPI_Send`, `MPI_Recv` | `process_at_rank(1).send(&x)`, `receive_into(&mut y)` | [`send`](crate::rank::Rank::send), [`recv`](crate::rank::Rank::recv) |
//! | `MPI_Ssend`, `MPI_Rsend` | `synchronous_send`, `ready_send` | [`ssend`](crate::rank::Rank::ssend); `send` finds a posted receive |
//! | `MPI_Bsend` | `buffered_send` | `send`, up to [`eager`](crate::rank::Rank::eager) bytes; longer messages are [posted](crate::rank::Buffers::isend) |
//! | one value | `send(&x)`, `receive::<T>()` | [`send_value`](crate::rank::Rank::send_value), [`recv_value`](crate::rank::Rank::recv_value) |
//! | a message of any length | `receive_vec::<T>()` | [`recv_vec`](crate::rank::Rank::recv_vec) |
//! | `MPI_Sendrecv` | `point_to_point::send_receive` | [`sendrecv`](crate::rank::Rank::sendrecv) |
//! | `MPI_ANY_SOURCE`, `MPI_ANY_TAG`, `MPI_PROC_NULL` | `any_process()`, no tag | [`Source::Any`](crate::rank::Source::Any), [`Tag::Any`](crate::rank::Tag::Any), [`Source::Null`](crate::rank::Source::Null), [`Destination::Null`](crate::rank::Destination::Null) |
//! | `MPI_Status`, `MPI_Get_count` | `Status::source_rank`, `count` | [`Status`](crate::rank::Status), [`Status::len`](crate::rank::Status::len) |
//! | `MPI_Isend`, `MPI_Irecv`, `MPI_Issend` | `request::scope`, `immediate_send(scope, &x)` | [`Rank::scope`](crate::rank::Rank::scope), [`Scope::isend`](crate::rank::Scope::isend), [`irecv`](crate::rank::Scope::irecv), [`issend`](crate::rank::Scope::issend) |
//! | `MPI_Wait`, `MPI_Test`, `MPI_Cancel` | `wait`, `test`, `cancel`; `WaitGuard`, `CancelGuard` | `wait`, `test`, `cancel` of [a request](crate::rank::ScopedRecv); the scope waits at its end |
//! | `MPI_Waitany`, `MPI_Waitsome`, `MPI_Waitall` | `wait_any`, `RequestCollection` | [`wait_any`](crate::rank::wait_any), [`wait_some`](crate::rank::wait_some), [`wait_all`](crate::rank::wait_all) |
//! | `MPI_Testany`, `MPI_Testsome`, `MPI_Testall` | `test_any`, `test_some`, `test_all` | [`test_any`](crate::rank::test_any), [`test_some`](crate::rank::test_some), [`test_all`](crate::rank::test_all) |
//! | `MPI_Mprobe`, `MPI_Improbe`, `MPI_Mrecv` | `matched_probe`, `immediate_matched_probe` | [`probe`](crate::rank::Rank::probe), [`iprobe`](crate::rank::Rank::iprobe), [`Probed::recv`](crate::rank::Probed::recv) |
//! | `MPI_Recv_init`, `MPI_Start` | none | [`Buffers::recv_init`](crate::rank::Buffers::recv_init), [`PersistentRecv::start`](crate::rank::PersistentRecv::start) |
//! | `MPI_Type_vector`, `MPI_Type_indexed`, `MPI_Type_create_struct` | `UserDatatype` | a [`Layout`](crate::rank::Layout) of the call, with [`Layouts::send`](crate::rank::Layouts::send), [`Layouts::recv`](crate::rank::Layouts::recv) and others; fields of different types are a [`Record`](crate::rank::Record) |
//! | derived datatypes without gaps | `#[derive(Equivalence)]` | the traits of `zerocopy` for [plain values](crate::rank::Element), [`Objects::send`](crate::rank::Objects::send) for all others |
//! | `MPI_Barrier`, `MPI_Bcast` | `barrier`, `broadcast_into` | [`barrier`](crate::rank::Rank::barrier), [`broadcast`](crate::rank::Rank::broadcast) |
//! | `MPI_Scatter`, `MPI_Gather`, `MPI_Allgather`, `MPI_Alltoall`, and with `v` | `scatter_into`, `gather_into`, `all_gather_into`, `all_to_all_into` | [`scatter`](crate::rank::Rank::scatter), [`gather`](crate::rank::Rank::gather), [`all_gather`](crate::rank::Rank::all_gather), [`all_to_all`](crate::rank::Rank::all_to_all), and with `_v` |
//! | `MPI_Reduce`, `MPI_Allreduce`, `MPI_Reduce_scatter`, `MPI_Scan`, `MPI_Exscan` | `reduce_into`, `all_reduce_into`, `scan_into` | [`reduce`](crate::rank::Rank::reduce), [`all_reduce`](crate::rank::Rank::all_reduce), [`reduce_scatter`](crate::rank::Rank::reduce_scatter), [`scan`](crate::rank::Rank::scan), [`exclusive_scan`](crate::rank::Rank::exclusive_scan) |
//! | `MPI_SUM`, `MPI_MAXLOC`, `MPI_Op_create` | `SystemOperation`, `UserOperation` | [`operation`](crate::rank::operation): `Sum`, `MaxLocation`, `Commutative`, `Ordered` |
//! | `MPI_Ibarrier`, `MPI_Ibcast`, `MPI_Iallreduce` and other posted collectives | `immediate_barrier`, `immediate_broadcast_into` | [`Scope::ibarrier`](crate::rank::Scope::ibarrier), [`ibroadcast`](crate::rank::Scope::ibroadcast), [`iall_reduce`](crate::rank::Scope::iall_reduce) and the others |
//! | `MPI_Init_thread`, threads that are no ranks | `initialize_with_threading` | any thread may use a rank; with [`World::run`](crate::rank::world::World::run), threads are ranks themselves |
//! | `MPI_Comm_spawn` | `spawn` | [`World::spawn`](crate::rank::world::World::spawn) starts the members of a new world |
//! | `MPIX_Comm_revoke`, `MPIX_Comm_is_revoked` | none | [`Recovery::revoke`](crate::rank::Recovery::revoke), [`Recovery::revoked_by`](crate::rank::Recovery::revoked_by) |
//! | `MPIX_Comm_agree`, `MPIX_Comm_get_failed` | none | [`Recovery::agree`](crate::rank::Recovery::agree), whose result has the flags and the failed members |
//! | `MPIX_Comm_shrink` | none | [`Recovery::shrink`](crate::rank::Recovery::shrink) |
//! | `MPIX_ERR_PROC_FAILED`, `MPIX_ERR_REVOKED` | none | [`Error::PeerGone`](crate::rank::Error::PeerGone), [`Error::Revoked`](crate::rank::Error::Revoked) |
//! | `MPI_Abort`, error handlers | the default: the program ends | a `Result` of each operation |
//!
//! # Differences
//!
//! - Of the collective operations, broadcast, scatter and gather take layouts. Posted operations
//!   belong to a scope, which waits for them at its end.
//! - Ranks that disagree about a collective operation get an error, and so do all ranks that depend
//!   on one that has failed. See [collective
//!   operations](crate::rank::Rank#collective-operations).
//! - A probe is always a matched one: it takes the message that it has found out of the reach of
//!   other receives. Dropping it puts the message back.
//! - The element type is sent with a message. A receive of another type fails, and so does one that
//!   is too short; the next message is received as usual. Untyped bytes (`u8`) agree with every
//!   type.
//! - Any thread may use a rank. Nothing has to be requested for that, as by
//!   `MPI_THREAD_MULTIPLE`.
//! - If a rank ends, those operations that depend on it alone fail, and the program decides what to
//!   do. With most implementations of MPI, all processes are ended.
//! - A receive from any source goes on when a member fails; there is nothing to acknowledge. The
//!   survivors of a failure [go on](super::ranks#failures) as with the fault tolerance of MPI
//!   (ULFM). All of them get the failed members with the result of an agreement, and no failed
//!   member makes an agreement fail.
//! - A `Rank` can be a thread of a process, see [`World::threads`](crate::rank::world::World::threads).
//!   What was `static` is then declared by [`rank_local!`](crate::rank::rank_local); see [threads as
//!   ranks](super::worlds#threads-as-ranks).
//! - Requests of a scope borrow their memory, so no request outlives it. A request
//!   [without a scope](crate::rank::Buffers::irecv) owns its buffer, and is also a future.
//!
//! ```
//! use jstream_transport::rank::{self, Error, Source, Tag};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut ranks = rank::threads(2, &rank::Options::default());
//!
//! // A rank sends to itself, and a probe takes its message from other receives.
//! ranks[0].send(0, 7, &[1.5f32, 2.5])?;
//! let probed = ranks[0].probe(Source::Any, Tag::Any)?;
//! assert_eq!((probed.status().source, probed.status().len::<f32>()), (0, 2));
//! assert!(ranks[0].iprobe(Source::Any, Tag::Any)?.is_none());
//! drop(probed);
//! let (numbers, _) = ranks[0].recv_vec::<f32>(0, 7)?;
//! assert_eq!(numbers, [1.5, 2.5]);
//!
//! // Elements of another type, and too many of them, are errors.
//! ranks[1].send(0, 7, &[1u64, 2])?;
//! ranks[1].send(0, 7, &[1u64, 2])?;
//! ranks[1].send(0, 7, &[3u64])?;
//! let wrong = ranks[0].recv(1, 7, &mut [0.0f64; 2]);
//! assert!(matches!(wrong, Err(Error::WrongElements { rank: 1, .. })));
//! let long = ranks[0].recv(1, 7, &mut [0u64; 1]);
//! assert!(matches!(long, Err(Error::Truncated { length: 16, capacity: 8, .. })));
//! assert_eq!(ranks[0].recv_value::<u64>(1, 7)?.0, 3);
//!
//! // A duplicate has messages of its own.
//! let (library, other) = std::thread::scope(|scope| {
//!     let other = scope.spawn(|| ranks[1].duplicate());
//!     Ok::<_, Error>((ranks[0].duplicate()?, other.join().unwrap()?))
//! })?;
//! other.send_value(0, 7, 4u64)?;
//! assert!(ranks[0].iprobe(Source::Any, Tag::Any)?.is_none());
//! assert_eq!(library.recv_value::<u64>(Source::Any, Tag::Any)?.0, 4);
//!
//! // What a rank sent before it ended is received.
//! ranks[1].send_value(0, 7, 5u64)?;
//! drop((ranks.pop(), other));
//! assert_eq!(ranks[0].recv_value::<u64>(1, 7)?.0, 5);
//! assert!(matches!(ranks[0].recv_value::<u64>(1, 7), Err(Error::PeerGone { rank: 1, .. })));
//! # Ok(())
//! # }
//! ```
