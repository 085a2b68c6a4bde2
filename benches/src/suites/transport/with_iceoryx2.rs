//! Samples of an iceoryx2 publisher, which the subscriber reads in place.

use std::process;

use iceoryx2::node::Node;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

use super::case::{Case, Touch};
use super::pair::Waiting;
use super::raw::spin;
use super::side::{Channel, FILL, Over, Side, sum};
use crate::Failure;

/// Starts the waiting side. Both sides open the services, and the first of them creates them.
pub(super) fn serve(case: &Case) -> Result<Waiting, Failure> {
    let address = format!("jstream-benches/{}/{}", process::id(), case.name);
    let samples = Samples::new(case, &address, ["there", "back"])?;
    Ok(Waiting::new(address, move || {
        Ok(Box::new(Over::new(samples)))
    }))
}

pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Side>, Failure> {
    let samples = Samples::new(case, address, ["back", "there"])?;
    Ok(Box::new(Over::new(samples)))
}

type Service = ipc::Service;

struct Samples {
    out: Publisher<Service, [u8], ()>,
    back: Subscriber<Service, [u8], ()>,
    /// Payload that is sent, if it is not rewritten for each message.
    ready: Vec<u8>,
    touch: Touch,
    /// Node of the services, dropped last.
    _node: Node<Service>,
}

impl Samples {
    /// Opens the service `from`, from which this side receives, and the service `to`, to which it
    /// sends.
    fn new(case: &Case, address: &str, [from, to]: [&str; 2]) -> Result<Self, Failure> {
        set_log_level(LogLevel::Error);
        let node = NodeBuilder::new().create::<Service>()?;
        let service = |name: &str| -> Result<_, Failure> {
            let name = ServiceName::new(&format!("{address}/{name}"))?;
            let service = node.service_builder(&name).publish_subscribe::<[u8]>();
            Ok(service
                .max_publishers(1)
                .max_subscribers(1)
                .open_or_create()?)
        };
        let out = service(to)?;
        let out = out.publisher_builder();
        let out = out.initial_max_slice_len(case.bytes).create()?;
        let back = service(from)?.subscriber_builder().create()?;
        Ok(Self {
            out,
            back,
            ready: vec![FILL; case.bytes],
            touch: case.touch,
            _node: node,
        })
    }
}

impl Channel for Samples {
    fn send(&mut self, fill: Option<u8>) -> Result<(), Failure> {
        let sample = self.out.loan_slice_uninit(self.ready.len())?;
        let sample = match (fill, self.touch) {
            (Some(fill), _) => sample.write_from_fn(|_| fill),
            (None, Touch::Untouched) => {
                // SAFETY: the service's own memory is initialised, and the receiver ignores the
                // values of the bytes.
                unsafe { sample.assume_init() }
            }
            (None, _) => sample.write_from_slice(&self.ready),
        };
        sample.send()?;
        Ok(())
    }

    fn recv(&mut self, look: bool) -> Result<u64, Failure> {
        let sample = spin(|| Ok(self.back.receive()?))?;
        Ok(if look { sum(sample.payload()) } else { 0 })
    }
}
