//! Remote calls with jstream.

use std::collections::VecDeque;
use std::sync::Arc;

use jstream_rmi::{
    Address, AddressList, Call, Client, ClientOptions, ClientSet, Server, ServerOptions, SetOptions,
};
use jstream_transport::Options;
use rustix::time::ClockId;

use super::address::{address, options, trusting};
use super::case::{Case, IN_FLIGHT, Way, What};
use super::pair::Serving;
use super::samples::Samples;
use super::service::{Arguments, Expected, Given, Plain, Service, ServiceStub};
use super::subject::{Caller, one_by_one};
use crate::Failure;

pub(super) const NAME: &str = "service";

/// The subject whose client does not connect again.
pub(super) const ONCE_CONNECTED: &str = "jstream-once-connected";

/// The subject whose calls choose a member of a set, which has only one.
pub(super) const SET_OF_ONE: &str = "jstream-set-of-one";

/// Serves until the handle is dropped.
pub(super) fn serve(case: &Case, subject: &str) -> Result<Serving, Failure> {
    let mut settings = ServerOptions::default();
    settings.transport = transport(case, subject)?;
    let server = Server::new(settings);
    let clock = if case.way == Way::Inproc {
        ClockId::ThreadCPUTime
    } else {
        ClockId::ProcessCPUTime
    };
    server.bind::<dyn Service>(NAME, Arc::new(Plain { clock }))?;
    let serving = server.listen(&address(case)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// Connects to the server.
pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Caller>, Failure> {
    let mut settings = ClientOptions::default();
    settings.transport = transport(case, subject)?;
    if subject == ONCE_CONNECTED {
        settings.reconnect = None;
    }
    let service = match subject {
        SET_OF_ONE => of_set(address.parse()?, settings)?,
        _ => {
            let client = Client::connect_with(&address.parse()?, &settings).wait()?;
            client.lookup::<dyn Service>(NAME).wait()?
        }
    };
    let arguments = Arguments::of(case);
    Ok(Box::new(Ours {
        what: case.what,
        method: match subject {
            "jstream-inline" => Method::Inline,
            "jstream-ready" => Method::Ready,
            _ => Method::Waits,
        },
        copied: match subject {
            "jstream-copying" => Some(postcard::to_allocvec(&arguments.numbers)?),
            _ => None,
        },
        service,
        expected: Expected::of(case, &arguments),
        arguments,
        on_their_way: VecDeque::with_capacity(IN_FLIGHT),
    }))
}

/// Returns a stub of a set with one member.
fn of_set(address: Address, settings: ClientOptions) -> Result<ServiceStub, Failure> {
    let mut options = SetOptions::default();
    options.client = settings;
    let set = ClientSet::open_with(AddressList::new([address])?, &options)?;
    let service = set.get::<dyn Service>(NAME);
    match set.ready().wait() {
        true => Ok(service),
        false => Err("the set has not found the service".into()),
    }
}

fn transport(case: &Case, subject: &str) -> Result<Options, Failure> {
    match subject {
        "jstream-trusted" => trusting(case),
        _ => options(case),
    }
}

/// Method that is called in the cases with a method that waits.
#[derive(Debug, Clone, Copy)]
enum Method {
    /// A plain method.
    Inline,
    /// An async method that completes without waiting.
    Ready,
    Waits,
}

struct Ours {
    what: What,
    method: Method,
    service: ServiceStub,
    arguments: Arguments,
    /// Buffer for the serialized numbers, if they are serialized for each call and copied out of
    /// its message.
    copied: Option<Vec<u8>>,
    expected: Expected,
    /// Calls that are in flight, in the order in which they were made.
    on_their_way: VecDeque<Call<()>>,
}

impl Ours {
    fn call(&mut self) -> Result<Given, Failure> {
        let (service, numbers) = (&self.service, &self.arguments.numbers);
        let given = match self.what {
            What::Stream => {
                return Err("the latency of a stream cannot be measured, only its rate".into());
            }
            What::Null | What::Flood | What::Objects(_) => {
                service.null().wait()?;
                Given::Nothing
            }
            What::Waits => {
                match self.method {
                    Method::Inline => service.null(),
                    Method::Ready => service.ready(),
                    Method::Waits => service.waits(),
                }
                .wait()?;
                Given::Nothing
            }
            What::Sum(_) => Given::Sum(match &mut self.copied {
                Some(buffer) => {
                    let bytes = postcard::to_slice(numbers, buffer)?;
                    *service.sum_copied(bytes).wait()?.get()
                }
                None => *service.sum(numbers).wait()?.get(),
            }),
            What::Structs(_) => Given::Tally(*service.structs(&self.arguments.items).wait()?.get()),
            What::Untouched(_) => Given::Computed(*service.untouched(numbers).wait()?.get()),
        };
        self.expected.check(given)?;
        Ok(given)
    }
}

impl Caller for Ours {
    fn calls(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        one_by_one(samples, || self.call())
    }

    fn flood(&mut self, calls: usize) -> Result<(), Failure> {
        for _ in 0..calls {
            if self.on_their_way.len() == IN_FLIGHT {
                if let Some(first) = self.on_their_way.pop_front() {
                    first.wait()?;
                }
            }
            self.on_their_way.push_back(self.service.null());
        }
        while let Some(first) = self.on_their_way.pop_front() {
            first.wait()?;
        }
        Ok(())
    }
}
