//! Collective operations on objects: those of jstream, and messages of postcard between the same
//! ranks.

use std::thread;
use std::time::Instant;

use jstream::Transportable;
use jstream_transport::rank::Rank;

use super::case::{Case, Pattern, Work};
use super::side::{Samples, Side};
use super::{Cores, pin_to};
use crate::Failure;
use crate::measure::since;

/// Number of integers in a list, as in the evaluation of Motor.
const INTEGERS: usize = 4096;

#[cfg(feature = "peers")]
const TAG: u64 = 7;

/// An element of a linked list.
#[derive(Transportable, serde::Serialize, serde::Deserialize)]
struct Element {
    integers: Vec<i32>,
    next: Option<Box<Element>>,
}

impl Element {
    /// Returns a list of all integers, in `count` elements.
    fn list(count: usize) -> Self {
        let each = INTEGERS / count.max(1);
        let element = |next| Self {
            integers: vec![1; each],
            next,
        };
        (1..count).fold(element(None), |next, _| element(Some(Box::new(next))))
    }
}

#[derive(Transportable, serde::Serialize, serde::Deserialize)]
struct Record {
    number: u64,
    name: String,
    values: Vec<u32>,
}

/// Returns the sum of all integers in a list, whose form is either that of the program or that of a
/// message.
macro_rules! sum_of_list {
    ($list:expr, |$next:ident| $deref:expr) => {{
        let mut sum = 0u64;
        let mut next = Some($list);
        while let Some(element) = next {
            sum += element
                .integers
                .iter()
                .map(|one| u64::from(one.unsigned_abs()))
                .sum::<u64>();
            let $next = &element.next;
            next = $deref;
        }
        sum
    }};
}

macro_rules! sum_of_records {
    ($records:expr) => {
        $records
            .iter()
            .map(|record| {
                let values = record.values.iter().map(|value| u64::from(*value));
                record.number + record.name.len() as u64 + values.sum::<u64>()
            })
            .sum::<u64>()
    };
}

/// The objects of a case, which each rank has.
enum Objects {
    List(Box<Element>),
    Records(Vec<Record>),
}

impl Objects {
    fn of(case: &Case) -> Result<Self, Failure> {
        let record = |number: u64| Record {
            number,
            name: format!("record {number}"),
            values: vec![1; 4],
        };
        match case.pattern {
            Pattern::BroadcastObject => Ok(Self::List(Box::new(Element::list(case.bytes)))),
            Pattern::ScatterObjects => {
                Ok(Self::Records((0..case.bytes as u64).map(record).collect()))
            }
            _ => Err("the case has no objects".into()),
        }
    }
}

/// Sends the objects of the root to the other ranks, which look at all of them. Returns their sum,
/// or 0 if the rank has only sent.
fn by_jstream(rank: &Rank, root: u32, objects: &Objects) -> Result<u64, Failure> {
    let is_root = rank.rank() == root;
    match objects {
        Objects::List(list) if is_root => {
            rank.objects().broadcast(&**list)?;
            Ok(0)
        }
        Objects::List(_) => {
            let list = rank.objects().recv_broadcast::<Element>(root)?;
            Ok(sum_of_list!(list.get(), |next| *next))
        }
        Objects::Records(records) => {
            let part = if is_root {
                rank.objects().scatter(records)?
            } else {
                rank.objects().recv_scattered::<Record>(root)?
            };
            Ok(sum_of_records!(part.get()))
        }
    }
}

