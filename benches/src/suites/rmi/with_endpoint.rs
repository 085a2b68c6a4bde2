//! Messages over jstream's endpoints: the same bytes as a call and its result, without the call
//! layer.

use std::io::IoSlice;
use std::thread;

use jstream_transport::{Endpoint, Header, connect, listen};

use super::address::{address, options};
use super::case::Case;
use super::pair::Serving;
use super::raw::{Channel, Exchange, answer};
use super::subject::Caller;
use crate::Failure;

const HEADER: Header = Header::new(1, [0; 3]);

/// Serves one connection until the peer closes it.
pub(super) fn serve(case: &Case) -> Result<Serving, Failure> {
    let what = case.what;
    let listener = listen(&address(case)?, &options(case)?)?;
    let address = listener.local_address().to_string();
    let server = thread::Builder::new().name("endpoint".to_owned());
    let server = server.spawn(move || {
        let accepted = listener.accept().ok().map(|incoming| incoming.establish());
        let Some(Ok(endpoint)) = accepted else { return };
        while let Ok(message) = endpoint.recv_message() {
            let answer = answer(what, message.payload.as_bytes());
            let answer = IoSlice::new(answer.as_ref());
            if endpoint.send_message(HEADER, &[answer]).is_err() {
                return;
            }
        }
    })?;
    Ok(Serving::new(address, server))
}

/// Connects to the server.
pub(super) fn join(case: &Case, address: &str) -> Result<Box<dyn Caller>, Failure> {
    let endpoint = connect(&address.parse()?, &options(case)?)?;
    Ok(Box::new(Exchange::new(case, Messages(endpoint))))
}

struct Messages(Endpoint);

impl Channel for Messages {
    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        Ok(self.0.send_message(HEADER, &[IoSlice::new(message)])?)
    }

    fn recv<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Result<R, Failure> {
        Ok(look(self.0.recv_message()?.payload.as_bytes()))
    }

    fn burst(&mut self, count: usize) -> Result<(), Failure> {
        for _ in 0..count {
            self.send(&[])?;
        }
        for _ in 0..count {
            self.recv(|_| ())?;
        }
        Ok(())
    }
}
