//! Tests of the ledger: two compliant sides, checked against a model of their open messages, and
//! one peer that violates the protocol.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::collections::{HashMap, HashSet, VecDeque};

use jstream::buffer::MessageBuffer;
use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Ask(u64),
    Tell(u64),
    /// A message of the peer is received.
    Receive,
    /// As `Receive`, but an answer goes to the fast path of the waiting thread.
    Await,
    /// The handler of an open message completes it.
    Close(usize),
    /// The answer to a request is taken.
    Take(usize),
    /// A request is abandoned.
    Forget(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let length = prop_oneof![Just(0), 0..50u64, 100..500u64];
    prop_oneof![
        3 => length.clone().prop_map(Step::Ask),
        2 => length.prop_map(Step::Tell),
        3 => Just(Step::Receive),
        3 => Just(Step::Await),
        4 => any::<usize>().prop_map(Step::Close),
        2 => any::<usize>().prop_map(Step::Take),
        1 => any::<usize>().prop_map(Step::Forget),
    ]
}

#[derive(Debug)]
enum Letter {
    Request(u32, u64),
    Send(u64),
    Reply(u32),
    Credit,
}

#[test]
fn requests_end_when_none_is_outstanding() {
    let window = || Window::new(8, 1000);
    let accounts = Accounts::new(Ledger::new(window(), window()));
    let answered = Credit {
        messages: 1,
        bytes: 10,
    };
    let (number, ..) = accounts.begin(10).unwrap();
    assert!(!accounts.stop_requests());
    // After this answer, a request would be accounted for outside the ledger.
    assert!(accounts.settle_answer(number, answered));
    let (number, ..) = accounts.begin(10).unwrap();
    assert!(!accounts.stop_requests());
    assert!(accounts.settle_answer(number, answered));
    assert!(accounts.stop_requests() && accounts.stop_requests());
    assert!(matches!(accounts.begin(10), Err(Held::Ended)));
    assert!(matches!(accounts.lock().has_credit(10), Err(Held::Ended)));
    // One-way messages are still sent.
    assert!(accounts.lock().charge(10).is_ok());
    assert!(!accounts.has_ended() && !accounts.is_retired());
    accounts.retire();
    assert!(!accounts.has_ended() && accounts.is_retired());
}

#[test]
fn a_connection_that_has_ended_is_retired() {
    let window = || Window::new(8, 1000);
    let accounts = Accounts::new(Ledger::new(window(), window()));
    accounts.end();
    assert!(accounts.has_ended() && accounts.is_retired());
}

/// One side: its ledger, and a simple model of the state.
struct Side {
    accounts: Accounts,
    /// Frames on their way to this side.
    inbox: VecDeque<(Letter, Credit)>,
    /// Messages of the peer that are not completed.
    open: Vec<(Number, u64)>,
    /// Numbers of requests whose answers are wanted, and those whose answers were recorded.
    wanted: Vec<u32>,
    collect: HashSet<u32>,
}

impl Side {
    fn new(ours: (u32, u64), theirs: (u32, u64)) -> Self {
        Self {
            accounts: Accounts::new(Ledger::new(
                Window::new(theirs.0, theirs.1),
                Window::new(ours.0, ours.1),
            )),
            inbox: VecDeque::new(),
            open: Vec::new(),
            wanted: Vec::new(),
            collect: HashSet::new(),
        }
    }

    fn receive(&mut self, awaits: bool) {
        let Some((letter, credit)) = self.inbox.pop_front() else {
            return;
        };
        match letter {
            Letter::Reply(number) if awaits && self.wanted.first() == Some(&number) => {
                assert!(self.accounts.settle_answer(number, credit));
                self.wanted.remove(0);
                return;
            }
            Letter::Request(number, length)
                if self.accounts.accept_alone(number, length, credit) =>
            {
                let asked = |(open, _): &(Number, u64)| open.asked().is_some();
                assert!(!self.open.iter().any(asked), "there is another one");
                self.open.push((Number::Asked(number), length));
                return;
            }
            _ => {}
        }
        let mut ledger = self.accounts.lock();
        ledger.absorb(credit, &mut Vec::new()).unwrap();
        match letter {
            Letter::Request(number, length) => {
                let number = ledger.accept(Some(number), length).unwrap();
                self.open.push((number, length));
            }
            Letter::Send(length) => {
                let number = ledger.accept(None, length).unwrap();
                self.open.push((number, length));
            }
            Letter::Reply(number) => {
                let answer = Answer::Reply {
                    word: u64::from(number),
                    payload: MessageBuffer::nothing(),
                };
                ledger.answer(number, answer).unwrap();
                self.collect.insert(number);
            }
            Letter::Credit => {}
        }
    }