/// As [`by_jstream`]. The root looks at its own part where it is.
#[cfg(feature = "peers")]
fn by_postcard(rank: &Rank, root: u32, objects: &Objects) -> Result<u64, Failure> {
    let is_root = rank.rank() == root;
    let others = (0..rank.size()).filter(|other| *other != root);
    match objects {
        Objects::List(list) if is_root => {
            let bytes = postcard::to_allocvec(&**list)?;
            for other in others {
                rank.send(other, TAG, &bytes)?;
            }
            Ok(0)
        }
        Objects::List(_) => {
            let (bytes, _) = rank.recv_vec::<u8>(root, TAG)?;
            let list: Element = postcard::from_bytes(&bytes)?;
            Ok(sum_of_list!(&list, |next| next.as_deref()))
        }
        Objects::Records(records) if is_root => {
            let each = records.len() / rank.size() as usize;
            let part = |rank: u32| {
                records
                    .chunks(each.max(1))
                    .nth(rank as usize)
                    .unwrap_or_default()
            };
            for other in others {
                rank.send(other, TAG, &postcard::to_allocvec(part(other))?)?;
            }
            Ok(sum_of_records!(part(root)))
        }
        Objects::Records(_) => {
            let (bytes, _) = rank.recv_vec::<u8>(root, TAG)?;
            let part: Vec<Record> = postcard::from_bytes(&bytes)?;
            Ok(sum_of_records!(part))
        }
    }
}

type Operation = fn(&Rank, u32, &Objects) -> Result<u64, Failure>;

pub(super) fn side(case: &Case, subject: &str, ranks: Vec<Rank>) -> Result<Box<dyn Side>, Failure> {
    let operation: Operation = match subject {
        "jstream" => by_jstream,
        #[cfg(feature = "peers")]
        "postcard" => by_postcard,
        _ => return Err(format!("there is no subject {subject}").into()),
    };
    Ok(Box::new(Members {
        ranks,
        objects: Objects::of(case)?,
        operation,
        samples: Samples::default(),
        turn: 0,
    }))
}

/// Pins the thread of a member, of which the last one measures the time.
pub(super) fn pin_member(rank: &Rank) {
    let distance = rank.size().saturating_sub(rank.rank()).saturating_sub(1);
    pin_to(Cores::find().of(distance));
}

/// Some members of a group, each of which runs in a thread of its own.
struct Members {
    ranks: Vec<Rank>,
    objects: Objects,
    operation: Operation,
    samples: Samples,
    /// Number of operations so far.
    turn: usize,
}

impl Members {
    fn operate(&self, rank: &Rank, turn: usize) -> Result<(), Failure> {
        let root = turn as u32 % rank.size();
        let sum = (self.operation)(rank, root, &self.objects)?;
        let is_right = match &self.objects {
            Objects::List(_) => rank.rank() == root || sum == INTEGERS as u64,
            Objects::Records(_) => sum > 0,
        };
        is_right
            .then_some(())
            .ok_or_else(|| "the sum is wrong".into())
    }
}

impl Side for Members {
    fn lead(&mut self, work: &Work) -> Result<f64, Failure> {
        self.samples.begin(work.batches + 1);
        for _ in 0..=work.batches {
            let start = Instant::now();
            for _ in 0..work.batch {
                let rank = self.ranks.first().ok_or("the side has no rank")?;
                self.operate(rank, self.turn)?;
                self.turn += 1;
            }
            self.samples.push(since(start, work.batch));
        }
        Ok(self.samples.median())
    }

    fn follow(&mut self, work: &Work) -> Result<(), Failure> {
        let turns = self.turn..self.turn + work.exchanges();
        let all = |rank: &Rank| {
            pin_member(rank);
            let mut turns = turns.clone();
            turns.try_for_each(|turn| self.operate(rank, turn))
        };
        let (all, members) = (&all, &*self);
        let done = thread::scope(|scope| {
            let (first, others) = members.ranks.split_first().ok_or("the side has no rank")?;
            let others = others.iter().map(|rank| scope.spawn(move || all(rank)));
            let others: Vec<_> = others.collect();
            let done = all(first);
            let others = others.into_iter().map(|other| {
                let joined = other.join();
                joined.unwrap_or_else(|_| Err("a rank has panicked".into()))
            });
            others.fold(done, Result::and)
        });
        self.turn += work.exchanges();
        done
    }
}
