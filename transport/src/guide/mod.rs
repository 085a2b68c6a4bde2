//! User guide of the transport: devices, endpoints, waiting, errors, channels, ranks and active
//! messages.
//!
//! The modules contain only text and runnable examples.
//!
//! | page | topic |
//! |---|---|
//! | [`devices`] | the devices that carry messages, and how to choose one |
//! | [`endpoints`] | sending and receiving: blocking calls, posted operations, objects, borrowed memory, puts and gets |
//! | [`waiting`] | futures, completion queues, `poll` or `epoll` loops of the program, background progress |
//! | [`closing`] | the end of a connection, the meaning of each error, and the fate of messages in flight |
//! | [`limits`] | the threat against which each limit and each timeout protects |
//! | [`channels`] | typed one-way channels |
//! | [`ranks`] | MPI-like ranks: choosing the right receive and send |
//! | [`launching`] | starting ranks by `jrun`, `mpirun`, `mpiexec`, `srun` or Kubernetes |
//! | [`worlds`] | starting ranks as threads, as processes and on several hosts, and ending them |
//! | [`speedup`] | from a sequential program to ranks, and to a measured speed-up |
//! | [`measuring`] | measuring the cost of messages on a machine with `jperf` |
//! | [`coming_from`] | the calls of MPI and rsmpi, and their counterparts |
//! | [`active_messages`] | active messages: handlers that run when a request arrives |
//!
//! The wire protocol is specified in `PROTOCOL.md`.

pub mod active_messages;
pub mod channels;
pub mod closing;
pub mod coming_from;
pub mod devices;
pub mod endpoints;
pub mod launching;
pub mod limits;
pub mod measuring;
pub mod ranks;
pub mod speedup;
pub mod waiting;
pub mod worlds;
