//! Remote calls with Cap'n Proto.

use std::rc::Rc;

use capnp::Error;
use capnp_rpc::RpcSystem;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::twoparty::VatNetwork;
use futures::io::AsyncReadExt;
use tokio_util::compat::TokioAsyncReadCompatExt;

use super::case::{Case, What};
use super::generated::service_capnp::service;
use super::pair::Serving;
use super::service::{Arguments, Given, Tally};
use super::subject::Caller;
use super::with_tokio::{self, Io, Remote};
use crate::Failure;

struct Plain;

impl service::Server for Plain {
    async fn null(
        self: Rc<Self>,
        _: service::NullParams,
        _: service::NullResults,
    ) -> Result<(), Error> {
        Ok(())
    }

    async fn sum(
        self: Rc<Self>,
        params: service::SumParams,
        mut results: service::SumResults,
    ) -> Result<(), Error> {
        let numbers = params.get()?.get_numbers()?;
        // Cap'n Proto returns the numbers as a slice if the byte order of the machine is that of
        // the wire, otherwise one by one.
        let sum = match numbers.as_slice() {
            Some(numbers) => super::service::sum(numbers),
            None => numbers.iter().sum(),
        };
        results.get().set_sum(sum);
        Ok(())
    }

    async fn structs(
        self: Rc<Self>,
        params: service::StructsParams,
        mut results: service::StructsResults,
    ) -> Result<(), Error> {
        let mut tally = Tally::default();
        for item in params.get()?.get_items()? {
            let name = item.get_name()?.to_str()?;
            tally.add(item.get_id(), name.as_bytes(), item.get_scores()?.iter());
        }
        results.get().set_count(tally.count);
        results.get().set_sum(tally.sum);
        Ok(())
    }
}

fn network(io: Box<dyn Io>, side: Side) -> Box<VatNetwork<impl futures::AsyncRead + Unpin>> {
    let (reader, writer) = io.compat().split();
    Box::new(VatNetwork::new(
        reader,
        writer,
        side,
        capnp::message::ReaderOptions::default(),
    ))
}

/// Serves one connection.
pub(super) fn serve(case: &Case) -> Result<Serving, Failure> {
    with_tokio::serve(case, |listener| async {
        let network = network(listener.accept().await?, Side::Server);
        let plain: service::Client = capnp_rpc::new_client(Plain);
        RpcSystem::new(network, Some(plain.client)).await?;
        Ok(())
    })
}

/// Connects to the server.
pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Caller>, Failure> {
    with_tokio::join(case, |arguments| async {
        let io = with_tokio::connect(case, address).await?;
        let mut system = RpcSystem::new(network(io, Side::Client), None);
        let client = system.bootstrap(Side::Server);
        tokio::task::spawn_local(system);
        Ok(Client {
            what: case.what,
            client,
            arguments,
        })
    })
}

struct Client {
    what: What,
    client: service::Client,
    arguments: Arguments,
}

impl Remote for Client {
    async fn call(&self) -> Result<Given, Failure> {
        let Arguments { numbers, items } = &self.arguments;
        Ok(match self.what {
            What::Sum(_) => {
                let mut request = self.client.sum_request();
                let mut list = request.get().init_numbers(numbers.len() as u32);
                match list.as_slice() {
                    Some(list) => list.copy_from_slice(numbers),
                    None => (0..).zip(numbers).for_each(|(i, n)| list.set(i, *n)),
                }
                let answer = request.send().promise.await?;
                Given::Sum(answer.get()?.get_sum())
            }
            What::Structs(_) => {
                let mut request = self.client.structs_request();
                let mut list = request.get().init_items(items.len() as u32);
                for (i, item) in (0..).zip(items) {
                    let mut to = list.reborrow().get(i);
                    to.set_id(item.id);
                    to.set_name(item.name);
                    to.set_scores(&item.scores[..])?;
                }
                let answer = request.send().promise.await?;
                let tally = answer.get()?;
                Given::Tally(Tally {
                    count: tally.get_count(),
                    sum: tally.get_sum(),
                })
            }
            _ => {
                self.client.null_request().send().promise.await?;
                Given::Nothing
            }
        })
    }
}
