#![allow(clippy::unwrap_used, reason = "test code")]

use std::io;
use std::sync::Arc;

use super::{Leaving, Letter, LetterAnswer, LetterPayload, Sender};
use crate::error::Error;
use crate::inbox::Inbox;
use crate::options::Options;
use jstream::buffer::{EmptyBuffer, MessageBuffer, PoolError};
use jstream_device::connection::Payload;
use jstream_endpoint::ops::OpId;

/// A state of a letter with the acknowledgement that its sender expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Here,
    HereEnd,
    Stalled,
    Arriving,
    ArrivingFrame,
    HereFrame,
    Announced,
    Requested,
    Lent,
    Lost,
    NoRoom,
    Absent,
}

use State::{
    Absent, Announced, Arriving, ArrivingFrame, Here, HereEnd, HereFrame, Lent, Lost, NoRoom,
    Requested, Stalled,
};

const STATES: [State; 12] = [
    Here,
    HereEnd,
    Stalled,
    Arriving,
    ArrivingFrame,
    HereFrame,
    Announced,
    Requested,
    Lent,
    Lost,
    NoRoom,
    Absent,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Nothing,
    Matched,
    Refused,
    Success,
    /// An error, and true if the request gets its payload back.
    Failure(bool),
}

struct Sends {
    inbox: Arc<Inbox>,
}

fn filled() -> MessageBuffer {
    EmptyBuffer::heap(8).copy_from(b"contents").unwrap()
}

fn no_room() -> PoolError {
    PoolError::System {
        wanted: 8,
        source: io::ErrorKind::OutOfMemory.into(),
    }
}

impl Sends {
    fn new() -> Self {
        let inbox = Inbox::new(0, 2, &Options::default());
        Self { inbox }
    }

    fn letter(&self, state: State) -> (Letter, Option<OpId>) {
        let request = || self.inbox.lock().insert_send(2, 1).unwrap();
        let sender = |request| Sender::new(self.inbox.clone(), request, 1);
        let payload = || Payload::Bytes(filled());
        let alone = |letter| (letter, None);
        match state {
            Here => alone(Letter::whole(payload())),
            HereEnd => {
                let request = request();
                (Letter::confirmed(payload(), sender(request)), Some(request))
            }
            Stalled => {
                let request = request();
                (Letter::stalled(payload(), sender(request)), Some(request))
            }
            Arriving => alone(Letter::arriving(None)),
            ArrivingFrame => alone(Letter::arriving(Some(7))),
            HereFrame => {
                let mut letter = Letter::arriving(Some(7));
                assert!(letter.complete(payload()).is_none());
                alone(letter)
            }
            Announced => alone(Letter::announced(7)),
            Requested => {
                let mut letter = Letter::announced(7);
                assert_eq!(letter.request(3), Some(7));
                alone(letter)
            }
            Lent => {
                let request = request();
                let letter = Letter::lent(filled(), None, sender(request));
                (letter, Some(request))
            }
            Lost => {
                let mut letter = Letter::arriving(Some(7));
                letter.lose_source();
                alone(letter)
            }
            NoRoom => {
                let mut letter = Letter::arriving(None);
                letter.lose_room(no_room());
                alone(letter)
            }
            Absent => {
                let mut letter = Letter::announced(7);
                assert_eq!(letter.request(3), Some(7));
                letter.lose_payload();
                alone(letter)
            }
        }
    }

    /// Returns the kind of an answer, which ends the request that it answers.
    fn kind_of(&self, answer: LetterAnswer, request: Option<OpId>) -> Answer {
        let kind = match answer {
            LetterAnswer::Nothing => Answer::Nothing,
            LetterAnswer::Matched(7) => Answer::Matched,
            LetterAnswer::Refused(7) => Answer::Refused,
            LetterAnswer::Matched(_) | LetterAnswer::Refused(_) => panic!("another number"),
            LetterAnswer::Finish(sender) => {
                sender.finish();
                Answer::Success
            }
            LetterAnswer::Fail(sender, payload, error) => {
                sender.fail(payload, error);
                Answer::Failure(false)
            }
        };
        let Some(request) = request else {
            return kind;
        };
        let outcome = self.inbox.lock().requests.take_outcome(request).unwrap();
        match kind {
            Answer::Success => assert!(outcome.result.is_ok()),
            _ => assert!(outcome.result.is_err()),
        }
        match kind {
            Answer::Failure(_) => Answer::Failure(outcome.payload.is_some()),
            kind => kind,
        }
    }
}

