//! Ranks: choosing the right receive and send.
//!
//! | known in advance | goal | use |
//! |---|---|---|
//! | the maximum length of the message | receive into an array of the program | [`recv`](crate::rank::Rank::recv) |
//! | several messages will arrive, in any order | receive each into its own array | [`scope`](crate::rank::Rank::scope), with `irecv` in it |
//! | no length | receive into a buffer of the pool, to keep it or send it on | [`Buffers::recv`](crate::rank::Buffers::recv) |
//! | no length | receive into a vector of the right length | [`recv_vec`](crate::rank::Rank::recv_vec) |
//! | the message is one value | receive it without an array | [`recv_value`](crate::rank::Rank::recv_value), sent by [`send_value`](crate::rank::Rank::send_value) |
//! | neither sender nor tag | choose the receiver by sender and tag | [`probe`](crate::rank::Rank::probe) with [`Source::Any`](crate::rank::Source::Any) |
//! | one message will arrive | compute meanwhile | [`Buffers::irecv`](crate::rank::Buffers::irecv), then `wait`, `test` or `.await` |
//! | many messages will arrive | take the first one that arrives | several `irecv`, also of a scope, then [`wait_any`](crate::rank::wait_any) |
//! | the same receive is repeated many times | avoid a new request for each message | [`Buffers::recv_init`](crate::rank::Buffers::recv_init) |
//! | elements that are not consecutive | receive into a column or into fields | [`Layouts::recv`](crate::rank::Layouts::recv), with a [`Layout`](crate::rank::Layout) |
//! | the message is an object | read it in place | [`Objects::recv`](crate::rank::Objects::recv), or posted [`Objects::irecv`](crate::rank::Objects::irecv) |
//!
//! A posted receive is the fastest: when the message arrives, its payload goes directly to the
//! memory of the receive. A message that arrives before its receive is queued in a buffer of the
//! pool. It is copied once more when it is received, unless it is received as a buffer.
//!
//! ```
//! use jstream_transport::rank::{self, Rank, Source, Tag};
//!
//! /// Halves the numbers of each message, until all other ranks have sent an empty message.
//! fn serve(rank: &Rank) -> Result<(), rank::Error> {
//!     let mut left = rank.size() - 1;
//!     while left > 0 {
//!         let (mut numbers, status) = rank.recv_vec::<f64>(Source::Any, Tag::Any)?;
//!         if numbers.is_empty() {
//!             left -= 1;
//!         } else {
//!             numbers.iter_mut().for_each(|number| *number /= 2.0);
//!             rank.send(status.source, status.tag, &numbers)?;
//!         }
//!     }
//!     Ok(())
//! }
//!
//! fn ask(rank: &Rank) -> Result<(), rank::Error> {
//!     let mut numbers = [f64::from(rank.rank()); 3];
//!     rank.send(0, 1, &numbers)?;
//!     rank.recv(0, 1, &mut numbers)?;
//!     assert_eq!(numbers, [f64::from(rank.rank()) / 2.0; 3]);
//!     rank.send(0, 1, &[0.0; 0])
//! }
//!
//! # fn main() -> Result<(), rank::Error> {
//! let ranks = rank::threads(3, &rank::Options::default());
//! std::thread::scope(|scope| {
//!     for rank in &ranks[1..] {
//!         scope.spawn(move || ask(rank).unwrap());
//!     }
//!     serve(&ranks[0])
//! })
//! # }
//! ```
//!
//! Several receives into arrays of the program are posted in a scope. They are tested, waited for
//! together, and cancelled like receives into buffers:
//!
//! ```
//! use jstream_transport::rank;
//!
//! # fn main() -> Result<(), rank::Error> {
//! let ranks = rank::threads(3, &rank::Options::default());
//! let (mut of_one, mut of_two) = ([0u32; 2], [0u32; 2]);
//! ranks[2].send(0, 7, &[3u32, 4])?;
//! ranks[0].scope(|scope| {
//!     let mut receives = [scope.irecv(1, 7, &mut of_one), scope.irecv(2, 7, &mut of_two)];
//!     let (place, first) = rank::wait_any(&mut receives).unwrap();
//!     assert_eq!((place, first?.source), (1, 2));
//!     assert!(receives[0].test().is_none());
//!     let [never, _] = receives;
//!     assert!(matches!(never.cancel(), Err(rank::Error::Cancelled)));
//!     Ok::<(), rank::Error>(())
//! })?;
//! assert_eq!((of_one, of_two), ([0, 0], [3, 4]));
//! # Ok(())
//! # }
//! ```
//!
//! Elements are plain values: integers, floats, arrays of these, and structs that derive the traits
//! of `zerocopy`; see [`Element`](crate::rank::Element). Objects with pointers, text or enums are
//! sent by [`Objects::send`](crate::rank::Objects::send), or posted by
//! [`Objects::isend`](crate::rank::Objects::isend).
//!
//! # Choosing the send
//!
//! [`send`](crate::rank::Rank::send) returns when the array may be changed. A short message is sent
//! eagerly and may be queued at the receiver. A message longer than
//! [`eager`](crate::rank::Rank::eager) blocks until a receive matches it.
//! [`ssend`](crate::rank::Rank::ssend) always blocks until a receive matches, so its return shows
//! that the receiver has got that far. Two ranks that send each other long messages before they
//! receive deadlock: use [`sendrecv`](crate::rank::Rank::sendrecv), or post one of the two
//! operations.
//!
//! If the unexpected messages from a rank reach the [bounds](crate::rank::Options::bounds) of the
//! receiver, the next send of that rank blocks until the receiver has received some. A posted send
//! continues when its rank waits for any operation; if its request was dropped, it continues in the
//! background. If only the number of bytes exceeds the bounds, the message is announced without its
//! payload, so that it can be received before earlier messages. A blocked message delays no
//! protocol replies and no payloads of long messages, in either direction. However, a receive can
//! deadlock if its message follows more unexpected messages than the bounds permit, because those
//! have to be received first. In that case, raise the bounds.
//!
//! # Layouts
//!
//! A [`Layout`](crate::rank::Layout) selects the elements of a slice that a message consists of, such
//! as a column of a matrix, a triangle, or every second element. The message has these elements
//! without gaps, so the other side may use another layout or a plain slice:
//!
//! ```
//! use jstream_transport::rank::{self, Layout};
//!
//! # fn main() -> Result<(), rank::Error> {
//! let ranks = rank::threads(2, &rank::Options::default());
//! let matrix = [
//!     [1, 2, 3],
//!     [4, 5, 6],
//! ];
//! let column = Layout::strided(2, 1, 3)?;
//! ranks[0].layouts().send(1, 0, &matrix.as_flattened()[1..], &column)?;
//! let (received, _) = ranks[1].recv_vec::<i32>(0, 0)?;
//! assert_eq!(received, [2, 5]);
//! # Ok(())
//! # }
//! ```
//!
//! | layout | selects |
//! |---|---|
//! | [`contiguous`](crate::rank::Layout::contiguous) | the first elements |
//! | [`strided`](crate::rank::Layout::strided) | blocks at equal distances |
//! | [`indexed`](crate::rank::Layout::indexed) | any blocks |
//! | [`repeat`](crate::rank::Layout::repeat) | a layout several times, also interleaved |
//! | [`field`](crate::rank::Layout::field) | one [`Field`](crate::rank::Field) of each selected struct |
//! | [`record`](crate::rank::Layout::record) | fields of different types of each selected struct, a [`Record`](crate::rank::Record) |
//!
//! A layout that is used again costs nothing to create. A short message is packed on the stack. A
//! long one between threads is copied once, from the sender's elements to the receiver's. Over a
//! connection, it is packed and unpacked once each, except for a few long blocks, which the device
//! gathers. A message that is received into a layout must not be longer than the selected elements,
//! and no two blocks may overlap.
//!
//! [`isend_layout`](crate::rank::Scope::isend_layout) and
//! [`irecv_layout`](crate::rank::Scope::irecv_layout) post such messages.
//! [`Layouts::broadcast`](crate::rank::Layouts::broadcast),
//! [`Layouts::scatter`](crate::rank::Layouts::scatter) and
//! [`Layouts::gather`](crate::rank::Layouts::gather) are collective operations that pack and
//! unpack the elements. The example `columns` transposes a matrix.
//!
//! # Collective operations
//!
//! All members of a communicator call a [collective
//! operation](crate::rank::Rank#collective-operations), which moves elements between all of them:
//!
//! | goal | operation | short messages | long messages |
//! |---|---|---|---|
//! | nobody passes before all have come | [`barrier`](crate::rank::Rank::barrier) | `dissemination` | |
//! | the elements of one rank at all | [`broadcast`](crate::rank::Rank::broadcast) | `binomial` | `chain` (3 and 4 ranks), `scatter_ring` |
//! | a block of one rank at each | [`scatter`](crate::rank::Rank::scatter) | `binomial` | `direct` |
//! | a block of each rank at one | [`gather`](crate::rank::Rank::gather) | `binomial` | `direct` |
//! | a block of each rank at all | [`all_gather`](crate::rank::Rank::all_gather) | `recursive_doubling`, `bruck` | `ring` |
//! | sums and the like at one rank | [`reduce`](crate::rank::Rank::reduce) | `binomial` | `halving` |
//! | the same at all ranks | [`all_reduce`](crate::rank::Rank::all_reduce) | `recursive_doubling` | `halving`, `ring` |
//! | the same, one block at each | [`reduce_scatter`](crate::rank::Rank::reduce_scatter) | `halving` | `pairwise` |
//! | the same of the ranks up to each | [`scan`](crate::rank::Rank::scan), [`exclusive_scan`](crate::rank::Rank::exclusive_scan) | `dissemination` | |
//! | a block for each rank from each | [`all_to_all`](crate::rank::Rank::all_to_all) | `bruck` (8 ranks and more), `direct` | `pairwise` |
//!
//! Messages are short up to 8 KiB. [`Algorithm`](crate::rank::Algorithm) describes the algorithms,
//! and [`with_algorithm`](crate::rank::Rank::with_algorithm) or the environment variable
//! `JSTREAM_COLLECTIVES` chooses others. Operations that are not commutative are combined in the
//! order of the ranks. Two ranks never need more than one message in each direction for a
//! reduction.
//!
//! The messages of collective operations are isolated from those that the program sends itself,
//! also from receives with wildcards. The examples `pi` and `jacobi` show reductions and a grid of
//! ranks.
//!
//! ## Borders of a distributed array
//!
//! A stencil needs the elements next to those of its rank. Each rank of a grid has its part of the
//! array with a border around it, and [`Cartesian::halos`](crate::rank::Cartesian::halos) fills the
//! borders from the neighbours, in any number of dimensions:
//!
//! ```
//! use jstream_transport::rank::{self, Cartesian, Dimension, Neighbours, Rank};
//!
//! /// Replaces each element by the mean of its neighbours. The array is 100 x 100 elements of this
//! /// rank, with a border of one element.
//! fn smooth(grid: &Cartesian, array: &mut [f64]) -> Result<(), rank::Error> {
//!     const ROW: usize = 102;
//!     let halos = grid.halos(&[ROW, ROW], 1, Neighbours::Faces)?;
//!     let posted = halos.begin(array)?;
//!     // Here, the elements that need no border can be computed.
//!     posted.wait(array)?;
//!     let before = array.to_vec();
//!     for at in (1..=100).flat_map(|row| row * ROW + 1..=row * ROW + 100) {
//!         let around = [at - 1, at + 1, at - ROW, at + ROW];
//!         array[at] = around.iter().map(|at| before[*at]).sum::<f64>() / 4.0;
//!     }
//!     Ok(())
//! }
//!
//! # fn main() -> Result<(), rank::Error> {
//! let ranks = rank::threads(1, &rank::Options::default());
//! let grid = Cartesian::new(&ranks[0], &[Dimension::periodic(1); 2])?.unwrap();
//! let mut array = vec![1.0; 102 * 102];
//! smooth(&grid, &mut array)?;
//! assert_eq!(array[102 + 1], 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! [`Layouts::exchange`](crate::rank::Layouts::exchange) exchanges any other elements. Ranks that
//! send with [`send`](crate::rank::Layouts::send) and receive afterwards wait for each other for
//! ever once the messages are longer than the [eager limit](crate::rank::Rank::eager); an exchange
//! posts all messages before it waits.
//!
//! ## Overlap with computation
//!
//! Each collective operation can be [posted](crate::rank::Scope#posted-collective-operations) in a
//! scope, under its name with an `i` in front. It begins at once, and the rank computes before it
//! waits:
//!
//! ```
//! use jstream_transport::rank::{self, Rank, operation::Max};
//!
//! /// Returns the largest number of all ranks, and a sum of this one.
//! fn both(rank: &Rank, numbers: &[f64]) -> Result<(f64, f64), rank::Error> {
//!     let own = [numbers.iter().copied().fold(0.0, f64::max)];
//!     let (mut largest, mut sum) = ([0.0], 0.0);
//!     rank.scope(|scope| {
//!         let reduction = scope.iall_reduce(&own, &mut largest, &Max);
//!         for part in numbers.chunks(1000) {
//!             sum += part.iter().sum::<f64>();
//!             // Continues the reduction, for which other ranks may wait.
//!             let _has_ended = reduction.is_done();
//!         }
//!         reduction.wait()
//!     })?;
//!     Ok((largest[0], sum))
//! }
//!
//! # fn main() {
//! let ranks = rank::threads(2, &rank::Options::default());
//! std::thread::scope(|threads| {
//!     for rank in &ranks {
//!         threads.spawn(move || {
//!             let numbers = vec![f64::from(rank.rank()); 5000];
//!             assert_eq!(both(rank, &numbers).unwrap(), (1.0, numbers.iter().sum()));
//!         });
//!     }
//! });
//! # }
//! ```
//!
//! An operation sends its next messages, and combines elements, when the thread that has posted it
//! calls `is_done`, `test` or `wait` of the request, polls the request as a future, or blocks in
//! any other call of a rank. There is no thread in the background. A rank that computes for long
//! without such a call delays the ranks that depend on it.
//!
//! Several operations may be under way at once. All members post them in the same order, together
//! with the blocking ones, and wait for them in any order. The example `overlap` computes while it
//! exchanges borders and reduces.
//!
//! # Objects
//!
//! Objects with pointers, text or enums take part in [collective operations of their
//! own](crate::rank::Rank#collective-operations-on-objects), which need no lengths in advance:
//!
//! | goal | root | other ranks |
//! |---|---|---|
//! | an object of one rank at all | [`Objects::broadcast`](crate::rank::Objects::broadcast) | [`Objects::recv_broadcast`](crate::rank::Objects::recv_broadcast) |
//! | a part of a slice of one rank at each | [`Objects::scatter`](crate::rank::Objects::scatter) | [`Objects::recv_scattered`](crate::rank::Objects::recv_scattered) |
//! | a slice of each rank at one | [`Objects::gather`](crate::rank::Objects::gather) | the same |
//! | a slice of each rank at all | [`Objects::all_gather`](crate::rank::Objects::all_gather) | |
//! | a part of the slice of each rank at each | [`Objects::all_to_all`](crate::rank::Objects::all_to_all) | |
//!
//! A broadcast writes the object once, whatever the number of ranks, and each rank reads it in the
//! buffer that it arrived in. A scatter writes each part of the slice as a message of its own, so
//! that no rank gets the objects of another. A gather returns the parts in the order of the ranks,
//! each in its own buffer:
//!
//! ```
//! use jstream::Transportable;
//! use jstream_transport::rank::{self, Rank};
//!
//! #[derive(Transportable)]
//! struct Order {
//!     customer: String,
//!     prices: Vec<u32>,
//! }
//!
//! #[derive(Transportable)]
//! struct Bill {
//!     customer: String,
//!     total: u32,
//! }
//!
//! /// Returns the largest total at rank 0.
//! fn largest(rank: &Rank, orders: &[Order]) -> Result<Option<u32>, rank::Error> {
//!     let part = match rank.rank() {
//!         0 => rank.objects().scatter(orders)?,
//!         _ => rank.objects().recv_scattered::<Order>(0)?,
//!     };
//!     let bills = part.get().iter().map(|order| Bill {
//!         customer: order.customer.to_owned(),
//!         total: order.prices.iter().sum(),
//!     });
//!     let bills: Vec<_> = bills.collect();
//!     let parts = rank.objects().gather(0, &bills)?;
//!     Ok(parts.and_then(|parts| parts.iter().flatten().map(|bill| bill.total).max()))
//! }
//!
//! # fn main() {
//! let order = |prices: &[u32]| Order { customer: "Ada".to_owned(), prices: prices.to_vec() };
//! let orders = [order(&[1, 2]), order(&[7]), order(&[])];
//! let ranks = rank::threads(2, &rank::Options::default());
//! std::thread::scope(|scope| {
//!     scope.spawn(|| assert_eq!(largest(&ranks[0], &orders).unwrap(), Some(7)));
//!     scope.spawn(|| assert_eq!(largest(&ranks[1], &[]).unwrap(), None));
//! });
//! # }
//! ```
//!
//! The example `objects` works on more records in this way. An object that cannot be read fails at
//! the rank that reads it only; an object that cannot be written fails at all ranks that should
//! receive it.
//!
//! # Errors
//!
//! If a message is too long for its receive, too short for a value, or has another element type,
//! the receive fails with [`Truncated`](crate::rank::Error::Truncated),
//! [`TooShort`](crate::rank::Error::TooShort) or
//! [`WrongElements`](crate::rank::Error::WrongElements). That message is dropped; the next one is
//! received as usual. If a message is longer than what the receiver
//! [allocates](crate::guide::limits#messages-between-ranks), the receive fails with
//! [`OverLimit`](crate::rank::Error::OverLimit) and its send with
//! [`TooLong`](crate::rank::Error::TooLong). If a rank ends or its connection is lost, the
//! operations that depend on it fail with [`PeerGone`](crate::rank::Error::PeerGone). Receives from
//! any source continue until no other rank is left. Call [`finish`](crate::rank::Rank::finish)
//! before the process ends: it blocks until everything that was sent has been received.
//!
//! # Failures
//!
//! A rank that dies, because its process is killed or its thread returns or panics, is gone for all
//! others as soon as its connections end. Operations that need it fail with an error that names it:
//! [`PeerGone`](crate::rank::Error::PeerGone), and for a member of a collective operation that
//! depends on it through others, [`FailedAt`](crate::rank::Error::FailedAt). A member that waits
//! for a living one is not affected, even if that one has given up because of the failure. Three
//! operations let the survivors go on:
//!
//! | goal | operation | who calls it |
//! |---|---|---|
//! | all members stop what they do in the communicator | [`Recovery::revoke`](crate::rank::Recovery::revoke) | any member that has found a failure |
//! | all survivors take the same decision, and know who has failed | [`Recovery::agree`](crate::rank::Recovery::agree) | all survivors |
//! | a communicator of the survivors | [`Recovery::shrink`](crate::rank::Recovery::shrink) | all survivors |
//!
//! A step of a program that survives failures has the form of this example. A collective operation
//! may succeed at one member and fail at another. So the members agree whether all have succeeded,
//! and use the result together or repeat the step in a smaller communicator:
//!
//! ```
//! use jstream_transport::rank::{self, Rank, operation::Sum};
//!
//! /// Returns the sum of the numbers of all members that are left, and a communicator of these.
//! fn sum(mut group: Rank, number: u64) -> Result<(u64, Rank), rank::Error> {
//!     loop {
//!         let mut sum = [0];
//!         let reduced = group.all_reduce(&[number], &mut sum, &Sum);
//!         if reduced.is_err() {
//!             group.recovery().revoke();
//!         }
//!         let consensus = group.recovery().agree(u64::from(reduced.is_ok()))?;
//!         if consensus.flags == 1 {
//!             return Ok((sum[0], group));
//!         }
//!         group = group.recovery().shrink()?;
//!     }
//! }
//!
//! # fn main() {
//! let ranks = rank::threads(4, &rank::Options::default());
//! std::thread::scope(|scope| {
//!     for rank in ranks {
//!         scope.spawn(move || {
//!             let own = rank.rank();
//!             if own == 1 {
//!                 return; // The rank ends here.
//!             }
//!             let (sum, group) = sum(rank, 10 + u64::from(own)).unwrap();
//!             assert_eq!((sum, group.size()), (10 + 12 + 13, 3));
//!         });
//!     }
//! });
//! # }
//! ```
//!
//! Both agreements are uniform: what one member has returned, all others return, whoever dies
//! meanwhile, down to a single survivor. A rank is known to have failed when a connection to it has
//! ended. A connection that breaks while both sides live therefore divides them: the others exclude
//! one of the two, which gets [`PeerGone`](crate::rank::Error::PeerGone) with its own number.
//! [`finish`](crate::rank::world::World::finish) names the members that have failed.
//!
//! The example `survive` divides the work of a killed process among the others.
//!
//! Lost ranks can be replaced: [`World::grow`](crate::rank::world::World::grow) starts new processes
//! and returns a world of the survivors and these. The survivors have their numbers in the shrunk
//! communicator, and the new processes follow. A new process runs the program from its beginning;
//! [`is_newcomer`](crate::rank::world::World::is_newcomer) tells it to ask the others for its part
//! of the work. The example `replace` computes in phases, after each of which every process keeps a
//! copy of the rows of its neighbour, and gives the copy to the process that takes the place of a
//! killed one.
