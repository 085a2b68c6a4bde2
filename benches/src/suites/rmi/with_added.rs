//! Calls of a program whose version of the service lacks an argument, which the server adds.

use jstream_rmi::{Client, ClientOptions};

use super::address::options;
use super::case::{Case, What};
use super::samples::Samples;
use super::service::{Arguments, Expected, Given};
use super::subject::{Caller, one_by_one};
use super::with_jstream::NAME;
use crate::Failure;

mod older {
    use super::super::service::{Item, Tally};

    /// The service before `more` was added.
    #[jstream_rmi::remote]
    pub(super) trait Service {
        fn null_added(&self);

        fn structs_added(&self, items: &[Item<'_>]) -> Tally;
    }
}

use self::older::{Service, ServiceStub};

/// Connects to the server.
pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Caller>, Failure> {
    let mut settings = ClientOptions::default();
    settings.transport = options(case)?;
    let client = Client::connect_with(&address.parse()?, &settings).wait()?;
    let arguments = Arguments::of(case);
    Ok(Box::new(Older {
        what: case.what,
        service: client.lookup::<dyn Service>(NAME).wait()?,
        expected: Expected::of(case, &arguments),
        arguments,
    }))
}

struct Older {
    what: What,
    service: ServiceStub,
    arguments: Arguments,
    expected: Expected,
}

impl Older {
    fn call(&mut self) -> Result<Given, Failure> {
        let given = match self.what {
            What::Null => {
                self.service.null_added().wait()?;
                Given::Nothing
            }
            What::Structs(_) => {
                let items = &self.arguments.items;
                Given::Tally(*self.service.structs_added(items).wait()?.get())
            }
            _ => return Err("this case has no call of another version".into()),
        };
        self.expected.check(given)?;
        Ok(given)
    }
}

impl Caller for Older {
    fn calls(&mut self, samples: &mut Samples) -> Result<(), Failure> {
        one_by_one(samples, || self.call())
    }

    fn flood(&mut self, _: usize) -> Result<(), Failure> {
        Err("this subject measures latencies only".into())
    }
}
