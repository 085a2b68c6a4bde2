//! Loom models of a few operations on the free lists. Each model has a twin with a deliberate
//! mistake that loom must find. The models do not cover all interleavings, because loom remembers
//! only the last read of a location.
//!
//! The memory of a slot is a cell of loom, which reports two concurrent owners, and an owner that
//! does not see the changes of the previous owner.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::thread;

use super::list::{CLOSED, Links, NONE, Outstanding, Stack, WANTED};
use super::moving::{Moves, were_all_empty};

mod kept;

const SLOTS: usize = 3;

/// Two shards of one class, and the slots.
struct Model {
    stacks: [Stack; 2],
    moves: [Moves; 2],
    links: [AtomicU32; SLOTS],
    memory: [UnsafeCell<usize>; SLOTS],
}

impl Links for Model {
    fn link(&self, slot: u32) -> &AtomicU32 {
        &self.links[slot as usize]
    }
}

impl Model {
    /// Creates a model in which the first `free` slots are on the first stack, with number 0 on
    /// top, and the others are in use.
    fn new(free: u32) -> Arc<Self> {
        let model = Self {
            stacks: [Stack::new(), Stack::new()],
            moves: [Moves::new(), Moves::new()],
            links: std::array::from_fn(|_| AtomicU32::new(0)),
            memory: std::array::from_fn(|_| UnsafeCell::new(0)),
        };
        for slot in (0..free).rev() {
            model.give(0, slot);
        }
        Arc::new(model)
    }

    /// Uses a slot as its owner.
    fn own(&self, slot: u32) {
        self.memory[slot as usize].with_mut(|memory| unsafe { *memory += 1 });
    }

    fn take(&self, shard: usize) -> Option<u32> {
        let slot = self.stacks[shard].pop(self)?;
        self.own(slot);
        Some(slot)
    }

    fn take_over(&self, from: usize, to: usize) -> Option<u32> {
        let [from, to] = [from, to].map(|shard| &self.stacks[shard]);
        let first = self.moves[1].take_over(from, to, self)?;
        self.own(first);
        Some(first)
    }

    fn give(&self, shard: usize, slot: u32) {
        self.own(slot);
        assert!(self.stacks[shard].push(self.link(slot), slot, 0).is_ok());
    }

    /// Takes all slots off the stacks and returns their number. Panics if a slot appears twice.
    fn drain(&self) -> usize {
        let mut seen = [false; SLOTS];
        for shard in 0..2 {
            while let Some(slot) = self.take(shard) {
                assert!(!std::mem::replace(&mut seen[slot as usize], true));
            }
        }
        seen.into_iter().filter(|seen| *seen).count()
    }
}

/// One thread takes a slot and returns it. Another takes two slots and returns the first one.
fn take_and_give(
    take: fn(&Model) -> Option<u32>,
    give: fn(&Model, u32),
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let model = Model::new(3);
        let other = {
            let model = model.clone();
            thread::spawn(move || {
                if let Some(slot) = take(&model) {
                    give(&model, slot);
                }
            })
        };
        let first = take(&model);
        let second = take(&model);
        if let Some(first) = first {
            give(&model, first);
        }
        // This thread still owns the second slot.
        if let Some(second) = second {
            model.own(second);
        }
        other.join().unwrap();
        let out = usize::from(second.is_some());
        assert_eq!(model.drain() + out, SLOTS);
    }
}

#[test]
fn a_slot_has_one_owner() {
    loom::model(take_and_give(
        |model| model.take(0),
        |model, slot| model.give(0, slot),
    ));
}

#[test]
#[should_panic(expected = "left == right")]
fn heads_without_tags_give_a_slot_twice() {
    // Like `pop` and `push`, but two heads differ only in the number on top.
    fn top(model: &Model) -> &loom::sync::atomic::AtomicU64 {
        model.stacks[0].head()
    }
    fn with_top(head: u64, top: u32) -> u64 {
        (head & !u64::from(NONE)) | u64::from(top)
    }
    loom::model(take_and_give(
        |model| loop {
            let head = top(model).load(Ordering::Acquire);
            let slot = head as u32 & NONE;
            if slot == NONE {
                return None;
            }
            let next = with_top(head, model.link(slot).load(Ordering::Relaxed));
            let replaced =
                top(model).compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire);
            if replaced.is_ok() {
                model.own(slot);
                return Some(slot);
            }
        },
        |model, slot| {
            model.own(slot);
            loop {
                let head = top(model).load(Ordering::Relaxed);
                model
                    .link(slot)
                    .store(head as u32 & NONE, Ordering::Relaxed);
                let new = with_top(head, slot);
                let replaced =
                    top(model).compare_exchange(head, new, Ordering::AcqRel, Ordering::Relaxed);
                if replaced.is_ok() {
                    return;
                }
            }
        },
    ));
}

