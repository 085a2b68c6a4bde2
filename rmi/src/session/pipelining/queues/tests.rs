use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;

const BOUNDS: Bounds = Bounds {
    calls: 4,
    bytes: 100,
};

fn place(queues: &mut Queues<u32>, number: u32, call: u32, now: Instant) -> Placed<u32> {
    queues.hold((number, Needs::Turn), (call, 10), None, now, true)
}

#[test]
fn calls_begin_one_behind_the_other() {
    let (mut queues, now) = (Queues::new(BOUNDS), Instant::now());
    assert!(queues.open(1, 0) && !queues.open(1, 0));
    for call in 10..20 {
        assert_eq!(place(&mut queues, 1, call, now), Placed::Held);
    }
    assert_eq!(queues.gave(1, 77), Some(10));
    // A call that arrives meanwhile is held behind the others.
    assert_eq!(place(&mut queues, 1, 20, now), Placed::Held);
    let rest: Vec<_> = std::iter::from_fn(|| queues.next(1)).collect();
    assert_eq!(rest, (11..=20).collect::<Vec<_>>());
    assert_eq!(place(&mut queues, 1, 21, now), Placed::Begins(21, 77));
    assert_eq!(place(&mut queues, 1, 22, now), Placed::Held);
    assert_eq!((queues.next(1), queues.next(1)), (Some(22), None));
    assert!(!queues.open(1, 0));
}

#[test]
fn what_names_a_call_that_has_not_come_waits_for_it_a_while() {
    let (mut queues, now) = (Queues::new(BOUNDS), Instant::now());
    for call in 0..4 {
        assert_eq!(place(&mut queues, call % 2, call, now), Placed::Held);
    }
    assert_eq!(
        place(&mut queues, 7, 4, now),
        Placed::Refused(4, NotHeld::Full)
    );
    // The arrival of the named call frees room for others.
    assert!(queues.open(0, 0));
    assert_eq!(place(&mut queues, 7, 4, now), Placed::Held);
    assert_eq!(queues.due(), now.checked_add(PATIENCE));
    let then = now + PATIENCE;
    assert_eq!(queues.expire(now), []);
    let gone = queues.expire(then);
    assert_eq!(gone.len(), 3);
    assert!(
        gone.iter().all(|(_, why)| *why == NotHeld::Missing),
        "{gone:?}"
    );
    assert_eq!(
        (queues.due(), queues.spare.calls, queues.spare.bytes),
        (None, 0, 0)
    );
    // A call that was returned as busy may be retried.
    queues.went_back(0, then);
    assert_eq!(queues.spare.calls, 2);
    assert!(queues.open(0, 0));
    assert_eq!(queues.gave(0, 5), Some(0));
    assert_eq!((queues.next(0), queues.next(0)), (Some(2), None));
    assert!(queues.queues.is_empty());
}

#[test]
fn many_bytes_have_no_room() {
    let (mut queues, now) = (Queues::new(BOUNDS), Instant::now());
    let placed = queues.hold((1, Needs::Turn), (1, 101), None, now, true);
    assert_eq!(placed, Placed::Refused(1, NotHeld::Full));
    let deadline = now.checked_add(Duration::from_millis(1));
    assert_eq!(
        queues.hold((1, Needs::Turn), (2, 100), deadline, now, true),
        Placed::Held
    );
    assert_eq!(
        place(&mut queues, 1, 3, now),
        Placed::Refused(3, NotHeld::Full)
    );
    assert_eq!(queues.due(), deadline);
    assert_eq!(queues.expire(deadline.unwrap()), [(2, NotHeld::Overdue)]);
    assert_eq!(place(&mut queues, 1, 3, now), Placed::Held);
    assert_eq!(queues.end(), [3]);
    assert_eq!(
        place(&mut queues, 1, 4, now),
        Placed::Refused(4, NotHeld::Full)
    );
    assert!(!queues.open(1, 0) && queues.gave(1, 1).is_none());
}

#[test]
fn chains_have_an_end() {
    let mut queues = Queues::<u32>::new(BOUNDS);
    let mut depth = 0;
    for number in 0.. {
        assert!(queues.open(number, depth));
        match queues.depth_behind(number) {
            Some(behind) => depth = behind,
            None => break,
        }
    }
    assert_eq!(depth, LONGEST_CHAIN);
}

/// Events for a few call numbers.
#[derive(Debug, Clone)]
enum Event {
    Opens(u32),
    Names(u32),
    /// Names a call, without a place among the waiting calls.
    NamesOnly(u32),
    /// Has the result of a call as an argument.
    Passes(u32),
    /// The starting call waits for room.
    Stands(u32),
    /// There is room for a stalled queue.
    GoesOn,
    Gives(u32),
    Fails(u32),
    GoesBack(u32),
    Next(u32),
    TimePasses,
}