fn state_of(payload: &LetterPayload) -> State {
    match payload {
        LetterPayload::Here(_) => Here,
        LetterPayload::Arriving => Arriving,
        LetterPayload::Announced => Announced,
        LetterPayload::Requested(3) => Requested,
        LetterPayload::Requested(_) => panic!("another number"),
        LetterPayload::Lent { .. } => Lent,
        LetterPayload::Lost => Lost,
        LetterPayload::NoRoom(_) => NoRoom,
        LetterPayload::Absent => Absent,
    }
}

#[test]
fn letters_are_answered_by_the_reason_for_which_they_leave() {
    use Answer::{Failure, Matched, Nothing, Refused, Success};
    // Received, unwanted, unwanted with an error, too long; and the payload that remains of each.
    let table: [(State, [(Answer, State); 4]); 12] = [
        (Here, [(Nothing, Here); 4]),
        (
            HereEnd,
            [
                (Success, Here),
                (Success, Here),
                (Failure(true), Lost),
                (Failure(true), Lost),
            ],
        ),
        (
            Stalled,
            [
                (Success, Here),
                (Success, Here),
                (Failure(true), Lost),
                (Failure(true), Lost),
            ],
        ),
        (Arriving, [(Nothing, Arriving); 4]),
        (ArrivingFrame, [(Matched, Arriving); 4]),
        (HereFrame, [(Matched, Here); 4]),
        (
            Announced,
            [
                (Matched, Announced),
                (Matched, Announced),
                (Matched, Announced),
                (Refused, Announced),
            ],
        ),
        (Requested, [(Nothing, Requested); 4]),
        (
            Lent,
            [
                (Success, Lent),
                (Success, Lost),
                (Failure(false), Lost),
                (Failure(false), Lost),
            ],
        ),
        (Lost, [(Nothing, Lost); 4]),
        (NoRoom, [(Nothing, NoRoom); 4]),
        (Absent, [(Nothing, Absent); 4]),
    ];
    let sends = Sends::new();
    for (state, row) in table {
        let reasons = [
            Leaving::Received,
            Leaving::Unwanted(None),
            Leaving::Unwanted(Some(Error::Cancelled)),
            Leaving::TooLong { length: 8, max: 4 },
        ];
        for (index, (reason, expected)) in reasons.into_iter().zip(row).enumerate() {
            let (letter, request) = sends.letter(state);
            let (answer, payload) = letter.leave(reason);
            let found = (sends.kind_of(answer, request), state_of(&payload));
            assert_eq!(found, expected, "{state:?}, column {index}");
        }
    }
}

#[test]
fn events_change_queued_letters_as_the_table_says() {
    type Event = fn(&mut Letter);
    let table: [(Event, &[(State, State)]); 6] = [
        (
            |letter| assert_eq!(letter.request(3).is_some(), letter.want().is_some()),
            &[(Announced, Requested)],
        ),
        (
            |letter| assert_eq!(letter.begin(), letter.is_arriving()),
            &[(Requested, Arriving)],
        ),
        (
            |letter| drop(letter.complete(Payload::Bytes(filled()))),
            &[(Arriving, Here), (ArrivingFrame, Here)],
        ),
        (
            |letter| letter.lose_room(no_room()),
            &[
                (Requested, NoRoom),
                (Arriving, NoRoom),
                (ArrivingFrame, NoRoom),
            ],
        ),
        (Letter::lose_payload, &[(Requested, Absent)]),
        (
            Letter::lose_source,
            &[(Arriving, Lost), (ArrivingFrame, Lost)],
        ),
    ];
    let sends = Sends::new();
    for (number, (event, changes)) in table.into_iter().enumerate() {
        for state in STATES {
            // These letters have had the event before.
            let is_repeated = match number {
                0 => state == Requested,
                1 => matches!(state, Arriving | ArrivingFrame),
                _ => false,
            };
            if is_repeated {
                continue;
            }
            let (mut letter, _) = sends.letter(state);
            let before = state_of(&letter.payload);
            event(&mut letter);
            let change = changes.iter().find(|(from, _)| *from == state);
            let expected = change.map_or(before, |(_, to)| *to);
            assert_eq!(
                state_of(&letter.payload),
                expected,
                "{state:?}, event {number}"
            );
        }
    }
}

#[test]
fn a_stalled_sender_is_released_once_when_its_message_is_queued() {
    let sends = Sends::new();
    let (mut letter, request) = sends.letter(Stalled);
    letter.admit().unwrap().finish();
    assert!(letter.admit().is_none() && letter.is_plain());
    let outcome = sends.inbox.lock().requests.take_outcome(request.unwrap());
    assert!(outcome.unwrap().result.is_ok());
    for state in STATES.into_iter().filter(|state| *state != Stalled) {
        assert!(sends.letter(state).0.admit().is_none(), "{state:?}");
    }
}
