//! The thread of one connection: takes what comes, and calls what it asks for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream_transport::{Endpoint, Message};

use super::ServerOptions;
use super::incoming::{Answer, Incoming};
use super::link::{Link, Next};
use super::outcome::{Ended, Outcome, settle, unless_it_panics};
use super::tasks::Tasks;
use crate::context::{Context, entered};
use crate::exports::Exports;
use crate::frame::{Code, Frame};
use crate::stream::Window;

/// A method that runs for longer has the connection looked at before the next call, which may have been
/// given up meanwhile.
const LONG: Duration = Duration::from_micros(200);

/// Serves the calls of one connection until it ends. One after another, but for async methods: while
/// these wait others run.
pub(super) fn serve(exports: &Exports, options: &ServerOptions, endpoint: &Endpoint) {
    let window = Window::of(options.stream_items, options.stream_bytes);
    let link = Arc::new(Link::new(
        endpoint.clone(),
        options.limits,
        window,
        options.max_streams,
    ));
    let mut connection = Connection {
        exports,
        max_waiting: options.max_waiting,
        tasks: Tasks::new(link.clone()),
        link,
    };
    let _ending = Ending(connection.link.clone());
    let patience = options.transport.message_timeout;
    let mut first = Some(options.first_call_timeout);
    while let Some(next) = connection.tasks.next(first.take(), patience) {
        if connection.take(next).is_err() {
            return;
        }
    }
}

/// Streams end with the connection.
struct Ending(Arc<Link>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.wire.streams.lose(&"it has ended".into());
    }
}

struct Connection<'s> {
    exports: &'s Exports,
    max_waiting: usize,
    link: Arc<Link>,
    tasks: Tasks,
}

impl Connection<'_> {
    fn take(&mut self, next: Next) -> Result<(), Ended> {
        let (message, arrived) = match next {
            Next::Message(message, arrived) => (message, arrived),
            Next::NotBegun(number) => {
                return settle(&self.link, Some(number), Outcome::Refused(Code::NotBegun));
            }
        };
        match Frame::parse(&message.header) {
            Some(Frame::Call {
                number,
                time,
                object,
                method,
            }) => {
                let deadline = time.and_then(|time| arrived.checked_add(time));
                self.answer(message, number, deadline, object, method)
            }
            Some(Frame::Cancel { number }) => self.tasks.cancel(number),
            Some(Frame::Stream { word }) => {
                let known = self.link.wire.streams.arrive(word, message.payload);
                known.then_some(()).ok_or(Ended)
            }
            Some(Frame::Reply { .. } | Frame::Error { .. }) | None => Err(Ended),
        }
    }

    /// Calls what a message asks for.
    fn answer(
        &mut self,
        message: Message,
        number: Option<u64>,
        deadline: Option<Instant>,
        object: u64,
        method: u64,
    ) -> Result<(), Ended> {
        let refuse = |code, reason| settle(&self.link, number, Outcome::Explained(code, reason));
        let begun = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= begun) {
            return refuse(Code::TooLate, String::new());
        }
        let Some((interface, callee)) = self.exports.object(object) else {
            return refuse(Code::UnknownObject, String::new());
        };
        let Some(method) = interface.find(method) else {
            let known = format!("it has {}", interface.description());
            return refuse(Code::UnknownMethod, known);
        };
        if self.tasks.count() >= self.max_waiting {
            return refuse(Code::Busy, String::new());
        }
        let incoming = Incoming {
            payload: message.payload,
            answer: Answer {
                number,
                link: self.link.clone(),
            },
        };
        let mut context = Context {
            deadline,
            call: number.map(|number| (self.link.clone(), number)),
        };
        self.link.runs(number);
        // The object may have been unbound meanwhile, and be dropped here.
        let begin = || entered(&mut context, move || callee.begin(method, incoming));
        let result = unless_it_panics(begin);
        self.link.runs(None);
        let ended = match result {
            Some(Ok(Some(running))) => return self.tasks.start(running, context, number),
            Some(Ok(None)) => Outcome::Of(Ok(())),
            Some(Err(failed)) => Outcome::Of(Err(failed)),
            None => Outcome::Refused(Code::Panicked),
        };
        if begun.elapsed() > LONG {
            self.link.look_ahead();
        }
        settle(&self.link, number, ended)
    }
}
