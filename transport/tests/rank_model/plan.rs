//! What ranks are going to do.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::bytes;

/// Receives that are given a memory have so much for a message, or too little for most.
pub(crate) const ROOM: usize = 80_000;
pub(crate) const LITTLE: usize = 1_200;

/// No message has a number beyond.
const MOST: usize = 512;

/// The length of message `id`, which tells the number.
pub(crate) const fn length(id: usize, class: usize) -> usize {
    const CLASSES: [usize; 6] = [0, 0, 1, 2, 6, 17];
    8 * (id + MOST * CLASSES[class % CLASSES.len()]) + 8
}

pub(crate) fn number(length: u64) -> usize {
    length.saturating_sub(8) as usize / 8 % MOST
}

pub(crate) fn content(id: usize, class: usize) -> Vec<u8> {
    let mut content = (id as u64).to_ne_bytes().to_vec();
    content.extend(bytes(length(id, class) - 8, id as u64 + 1));
    content
}

/// Several ranks, and several threads of each.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) size: u32,
    pub(crate) setting: Setting,
    pub(crate) tasks: Vec<Task>,
    /// This rank ends when its threads are done, with all that it has not received.
    pub(crate) victim: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Few messages may wait.
    pub(crate) tight: bool,
    pub(crate) eager: Option<u64>,
    /// Nobody spins.
    pub(crate) sleepy: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) rank: u32,
    pub(crate) steps: Vec<Step>,
}

impl Task {
    /// Others receive for its rank: it may wait for its messages to be received.
    pub(crate) fn only_sends(&self) -> bool {
        let mut steps = self.steps.iter();
        !self.steps.is_empty()
            && steps.all(|step| matches!(step, Step::Send(_) | Step::Nobody | Step::Pause(_)))
    }
}

/// Which messages are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wants {
    pub(crate) from: Option<u32>,
    pub(crate) tag: Option<u64>,
}

impl Wants {
    pub(crate) const ANY: Self = Self {
        from: None,
        tag: None,
    };

    pub(crate) fn matches(&self, source: u32, tag: u64) -> bool {
        self.from.is_none_or(|from| from == source) && self.tag.is_none_or(|wanted| wanted == tag)
    }