    fn close(&mut self, which: usize, to: &mut VecDeque<(Letter, Credit)>) {
        if self.open.is_empty() {
            return;
        }
        let (number, length) = self.open.swap_remove(which % self.open.len());
        match number {
            Number::Asked(asked) => {
                let credit = self.accounts.close(number, length);
                to.push_back((Letter::Reply(asked), credit));
            }
            Number::Told(_) => {
                let (credit, _) = self.accounts.lock().close_silently(number, length);
                to.extend(credit.map(|credit| (Letter::Credit, credit)));
            }
        }
    }

    fn step(&mut self, step: Step, to: &mut VecDeque<(Letter, Credit)>) {
        match step {
            Step::Ask(length) => {
                if let Ok((number, credit, _)) = self.accounts.begin(length) {
                    assert!(!self.wanted.contains(&number), "a number is used twice");
                    self.wanted.push(number);
                    to.push_back((Letter::Request(number, length), credit));
                }
            }
            Step::Tell(length) => {
                if let Ok(credit) = self.accounts.lock().charge(length) {
                    to.push_back((Letter::Send(length), credit));
                }
            }
            Step::Receive => self.receive(false),
            Step::Await => self.receive(true),
            Step::Close(which) => self.close(which, to),
            Step::Take(which) if !self.wanted.is_empty() => {
                let place = which % self.wanted.len();
                let number = self.wanted[place];
                let taken = self.accounts.lock().take(number, None, &mut None);
                match taken.unwrap() {
                    Some(Answer::Reply { word, .. }) => {
                        assert_eq!(word, u64::from(number));
                        assert!(self.collect.remove(&number));
                        self.wanted.swap_remove(place);
                    }
                    None => assert!(!self.collect.contains(&number)),
                    other => panic!("{other:?}"),
                }
            }
            Step::Forget(which) if !self.wanted.is_empty() => {
                let number = self.wanted.swap_remove(which % self.wanted.len());
                let (is_open, call) = self.accounts.lock().forget(number);
                assert_eq!(is_open, !self.collect.remove(&number));
                assert_eq!(matches!(call, Some(Call::Done(_))), !is_open);
            }
            Step::Take(_) | Step::Forget(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn two_sides_that_keep_to_the_rules_never_break_them(
        windows in [(1..5u32, 1..300u64), (1..5u32, 1..300u64)],
        steps in prop::collection::vec((any::<bool>(), step()), 0..300),
    ) {
        let [ours, theirs] = windows;
        let mut sides = [Side::new(ours, theirs), Side::new(theirs, ours)];
        for (second, step) in steps {
            let [one, other] = &mut sides;
            let (here, there) = if second { (other, one) } else { (one, other) };
            here.step(step, &mut there.inbox);
        }
        // When all messages are completed, all credit has been returned: each side has its full
        // window again.
        for _ in 0..400 {
            for place in 0..2 {
                let [one, other] = &mut sides;
                let (here, there) = if place == 0 { (one, other) } else { (other, one) };
                here.step(Step::Receive, &mut there.inbox);
                here.step(Step::Close(0), &mut there.inbox);
                here.step(Step::Take(0), &mut there.inbox);
            }
        }
        for side in &mut sides {
            prop_assert!(side.wanted.is_empty() && side.open.is_empty() && side.inbox.is_empty());
            let mut ledger = side.accounts.lock();
            prop_assert_eq!((ledger.outstanding(), ledger.under_way()), (0, 0));
            prop_assert!(ledger.charge(u64::MAX / 4).is_ok(), "a window that stays shut");
        }
    }

    #[test]
    fn whoever_breaks_them_is_found_or_stays_within_its_window(
        messages in 1..5u32,
        frames in prop::collection::vec((0..4u8, 0..8u32, 0..60u64, any::<bool>()), 0..200),
    ) {
        let accounts = Accounts::new(Ledger::new(Window::new(4, 100), Window::new(messages, 100)));
        let mut open: HashMap<u64, (Number, u64)> = HashMap::new();
        let mut places = 0;
        for (serial, (kind, number, length, closes)) in (0u64..).zip(frames) {
            let accepted = match kind {
                0 if accounts.accept_alone(number, length, Credit::default()) => {
                    Ok(Number::Asked(number))
                }
                0 => accounts.lock().accept(Some(number), length),
                1 => accounts.lock().accept(None, length),
                2 => {
                    // No request is outstanding, and no message is in flight.
                    let answer = Answer::Reply { word: 0, payload: MessageBuffer::nothing() };
                    let given = Credit { messages: 1, bytes: length };
                    prop_assert!(!accounts.settle_answer(number, given));
                    prop_assert!(accounts.lock().answer(number, answer).is_err());
                    prop_assert!(accounts.lock().hand_out(number).is_err());
                    continue;
                }
                _ => {
                    let credit = Credit { messages: 1, bytes: length };
                    prop_assert!(accounts.lock().absorb(credit, &mut Vec::new()).is_err());
                    continue;
                }
            };
            let Ok(number) = accepted else {
                continue;
            };
            open.insert(serial, (number, length));
            prop_assert!(open.len() <= messages as usize);
            if closes {
                // The answer is queued behind other frames, so its credit does not count before it
                // is sent.
                let (number, length) = open[&serial];
                let credit = accounts.close(number, length);
                places += 1;
                accounts.lock().withhold(credit, 1, places);
            }
        }
        let mut ledger = accounts.lock();
        prop_assert!(ledger.withheld.len() <= messages as usize);
        ledger.record_sent(places);
        prop_assert!(!ledger.withholds());
    }
}

#[test]
fn what_waits_behind_others_gives_back_when_it_has_gone_itself() {
    let mut ledger = Ledger::new(Window::new(4, 100), Window::new(2, 100));
    let numbers = [0, 1].map(|number| ledger.accept(Some(number), 40).unwrap());
    // Other frames are queued before, between and behind them.
    for (number, place) in numbers.into_iter().zip([3, 5]) {
        let (credit, _) = ledger.close(number, 40);
        ledger.withhold(credit, 10, place);
    }
    for (gone, fits) in [(2, false), (3, true), (4, false), (5, true), (9, false)] {
        ledger.record_sent(gone);
        assert_eq!(ledger.accept(None, 40).is_ok(), fits, "{gone}");
    }
    assert_eq!(ledger.unsent(), 0);
}

/// Consecutive requests of one side: all but the first take the fast path.
#[test]
fn requests_that_are_alone_leave_the_ledger_as_it_was() {
    let window = Window::new(2, 100);
    let [asking, serving] = [(); 2].map(|()| Accounts::new(Ledger::new(window, window)));
    let mut numbers = HashSet::new();
    for round in 0..5u64 {
        let (number, credit, haste) = asking.begin(round).unwrap();
        assert!(numbers.insert(number), "a number is used again");
        assert_eq!((credit, haste), (Credit::default(), Haste::Now));
        let is_alone = serving.accept_alone(number, round, credit);
        assert_eq!(is_alone, round > 0);
        if !is_alone {
            serving.lock().accept(Some(number), round).unwrap();
        }
        let credit = serving.close(Number::Asked(number), round);
        assert!(asking.settle_answer(number, credit));
        assert!(
            !asking.settle_answer(number, credit),
            "it is answered twice"
        );
    }
    let (number, ..) = asking.begin(7).unwrap();
    assert!(serving.accept_alone(number, 7, Credit::default()));
    assert!(!serving.accept_alone(number, 7, Credit::default()));
    // Locking the ledger shows the request like any other.
    let mut ledger = asking.lock();
    assert!(ledger.is_open(number));
    assert_eq!((ledger.outstanding(), ledger.haste()), (1, Haste::Asking));
    assert_eq!((ledger.out.messages_out, ledger.out.bytes_out), (1, 7));
    drop(ledger);
    let mut ledger = serving.lock();
    assert_eq!(ledger.under_way(), 1);
    assert!(ledger.accept(Some(number), 7).is_err(), "used twice");
    drop(ledger);
    assert!(!asking.settle_answer(
        number,
        Credit {
            messages: 3,
            bytes: 0
        }
    ));
    let credit = serving.close(Number::Asked(number), 7);
    assert!(asking.settle_answer(number, credit));
    assert_eq!(asking.lock().outstanding(), 0);
}

/// If credit is due, or a sender waits for credit, the next frame must carry or report it, so no
/// request takes the fast path.
#[test]
fn a_request_is_not_alone_where_something_is_due_or_waited_for() {
    let window = Window::new(4, 100);
    let accounts = Accounts::new(Ledger::new(window, window));
    let ask = || {
        let (number, credit, _) = accounts.begin(1).unwrap();
        let given = Credit {
            messages: 1,
            bytes: 1,
        };
        assert!(accounts.settle_answer(number, given));
        credit
    };
    ask();
    let told = accounts.lock().accept(None, 3).unwrap();
    assert_eq!(accounts.lock().close_silently(told, 3).0, None);
    assert_eq!(
        ask(),
        Credit {
            messages: 1,
            bytes: 3
        }
    );
    assert_eq!(ask(), Credit::default());
    accounts.lock().want(Waker::noop());
    let (number, ..) = accounts.begin(1).unwrap();
    let given = Credit {
        messages: 1,
        bytes: 1,
    };
    assert!(!accounts.settle_answer(number, given), "who waits is told");
    // After the end, no request begins.
    accounts.lock().end();
    assert_eq!(accounts.begin(1), Err(Held::Ended));
}

/// A peer may use any number. High numbers need no more memory than low ones.
#[test]
fn high_numbers_take_a_place_while_they_are_open() {
    let mut ledger = Ledger::new(Window::new(4, 100), Window::new(4, 100));
    for round in 0..3u32 {
        for index in [0xffff, 0x8000, 1024, 1023] {
            let number = index | (round << 16);
            let accepted = ledger.accept(Some(number), 1).unwrap();
            assert_eq!(accepted, Number::Asked(number));
            assert!(!ledger.is_cancelled(accepted));
            ledger.cancelled(number);
            assert!(ledger.is_cancelled(accepted));
        }
        assert_eq!(ledger.under_way(), 4);
        for index in [0xffff, 0x8000, 1024, 1023] {
            let (credit, open) = ledger.close(Number::Asked(index | (round << 16)), 1);
            assert_eq!((credit.messages, credit.bytes), (1, 1));
            assert!(matches!(open, Open::Running));
        }
        assert_eq!(ledger.under_way(), 0);
    }
    ledger.accept(Some(0xffff), 1).unwrap();
    assert!(ledger.accept(Some(0x1_ffff), 1).is_err(), "used twice");
}

/// Requests that are too long for the fast path use the ledger, even if it is locked meanwhile.
#[test]
fn long_requests_take_of_the_window_what_they_give_back() {
    let window = Window::new(4, 1 << 20);
    let [asking, serving] = [(); 2].map(|()| Accounts::new(Ledger::new(window, window)));
    for (round, length) in [1, 0xffff, 0x1_0000, 0x5_0000]
        .into_iter()
        .cycle()
        .take(16)
        .enumerate()
    {
        let (number, given, _) = asking.begin(length).unwrap();
        if round % 2 == 0 {
            assert_eq!(asking.lock().out.bytes_out, length);
        }
        if !serving.accept_alone(number, length, given) {
            serving.lock().accept(Some(number), length).unwrap();
        }
        if round % 4 < 2 {
            assert_eq!(serving.lock().inward.bytes_out, length);
        }
        let credit = serving.close(Number::Asked(number), length);
        assert_eq!((credit.messages, credit.bytes), (1, length));
        assert!(asking.settle_answer(number, credit));
    }
    for accounts in [asking, serving] {
        let ledger = accounts.lock();
        assert_eq!((ledger.out.bytes_out, ledger.inward.bytes_out), (0, 0));
        assert_eq!(
            (ledger.out.messages_out, ledger.inward.messages_out),
            (0, 0)
        );
    }
}
