//! Messages of hostile peers, and late messages of honest ones.

use jstream_active::ThreadPool;
use proptest::prelude::*;

use super::*;
use crate::session::objects::{Home, Nothing, nothing};

fn node() -> Arc<Node> {
    let home = Arc::new(Home::new(Arc::new(ThreadPool::new(1))));
    Node::new(nothing(), Arc::new(Nothing), &home)
}

#[test]
fn what_is_given_again_stays_until_that_is_cleaned() {
    let (mut given, node) = (Given::default(), node());
    let number = given.give(&node, As::Result, 10).unwrap();
    assert_eq!(given.give(&node, As::Result, 10), Some(number));
    assert!(given.clean(number, 1).is_none(), "it crossed the second");
    assert_eq!((given.leased(), node.leases()), (1, 1));
    drop(given.clean(number, 1).unwrap());
    assert_eq!((given.leased(), node.leases()), (0, 0));
    assert!(given.clean(number, 1).is_none());
    // The object has a new number now, which late messages do not affect.
    let other = given.give(&node, As::Result, 10).unwrap();
    assert_ne!(other, number);
    assert!(given.clean(number, 1).is_none());
    assert!(given.object(number).is_none() && given.object(other).is_some());
}

#[test]
fn what_was_not_given_can_not_be_cleaned() {
    let (mut given, node) = (Given::default(), node());
    let number = given.give(&node, As::Result, 10).unwrap();
    for wild in [2, u64::MAX] {
        assert!(given.clean(number, wild).is_none());
    }
    assert!(given.clean(number + 1, 1).is_none());
    assert!(given.clean(0, 1).is_none() && given.kept(1).is_none());
    assert_eq!(given.leased(), 1);
}

#[test]
fn a_call_pins_what_it_passes() {
    let (mut given, node) = (Given::default(), node());
    let number = given.give(&node, As::Argument, 10).unwrap();
    // The receiver has dropped the reference before it answers.
    assert!(given.clean(number, 1).is_none());
    assert!(given.object(number).is_some());
    drop(given.arrived(number, true).unwrap());
    // A reference that has not arrived is released without being given back.
    let number = given.give(&node, As::Argument, 10).unwrap();
    drop(given.arrived(number, false).unwrap());
    assert_eq!(node.leases(), 0);
    assert_eq!(node.counts().pins.load(Ordering::Relaxed), 0);
}

#[test]
fn leases_end_but_names_and_calls_on_their_way_do_not() {
    let (mut given, nodes) = (Given::default(), [node(), node(), node()]);
    let numbers: Vec<_> = [As::Result, As::Name, As::Argument]
        .into_iter()
        .zip(&nodes)
        .map(|(how, node)| given.give(node, how, 10).unwrap())
        .collect();
    given.give(&nodes[1], As::Result, 10).unwrap();
    assert_eq!(given.expire().len(), 2);
    let there = numbers.iter().map(|number| given.object(*number).is_some());
    assert!(there.eq([false, true, true]));
    assert_eq!(nodes.each_ref().map(|node| node.leases()), [0, 0, 1]);
    drop(given.clear());
    assert_eq!(nodes[2].leases(), 0);
    assert_eq!(nodes[2].counts().pins.load(Ordering::Relaxed), 0);
}

#[test]
fn there_are_no_more_than_may_be() {
    let (mut given, nodes) = (Given::default(), [node(), node(), node()]);
    assert!(given.give(&nodes[0], As::Result, 2).is_some());
    assert!(given.give(&nodes[1], As::Name, 2).is_some());
    assert!(given.give(&nodes[2], As::Result, 2).is_none());
    for _ in 0..100_000 {
        // An object counts once, however often it is given.
        assert!(given.give(&nodes[0], As::Argument, 2).is_some());
    }
    assert_eq!(given.objects.len(), 2);
    drop(given.clear());
}

/// Events between the owner and the holder of one object.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The owner passes the object in a call.
    Pass,
    /// One such call ends. The holder has read it, or not.
    End(bool, prop::sample::Index),
    /// The holder drops its references and sends a message that gives them back.
    Drop,
    /// The owner receives one of these messages.
    Hear(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Pass),
        any::<(bool, prop::sample::Index)>().prop_map(|(arrives, which)| Step::End(arrives, which)),
        Just(Step::Drop),
        any::<prop::sample::Index>().prop_map(Step::Hear),
    ]
}

proptest! {
    /// As long as the holder has the object, or a reference is in flight, the owner keeps it,
    /// regardless of reordering. In the end no reference is left.
    #[test]
    fn nothing_is_lost_and_nothing_leaks(
        steps in prop::collection::vec(step(), 0..60),
        which in any::<prop::sample::Index>(),
    ) {
        let (mut given, node) = (Given::default(), node());
        let (mut calls, mut said) = (Vec::new(), Vec::new());
        // Number of the object and of its arrivals at the holder.
        let mut has: Option<(u32, u64)> = None;
        let rest = (0..200).flat_map(|_| [Step::End(true, which), Step::Drop, Step::Hear(which)]);
        for step in steps.into_iter().chain(rest) {
            match step {
                Step::Pass => calls.push(given.give(&node, As::Argument, 10).unwrap()),
                Step::End(arrives, which) if !calls.is_empty() => {
                    let number = calls.remove(which.index(calls.len()));
                    if arrives {
                        let times = has.map_or(0, |(_, times)| times);
                        has = Some((number, times + 1));
                    }
                    drop(given.arrived(number, arrives));
                }
                Step::Drop => said.extend(has.take()),
                Step::Hear(which) if !said.is_empty() => {
                    let (number, times) = said.remove(which.index(said.len()));
                    drop(given.clean(number, times));
                }
                Step::End(..) | Step::Hear(_) => {}
            }
            let mut local = calls.iter().copied().chain(has.map(|(number, _)| number));
            prop_assert!(local.all(|number| given.object(number).is_some()));
        }
        prop_assert_eq!((given.leased(), node.leases()), (0, 0));
    }
}