/// A thread moves the slots of a stack while another thread takes a slot from it and returns it,
/// and a third thread returns a slot to the destination.
fn over(take_over: fn(&Model) -> Option<u32>) -> impl Fn() + Send + Sync + 'static {
    move || {
        let model = Model::new(2);
        let threads = [0, 1].map(|shard| {
            let model = model.clone();
            thread::spawn(move || {
                if shard == 0 {
                    if let Some(slot) = model.take(0) {
                        model.give(0, slot);
                    }
                } else {
                    model.give(1, 2);
                }
            })
        });
        let taken = take_over(&model);
        for thread in threads {
            thread.join().unwrap();
        }
        if let Some(taken) = taken {
            model.own(taken);
        }
        assert_eq!(model.drain() + usize::from(taken.is_some()), SLOTS);
    }
}

#[test]
fn slots_taken_over_are_not_lost() {
    loom::model(over(|model| model.take_over(0, 1)));
}

#[test]
#[should_panic(expected = "left == right")]
fn a_chain_put_where_slots_are_loses_them() {
    loom::model(over(|model| {
        let first = model.stacks[0].take_all()?;
        let rest = model.link(first).load(Ordering::Relaxed);
        // The destination was empty at the start, but may not be empty any more.
        let head = model.stacks[1].head();
        head.store(u64::from(rest), Ordering::Release);
        Some(first)
    }));
}

/// A thread moves two slots and returns one of them, while another thread checks whether a slot is
/// free, which is always the case. The checking thread is the one that starts later, because loom
/// forgets the read of a thread if the writing thread also reads before it writes.
fn looking(none: fn(&Model) -> Option<bool>) -> impl Fn() + Send + Sync + 'static {
    move || {
        let model = Model::new(2);
        let looker = {
            let model = model.clone();
            thread::spawn(move || {
                assert_ne!(none(&model), Some(true), "a slot is free");
            })
        };
        let first = model.take_over(0, 1).unwrap();
        model.give(1, first);
        looker.join().unwrap();
        assert_eq!(none(&model), Some(false));
    }
}

#[test]
fn slots_on_their_way_are_free() {
    loom::model(looking(|model| {
        were_all_empty(model.stacks.iter(), model.moves.iter(), &mut [0; 2])
    }));
}

#[test]
#[should_panic(expected = "a slot is free")]
fn stacks_that_are_empty_twice_are_no_proof() {
    loom::model(looking(|model| {
        were_all_empty(model.stacks.iter(), std::iter::empty(), &mut [0; 2])
    }));
}

/// Two threads return their slots while a third thread closes the pool.
fn closing(
    give: fn(&Closing, u32) -> Result<(), u64>,
    after: fn(&Closing),
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let closing = Arc::new(Closing {
            model: Model::new(0),
            outstanding: Outstanding::new(),
            pool: UnsafeCell::new(0),
            ended: AtomicBool::new(false),
        });
        let threads = [0, 1].map(|slot| {
            let closing = closing.clone();
            thread::spawn(move || {
                closing.use_pool();
                closing.model.own(slot);
                if give(&closing, slot).is_err() {
                    if closing.outstanding.came_back() {
                        closing.end();
                    }
                } else {
                    after(&closing);
                }
            })
        });
        let stacks = &closing.model.stacks;
        let back = stacks
            .iter()
            .map(|stack| stack.close(&*closing.model))
            .sum::<usize>();
        if closing.outstanding.closed_with(2 - back) {
            closing.end();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(
            closing.ended.load(Ordering::Relaxed),
            "somebody is the last"
        );
    }
}

struct Closing {
    model: Arc<Model>,
    outstanding: Outstanding,
    /// The memory that the last thread frees.
    pool: UnsafeCell<usize>,
    ended: AtomicBool,
}

impl Closing {
    fn use_pool(&self) {
        self.pool
            .with(|pool| unsafe { std::ptr::read_volatile(pool) });
    }

    fn end(&self) {
        self.pool.with_mut(|pool| unsafe { *pool += 1 });
        assert!(
            !self.ended.swap(true, Ordering::Relaxed),
            "there is one last"
        );
    }

    fn give(&self, slot: u32) -> Result<(), u64> {
        let stack = &self.model.stacks[slot as usize];
        stack.push(self.model.link(slot), slot, CLOSED)
    }
}

#[test]
fn the_last_one_out_ends_the_pool() {
    loom::model(closing(Closing::give, |_| {}));
}

#[test]
#[should_panic(expected = "Concurrent read and write")]
fn whoever_uses_the_pool_after_giving_back_finds_it_gone() {
    loom::model(closing(Closing::give, Closing::use_pool));
}

/// One thread waits for the slot that another thread returns.
fn waiting(give: fn(&Model) -> bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let model = Model::new(0);
        let giver = {
            let model = model.clone();
            thread::spawn(move || give(&model))
        };
        model.stacks[0].want(true);
        let found = model.take(0).is_some();
        let told = giver.join().unwrap();
        assert!(found || told, "it would sleep for ever");
    }
}

#[test]
fn no_slot_comes_back_unseen() {
    loom::model(waiting(|model| {
        model.own(0);
        let link = model.link(0);
        if model.stacks[0].push(link, 0, WANTED).is_ok() {
            return false;
        }
        assert!(model.stacks[0].push(link, 0, 0).is_ok());
        true
    }));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_flag_that_is_looked_at_before_is_missed() {
    loom::model(waiting(|model| {
        let wanted = model.stacks[0].peek() & WANTED != 0;
        model.give(0, 0);
        wanted
    }));
}
