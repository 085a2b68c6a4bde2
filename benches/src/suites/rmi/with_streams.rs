//! Endless sequences of numbers: as a stream that a method returns, and through a typed channel.

use std::sync::Arc;
use std::thread;

use jstream_rmi::{Client, ClientOptions, Server, ServerOptions, Stream, Stub, remote};
use jstream_transport::channel;
use jstream_transport::channel::Receiver;

use super::address::{address, options};
use super::case::Case;
use super::pair::Serving;
use super::samples::Samples;
use super::subject::Caller;
use crate::Failure;

const NAME: &str = "numbers";

#[remote]
trait Numbers {
    /// Returns all numbers, from 0 on.
    fn all(&self) -> Stream<u64>;
}

struct Counting;

impl Numbers for Counting {
    fn all(&self) -> Stream<u64> {
        Stream::of(0..)
    }
}

/// Serves until the handle is dropped, or sends until the receiver is gone.
pub(super) fn serve(case: &Case, subject: &str) -> Result<Serving, Failure> {
    if subject == "jstream-channel" {
        let name = address(case)?.to_string();
        let sender = channel::<u64>(&name).fan_out().options(options(case)?);
        let sender = sender.sender()?;
        let address = sender.address().to_string();
        let server = thread::Builder::new().name("channel".to_owned());
        let server = server.spawn(move || {
            for number in 0.. {
                if sender.send(&number).is_err() {
                    return;
                }
            }
        })?;
        return Ok(Serving::new(address, server));
    }
    let mut settings = ServerOptions::default();
    settings.transport = options(case)?;
    let server = Server::new(settings);
    server.bind::<dyn Numbers>(NAME, Arc::new(Counting))?;
    let serving = server.listen(&address(case)?)?;
    Ok(Serving::new(serving.address().to_string(), serving))
}

/// Connects to the server.
pub(super) fn join(case: &Case, subject: &str, address: &str) -> Result<Box<dyn Caller>, Failure> {
    if subject == "jstream-channel" {
        let receiver = channel::<u64>(address).fan_out().options(options(case)?);
        return Ok(Box::new(Taking {
            from: receiver.receiver()?,
            next: 0,
        }));
    }
    let mut settings = ClientOptions::default();
    settings.transport = options(case)?;
    let client = Client::connect_with(&address.parse()?, &settings).wait()?;
    let numbers = client.lookup::<dyn Numbers>(NAME).wait()?;
    let from = numbers.within(std::time::Duration::MAX).all();
    Ok(Box::new(Taking { from, next: 0 }))
}

/// A source of numbers.
trait From {
    fn number(&mut self) -> Result<u64, Failure>;
}

impl From for Stream<u64> {
    fn number(&mut self) -> Result<u64, Failure> {
        let item = Self::next(self).wait().ok_or("the stream has ended")?;
        Ok(*item?.get())
    }
}

impl From for Receiver<u64> {
    fn number(&mut self) -> Result<u64, Failure> {
        Ok(*self.recv()?.get())
    }
}

struct Taking<F> {
    from: F,
    next: u64,
}

impl<F: From> Caller for Taking<F> {
    fn calls(&mut self, _: &mut Samples) -> Result<(), Failure> {
        Err("the latency of a stream cannot be measured, only its rate".into())
    }

    fn flood(&mut self, items: usize) -> Result<(), Failure> {
        for _ in 0..items {
            let number = self.from.number()?;
            if number != self.next {
                return Err(format!("received {number} instead of {}", self.next).into());
            }
            self.next += 1;
        }
        Ok(())
    }
}
