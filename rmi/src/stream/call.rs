//! The streams of one call, on both sides, and the references that the call carries.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use jstream::Transportable;

use crate::frame::{Key, Word};
use crate::interface::{MessageConversion, Method};
use crate::reference::{Between, Giving, Passed};
use crate::session::{Clock, Flow, Half, Inbox, Line, Stop};
use crate::stream::error::StreamError;
use crate::stream::feed::Relayed;
use crate::stream::frames::Ending;
use crate::stream::handle::{Of, Stream};
use crate::stream::local_call::LocalCallStreams;
use crate::stream::made::Here;
use crate::stream::pump::{Ended, Pump, Pumps};
use crate::stream::receiving::Receiving;
use crate::support::FirstWait;

/// The streams and references of a call that is about to be made.
pub struct Carried {
    /// The connection, once the first stream needs it.
    line: Option<Arc<dyn Line>>,
    pumps: Pumps,
    has_streams: bool,
    giving: Giving,
}

/// The result stream of a call that is about to be made.
#[must_use = "pass it to the call"]
pub struct Taken<T: Transportable + 'static>(Receiving<T>);

impl Carried {
    pub(crate) fn new(giving: Giving) -> Self {
        Self {
            line: None,
            pumps: Pumps::default(),
            has_streams: false,
            giving,
        }
    }

    /// Adds references. Returns their wire form.
    pub fn give<P: Passed>(&mut self, references: P) -> P::Wire {
        references.give(&mut self.giving)
    }

    pub(crate) fn between(&self) -> &Between {
        self.giving.between()
    }

    /// Creates an empty set for a test.
    #[cfg(test)]
    pub(super) fn over(line: Arc<dyn Line>) -> Self {
        Self {
            line: Some(line),
            ..Self::new(Giving::none())
        }
    }

    fn line(&mut self) -> Arc<dyn Line> {
        let line = self
            .line
            .get_or_insert_with(|| match self.giving.between() {
                Between::Peers(connection) => Arc::new(connection.clone()),
                Between::Here(_) => Arc::new(LocalCallStreams::default()),
            });
        line.clone()
    }

    /// Adds an argument stream. Returns its number, which represents it in the call.
    pub fn send<T: Transportable + 'static>(&mut self, stream: Stream<T>) -> u64 {
        self.has_streams = true;
        let flow = Arc::new(Flow::default());
        let line = self.line();
        // In the table before the call is sent: the window of the receiver may arrive before this
        // thread goes on.
        let key = line.streams().begin(Half::Sends(flow.clone()));
        self.pumps.add(match source(stream) {
            Ok(made) => made.argument(line, key, flow),
            Err(from) => Pump::new(line, key, flow, *from, true),
        });
        key.number.into()
    }

    /// Expects a stream as the result. Returns it with the word that represents it in the call.
    pub fn take<T: Transportable + 'static>(&mut self) -> (Taken<T>, u64) {
        self.has_streams = true;
        let line = self.line();
        let window = line.window();
        let inbox = Arc::new(Inbox::new(window));
        // In the table before the call is sent, because items may arrive before its answer.
        let key = line.streams().begin(Half::Takes(inbox.clone()));
        let taken = Taken(Receiving::new(line, key, inbox));
        (taken, Word::Open { window }.pack(key))
    }

    /// Returns the pumps of the streams, the references, and whether there are streams.
    pub(crate) fn into_parts(self) -> (Pumps, Giving, bool) {
        (self.pumps, self.giving, self.has_streams)
    }
}

/// Returns the source of the items of a stream that is sent: items of this program, or frames of a
/// peer.
fn source<T: Transportable + 'static>(stream: Stream<T>) -> Result<Box<dyn Here<T>>, Box<Relayed>> {
    let relayed = match stream.of {
        Of::Here(made, _) => return Ok(made),
        Of::Peer(from) => Relayed::new(from.into_frames()),
        Of::Failed(error) => Relayed::failed(error),
        Of::Resumed(Some(attempt), resumption) if !resumption.has_begun() => {
            return source(*attempt);
        }
        Of::Resumed(..) => Relayed::new(None),
    };
    Err(Box::new(relayed))
}

impl<T: Transportable + 'static> Taken<T> {
    /// Sets the conversion of the frames.
    pub(crate) fn convert(&mut self, conversion: Option<Arc<MessageConversion>>) {
        self.0.convert(conversion);
    }

    /// Creates the stream. `call` is the future of its call's end, and `terms` are the method of
    /// the call and its deadline.
    pub(crate) fn stream(
        self,
        call: Ending,
        terms: (&'static Method, Option<Instant>),
        clock: &Clock,
    ) -> Stream<T> {
        let Self(mut receiving) = self;
        receiving.belongs_to(call, terms, clock);
        Stream {
            of: Of::Peer(receiving),
            waits: FirstWait::default(),
        }
    }
}

impl<T: Transportable + 'static> Stream<T> {
    /// Opens an argument stream of a call of the peer. Returns `None` if a stream with this number
    /// exists. The frames are converted, if there is a conversion.
    pub(crate) fn argument(
        line: &Arc<dyn Line>,
        number: u64,
        conversion: Option<Arc<MessageConversion>>,
    ) -> Option<Self> {
        let window = line.window();
        let inbox = Arc::new(Inbox::new(window));
        let number = u32::try_from(number).ok()?;
        // In the table before the window is announced, after which the peer may send at once.
        let key = line.streams().join(number, Half::Takes(inbox.clone()))?;
        let mut receiving = Receiving::new(line.clone(), key, inbox);
        receiving.convert(conversion);
        let of = Of::Peer(receiving);
        line.post(Word::Open { window }.pack(key));
        let waits = FirstWait::default();
        Some(Self { of, waits })
    }

    /// Sends the items as the result of a call of the peer. `word` represents the stream in the
    /// call. Returns the number of frames.
    pub(crate) async fn result(self, line: Arc<dyn Line>, word: u64) -> Result<u64, Ended> {
        let broken = Ended::Stopped(Stop::Broken("it requests a stream by an invalid word"));
        // The word comes out of the arguments, so it is as untrusted as these.
        let Some((
            Key {
                ours: false,
                number,
            },
            Word::Open { window },
        )) = Word::parse(word)
        else {
            return Err(broken);
        };
        let flow = Arc::new(Flow::opened(window));
        // Refused if the peer has a stream with this number already: two streams could not be told
        // apart.
        let Some(key) = line.streams().join(number, Half::Sends(flow.clone())) else {
            return Err(broken);
        };
        let from = match source(self) {
            Ok(made) => return Ok(made.result(line, key, flow).await?.into()),
            Err(from) => *from,
        };
        let frames = Pump::new(line, key, flow, from, false).run().await?;
        Ok(frames.into())
    }

    /// Creates the result stream of a call that could not be made.
    pub(crate) fn failed(error: StreamError) -> Self {
        Self {
            of: Of::Failed(Some(error)),
            waits: FirstWait::default(),
        }
    }
}

impl fmt::Debug for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carried").finish_non_exhaustive()
    }
}

impl<T: Transportable + 'static> fmt::Debug for Taken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken").finish_non_exhaustive()
    }
}
