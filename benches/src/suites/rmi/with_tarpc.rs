//! Remote calls with tarpc and bincode.

use std::future::ready;

use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tarpc::serde_transport::{Transport, new};
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tarpc::tokio_util::codec::{Framed, LengthDelimitedCodec};
use tarpc::{client, context};

use super::case::{Case, What};
use super::pair::Serving;
use super::service::{Arguments, Given, Tally, sum};
use super::subject::Caller;
use super::with_tokio::{self, Io, Remote};
use crate::Failure;

/// The struct for tarpc, which has to own its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Item {
    id: u64,
    name: String,
    scores: [f32; 8],
}

#[tarpc::service]
trait Service {
    async fn null();
    async fn sum(numbers: Vec<f64>) -> f64;
    async fn structs(items: Vec<Item>) -> (u64, f64);
}

#[derive(Clone)]
struct Plain;

impl Service for Plain {
    async fn null(self, _: context::Context) {}

    async fn sum(self, _: context::Context, numbers: Vec<f64>) -> f64 {
        sum(&numbers)
    }

    async fn structs(self, _: context::Context, items: Vec<Item>) -> (u64, f64) {
        let mut tally = Tally::default();
        for item in items {
            tally.add(item.id, item.name.as_bytes(), item.scores.into_iter());
        }
        (tally.count, tally.sum)
    }
}

type Connection<I, O> = Transport<Box<dyn Io>, I, O, Bincode<I, O>>;

fn connection<I, O>(io: Box<dyn Io>) -> Connection<I, O>
where
    I: for<'de> Deserialize<'de>,
    O: Serialize,
{
    let mut codec = LengthDelimitedCodec::new();
    codec.set_max_frame_length(64 << 20);
    new(Framed::new(io, codec), Bincode::default())
}

/// Serves one connection with a task for each call, as tarpc's examples do.
pub(super) fn serve(case: &Case) -> Result<Serving, Failure> {
    with_tokio::serve(case, |listener| async {
        let channel = BaseChannel::with_defaults(connection(listener.accept().await?));
        let calls = channel.execute(Plain.serve());
        let spawned = calls.for_each(|call| {
            tokio::spawn(call);
            ready(())
        });
        spawned.await;
        Ok(())
    })
}

/// Connects to the server.
pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Caller>, Failure> {
    with_tokio::join(case, |arguments| async {
        let connection = connection(with_tokio::connect(case, address).await?);
        let item = |item: &super::service::Item<'_>| Item {
            id: item.id,
            name: item.name.to_owned(),
            scores: item.scores,
        };
        let Arguments { numbers, items } = arguments;
        Ok(Client {
            what: case.what,
            client: ServiceClient::new(client::Config::default(), connection).spawn(),
            items: items.iter().map(item).collect(),
            numbers,
        })
    })
}

struct Client {
    what: What,
    client: ServiceClient,
    numbers: Vec<f64>,
    items: Vec<Item>,
}

impl Remote for Client {
    async fn call(&self) -> Result<Given, Failure> {
        let context = context::current();
        // A call takes ownership of its arguments.
        Ok(match self.what {
            What::Sum(_) => Given::Sum(self.client.sum(context, self.numbers.clone()).await?),
            What::Structs(_) => {
                let (count, sum) = self.client.structs(context, self.items.clone()).await?;
                Given::Tally(Tally { count, sum })
            }
            _ => {
                self.client.null(context).await?;
                Given::Nothing
            }
        })
    }
}
