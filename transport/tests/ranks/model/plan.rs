//! The random plans that ranks execute.

use proptest::collection::vec;
use proptest::prelude::*;

use testing::patterns::bytes;

/// Capacities of receive buffers in bytes: large enough for every message, and too small for most.
pub(crate) const ROOM: usize = 80_000;
pub(crate) const LITTLE: usize = 1_200;

/// The upper limit for the numbers of messages.
const MOST: usize = 512;

/// Returns the length of message `id`, which encodes the number.
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

/// A plan for several ranks with several threads each.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) size: u32,
    pub(crate) setting: Setting,
    pub(crate) tasks: Vec<Task>,
    /// The rank that ends when its threads are done, with all messages that it has not received.
    pub(crate) victim: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// True if the bounds of the ranks are small.
    pub(crate) tight: bool,
    pub(crate) eager: Option<u64>,
    /// True if threads sleep without spinning.
    pub(crate) sleepy: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) rank: u32,
    pub(crate) steps: Vec<Step>,
}

impl Task {
    /// Returns true if the thread only sends. Other threads receive for its rank, so it may wait
    /// for its messages to be received.
    pub(crate) fn only_sends(&self) -> bool {
        let mut steps = self.steps.iter();
        !self.steps.is_empty()
            && steps.all(|step| matches!(step, Step::Send(_) | Step::Nobody | Step::Pause(_)))
    }
}

/// The messages that a receive accepts.
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

    /// Returns true if some message may match both.
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
    /// True if the message has elements of a type. Its tag is then unique.
    pub(crate) typed: bool,
    pub(crate) how: SendHow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendHow {
    Plain,
    Confirmed,
    Posted,
    PostedConfirmed,
    MessageBuffer,
    Scoped,
    ScopedConfirmed,
    Forgotten,
    Persistent,
    /// The message is cancelled if it is not too late, and then sent again.
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveHow {
    Waiting,
    Timed(u64),
    MessageBuffer,
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
    /// Kept until another step is done.
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
    /// Several receives that are completed together.
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
    /// Polls the posted operations.
    Look(Together),
    Cancel(usize),
    Nobody,
    Pause(u64),
}

fn send() -> impl Strategy<Value = Send> {
    use SendHow::{
        Cancelled, Confirmed, Forgotten, MessageBuffer, Persistent, Plain, Posted, PostedConfirmed,
        Scoped, ScopedConfirmed,
    };
    let how = prop_oneof![
        6 => Just(Plain), 2 => Just(Confirmed), 4 => Just(Posted), 2 => Just(PostedConfirmed),
        2 => Just(MessageBuffer), 2 => Just(Scoped), 1 => Just(ScopedConfirmed), 1 => Just(Forgotten),
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
    use ReceiveHow::{MessageBuffer, Persistent, Posted, PostedInto, Scoped, Timed, Waiting};
    let how = prop_oneof![
        5 => Just(Waiting), 2 => (0..300u64).prop_map(Timed), 1 => Just(MessageBuffer), 1 => Just(Scoped),
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

/// Returns a thread that does everything, or one that only sends.
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

/// Returns plans that end in every order of their steps.
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
    /// Repairs the plan: ranks and messages exist, and each rank has a thread that receives.
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
                    // The odd number is for the replacement of a cancelled message.
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

    /// Returns the number of messages that are sent to a rank.
    pub(crate) fn sent_to(&self, rank: u32, by: impl Fn(u32) -> bool) -> usize {
        let tasks = self.tasks.iter().filter(|task| by(task.rank));
        let sends = tasks.flat_map(|task| &task.steps).filter(|step| {
            matches!(step, Step::Send(send) | Step::Exchange { send, .. } if send.to == rank)
        });
        sends.count()
    }
}