fn event() -> impl Strategy<Value = Event> {
    let number = 0..4u32;
    prop_oneof![
        2 => number.clone().prop_map(Event::Opens),
        6 => number.clone().prop_map(Event::Names),
        3 => number.clone().prop_map(Event::NamesOnly),
        3 => number.clone().prop_map(Event::Passes),
        2 => number.clone().prop_map(Event::Stands),
        2 => Just(Event::GoesOn),
        1 => number.clone().prop_map(Event::Gives),
        1 => number.clone().prop_map(Event::Fails),
        1 => number.clone().prop_map(Event::GoesBack),
        3 => number.prop_map(Event::Next),
        1 => Just(Event::TimePasses),
    ]
}

proptest! {
    /// Each call comes out once, and the calls of one number come out in order. No call stays held
    /// or counted without a reason.
    #[test]
    fn all_come_out_once_and_in_order(events in prop::collection::vec(event(), 0..200)) {
        let (mut queues, mut now) = (Queues::new(BOUNDS), Instant::now());
        let (mut call, mut open) = (0, [false; 4]);
        // Held calls, by number.
        let mut held: HashMap<u32, Vec<u32>> = HashMap::new();
        let (mut running, mut given) = ([None; 4], [false; 4]);
        // Stalled queues, and calls without a place.
        let (mut standing, mut placeless) = (VecDeque::new(), HashSet::new());
        for event in events {
            match event {
                Event::Opens(n) => open[n as usize] |= queues.open(n, 0),
                Event::Names(n) | Event::NamesOnly(n) | Event::Passes(n) => {
                    call += 1;
                    let has_place = !matches!(event, Event::NamesOnly(_));
                    let needs = match event {
                        Event::Passes(_) => Needs::Object,
                        _ => Needs::Turn,
                    };
                    match queues.hold((n, needs), (call, 10), None, now, has_place) {
                        Placed::Held => {
                            prop_assert!(needs == Needs::Turn || !given[n as usize]);
                            held.entry(n).or_default().push(call);
                            if !has_place {
                                placeless.insert(call);
                            }
                        }
                        Placed::Begins(begins, _) => {
                            prop_assert!(begins == call && running[n as usize].is_none());
                            prop_assert!(held.get(&n).is_none_or(Vec::is_empty));
                            running[n as usize] = Some(call);
                        }
                        // An object that is known is passed regardless of the calls of it.
                        Placed::Known(known, object) => {
                            prop_assert_eq!((known, object), (call, n));
                            prop_assert!(given[n as usize] && needs == Needs::Object);
                        }
                        Placed::Refused(refused, _) => prop_assert_eq!(refused, call),
                    }
                }
                Event::Stands(n) if running[n as usize].is_some() => {
                    let call = running[n as usize].take().unwrap();
                    prop_assert_eq!(queues.wait_for_room(n, (call, 10), None), None);
                    held.entry(n).or_default().insert(0, call);
                    placeless.insert(call);
                    standing.push_back(n);
                }
                Event::GoesOn => {
                    let expected = standing
                        .pop_front()
                        .map(|n| (held.entry(n).or_default().remove(0), n, n));
                    prop_assert_eq!(queues.resume_stalled(), expected);
                    if let Some((call, n, _)) = expected {
                        running[n as usize] = Some(call);
                    }
                    prop_assert_eq!(queues.is_stuck(), !standing.is_empty());
                }
                Event::Gives(n) if open[n as usize] => {
                    open[n as usize] = false;
                    given[n as usize] = true;
                    let first = queues.gave(n, n);
                    let all = held.entry(n).or_default();
                    let expected = (!all.is_empty()).then(|| all.remove(0));
                    prop_assert_eq!(first, expected);
                    running[n as usize] = first;
                }
                Event::Fails(n) if open[n as usize] => {
                    open[n as usize] = false;
                    prop_assert_eq!(queues.gave_none(n), held.remove(&n).unwrap_or_default());
                }
                Event::GoesBack(n) if open[n as usize] => {
                    open[n as usize] = false;
                    queues.went_back(n, now);
                }
                Event::Next(n) if running[n as usize].is_some() => {
                    let next = queues.next(n);
                    let all = held.entry(n).or_default();
                    let expected = (!all.is_empty()).then(|| all.remove(0));
                    prop_assert_eq!(next, expected);
                    running[n as usize] = next;
                }
                Event::TimePasses => {
                    now += PATIENCE;
                    for (gone, why) in queues.expire(now) {
                        prop_assert_eq!(why, NotHeld::Missing);
                        held.values_mut().for_each(|all| all.retain(|one| *one != gone));
                    }
                }
                _ => {}
            }
            let unseen = |n: &u32| {
                !open[*n as usize] && running[*n as usize].is_none() && !standing.contains(n)
            };
            let spare = held.iter().flat_map(|(n, all)| all.iter().map(move |one| (n, one)));
            let spare = spare.filter(|(n, one)| unseen(n) || placeless.contains(*one));
            let spare = spare.count();
            prop_assert_eq!(queues.spare.calls, spare);
            prop_assert_eq!(queues.spare.bytes, spare as u64 * 10);
        }
        let mut rest = queues.end();
        rest.sort_unstable();
        let mut expected: Vec<_> = held.into_values().flatten().collect();
        expected.sort_unstable();
        prop_assert_eq!(rest, expected);
    }
}