    /// Whether one message may be wanted by both.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let agree =
            |one: Option<u64>, other: Option<u64>| one.is_none() || other.is_none() || one == other;
        agree(self.from.map(u64::from), other.from.map(u64::from)) && agree(self.tag, other.tag)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Send {
    pub(crate) id: usize,
    pub(crate) to: u32,
    pub(crate) tag: u64,
    pub(crate) class: usize,
    /// As elements of a type: then nobody else has its tag.
    pub(crate) typed: bool,
    pub(crate) how: SendHow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendHow {
    Plain,
    Confirmed,
    Posted,
    PostedConfirmed,
    Filled,
    Scoped,
    ScopedConfirmed,
    Forgotten,
    Persistent,
    /// Taken back, if it is not too late; then it is sent again.
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveHow {
    Waiting,
    Timed(u64),
    Filled,
    Scoped,
    Persistent,
    Posted,
    PostedInto,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elements {
    Bytes,
    Words,
    Floats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    Any,
    Some,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Received,
    InJbuf,
    GivenBack,
    /// Until something else was done.
    Held,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Send(Send),
    Receive {
        wants: Wants,
        how: ReceiveHow,
        little: bool,
        elements: Elements,
    },
    /// Several receives that are waited for together.
    Batch {
        wants: Wants,
        count: usize,
        how: Together,
    },
    Exchange {
        send: Send,
        wants: Wants,
    },
    Probe {
        wants: Wants,
        patience: u64,
        then: Found,
    },
    /// Looks at what was posted.
    Look(Together),
    Cancel(usize),
    Nobody,
    Pause(u64),
}

fn send() -> impl Strategy<Value = Send> {
    use SendHow::{
        Cancelled, Confirmed, Filled, Forgotten, Persistent, Plain, Posted, PostedConfirmed,
        Scoped, ScopedConfirmed,
    };
    let how = prop_oneof![
        6 => Just(Plain), 2 => Just(Confirmed), 4 => Just(Posted), 2 => Just(PostedConfirmed),
        2 => Just(Filled), 2 => Just(Scoped), 1 => Just(ScopedConfirmed), 1 => Just(Forgotten),
        1 => Just(Persistent), 1 => Just(Cancelled),
    ];
    let class = prop_oneof![4 => 0..3usize, 2 => 3..5usize, 1 => Just(5usize)];
    let typed = prop::bool::weighted(0.15);
    (0..4u32, 0..3u64, class, typed, how).prop_map(|(to, tag, class, typed, how)| Send {
        id: 0,
        to,
        tag,
        class,
        typed,
        how,
    })
}

fn wants() -> impl Strategy<Value = Wants> {
    let from = prop_oneof![2 => Just(None), 3 => (0..4u32).prop_map(Some)];
    let tag = prop_oneof![2 => Just(None), 3 => (0..3u64).prop_map(Some)];
    (from, tag).prop_map(|(from, tag)| Wants { from, tag })
}

fn together() -> impl Strategy<Value = Together> {
    use Together::{All, Any, Some};
    prop_oneof![Just(Any), Just(Some), Just(All)]
}

fn step() -> impl Strategy<Value = Step> {
    use ReceiveHow::{Filled, Persistent, Posted, PostedInto, Scoped, Timed, Waiting};
    let how = prop_oneof![
        5 => Just(Waiting), 2 => (0..300u64).prop_map(Timed), 1 => Just(Filled), 1 => Just(Scoped),
        1 => Just(Persistent), 4 => Just(Posted), 2 => Just(PostedInto),
    ];
    let elements = prop_oneof![
        4 => Just(Elements::Bytes), 1 => Just(Elements::Words), 1 => Just(Elements::Floats)
    ];
    let then = prop_oneof![
        2 => Just(Found::Received), 1 => Just(Found::InJbuf), 1 => Just(Found::GivenBack),
        2 => Just(Found::Held),
    ];
    prop_oneof![
        8 => send().prop_map(Step::Send),
        8 => (wants(), how, prop::bool::weighted(0.1), elements).prop_map(
            |(wants, how, little, elements)| Step::Receive { wants, how, little, elements }
        ),
        1 => (wants(), 1..4usize, together()).prop_map(
            |(wants, count, how)| Step::Batch { wants, count, how }
        ),
        1 => (send(), wants()).prop_map(|(send, wants)| Step::Exchange { send, wants }),
        3 => (wants(), 0..200u64, then).prop_map(
            |(wants, patience, then)| Step::Probe { wants, patience, then }
        ),
        1 => together().prop_map(Step::Look),
        1 => any::<usize>().prop_map(Step::Cancel),
        1 => rest(),
    ]
}

fn rest() -> impl Strategy<Value = Step> {
    prop_oneof![Just(Step::Nobody), (0..200u64).prop_map(Step::Pause)]
}

/// One thread: of those that do everything, or that only send.
fn task() -> impl Strategy<Value = Task> {
    let sends = prop_oneof![12 => send().prop_map(Step::Send), 1 => rest()];
    let steps = prop_oneof![2 => vec(step(), 0..24), 1 => vec(sends, 1..16)];
    (0..4u32, steps).prop_map(|(rank, steps)| Task { rank, steps })
}

fn setting() -> impl Strategy<Value = Setting> {
    let eager = prop_oneof![2 => Just(None), 1 => Just(Some(500)), 1 => Just(Some(0))];
    (prop::bool::weighted(0.3), eager, prop::bool::weighted(0.3)).prop_map(
        |(tight, eager, sleepy)| Setting {
            tight,
            eager,
            sleepy,
        },
    )
}

/// Anything that ends, whatever the order in which it happens.
pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let victim = prop::option::weighted(0.25, 0..4u32);
    (2..4u32, setting(), vec(task(), 1..7), victim).prop_map(|(size, setting, tasks, victim)| {
        Plan {
            size,
            setting,
            tasks,
            victim,
        }
        .made_whole()
    })
}

impl Plan {
    /// The same, with ranks and messages that there are, and somebody who receives for each rank.
    fn made_whole(mut self) -> Self {
        let (mut next, size) = (0, self.size);
        for task in &mut self.tasks {
            task.rank %= size;
            for step in &mut task.steps {
                let (send, wants) = match step {
                    Step::Send(send) => (Some(send), None),
                    Step::Exchange { send, wants } => (Some(send), Some(wants)),
                    Step::Receive { wants, .. }
                    | Step::Batch { wants, .. }
                    | Step::Probe { wants, .. } => (None, Some(wants)),
                    _ => (None, None),
                };
                if let Some(send) = send {
                    send.to %= size;
                    send.id = next;
                    // The odd one is for who cancels it, and sends it again.
                    next += 2;
                    assert!(next < MOST);
                    if send.typed {
                        send.tag = 1000 + send.id as u64;
                    }
                }
                if let Some(Wants {
                    from: Some(from), ..
                }) = wants
                {
                    *from %= size;
                }
            }
        }
        for rank in 0..size {
            let mut others = self.tasks.iter().filter(|task| task.rank == rank);
            if others.all(Task::only_sends) {
                let steps = Vec::new();
                self.tasks.push(Task { rank, steps });
            }
        }
        self.victim = self.victim.map(|victim| victim % size);
        self
    }

    /// How many messages a rank is sent.
    pub(crate) fn sent_to(&self, rank: u32, by: impl Fn(u32) -> bool) -> usize {
        let tasks = self.tasks.iter().filter(|task| by(task.rank));
        let sends = tasks.flat_map(|task| &task.steps).filter(|step| {
            matches!(step, Step::Send(send) | Step::Exchange { send, .. } if send.to == rank)
        });
        sends.count()
    }
}
