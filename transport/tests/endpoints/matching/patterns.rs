//! Tag patterns, full queues, and concurrent access to the matcher.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use jstream_transport::matching::{Arrival, Bounds, Envelope, Heading, Matcher, Pattern, Post};

const CONTEXT: u32 = 3;

fn heading(source: u32, tag: u64, payload: &[u8]) -> Heading {
    let context = CONTEXT;
    let envelope = Envelope {
        context,
        source,
        tag,
    };
    Heading::new(envelope, payload.len() as u64)
}

/// Returns a payload that is unique for its tag.
fn payload(tag: u64) -> Vec<u8> {
    let length = tag * 37 % 300;
    (0..length)
        .map(|i| (tag * 131 + i) as u8)
        .chain(tag.to_le_bytes())
        .collect()
}

/// Sections 4.1.3 and 2.3.4 of the thesis on McMPI: messages are received in the order of the
/// receives, whether the receives or the messages come first.
fn batch(count: u64, order: &[u64], any_source: bool, posted_first: bool) {
    let mut bounds = Bounds::default();
    (bounds.messages, bounds.bytes) = (usize::MAX, u64::MAX);
    let mut matcher: Matcher<u64, Vec<u8>> = Matcher::new(bounds);
    let source = matcher.add_source();
    let pattern = |tag| {
        let pattern = Pattern::any(CONTEXT).tagged(tag);
        if any_source {
            pattern
        } else {
            pattern.sent_by(source)
        }
    };
    let mut received = Vec::new();
    if posted_first {
        for &tag in order {
            assert!(matches!(
                matcher.post(pattern(tag), None, tag),
                Ok(Post::Waits(_))
            ));
        }
    }
    for tag in 0..count {
        let message = payload(tag);
        match matcher
            .arrive(heading(source, tag, &message), message)
            .unwrap()
        {
            Arrival::Matched(matched) => {
                assert_eq!(matched.receive, tag);
                received.push((matched.receive, matched.message));
            }
            arrival => assert!(!posted_first && matches!(arrival, Arrival::Waits(_))),
        }
    }
    if !posted_first {
        for &tag in order {
            let Ok(Post::Matched(matched)) = matcher.post(pattern(tag), None, tag) else {
                panic!("a message is missing")
            };
            received.push((matched.receive, matched.message));
        }
    }
    let expected: Vec<u64> = if posted_first {
        (0..count).collect()
    } else {
        order.to_vec()
    };
    let expected: Vec<_> = expected
        .into_iter()
        .map(|tag| (tag, payload(tag)))
        .collect();
    assert_eq!(received, expected);
    assert_eq!((matcher.posted(), matcher.unexpected()), (0, 0));
}

#[test]
fn tags_in_order_and_in_reverse_order() {
    for count in [1, 10, 100, 2_000] {
        let in_order: Vec<u64> = (0..count).collect();
        let reverse: Vec<u64> = (0..count).rev().collect();
        for order in [in_order, reverse] {
            for (any_source, posted_first) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                batch(count, &order, any_source, posted_first);
            }
        }
    }
}

#[test]
fn one_tag_keeps_the_order_of_sending_for_wildcards_and_exact_receives_in_turn() {
    let mut matcher: Matcher<u64, u64> = Matcher::default();
    let source = matcher.add_source();
    let patterns = [
        Pattern::any(CONTEXT),
        Pattern::any(CONTEXT).sent_by(source),
        Pattern::any(CONTEXT).tagged(1),
        Pattern::any(CONTEXT).sent_by(source).tagged(1),
    ];
    for n in 0..400u64 {
        matcher
            .post(patterns[(n * 7 % 4) as usize], None, n)
            .unwrap();
    }
    for n in 0..800 {
        let arrival = matcher.arrive(heading(source, 1, &[]), n).unwrap();
        match arrival {
            Arrival::Matched(matched) => assert_eq!((matched.receive, matched.message), (n, n)),
            _ => assert!(n >= 400),
        }
    }
    for n in 400..800u64 {
        let pattern = patterns[(n * 7 % 4) as usize];
        assert_eq!(matcher.receive(&pattern).unwrap().1, n);
    }
}

#[test]
fn a_full_source_waits_and_no_other() {
    let mut bounds = Bounds::default();
    (bounds.messages, bounds.bytes) = (2, 100);
    let mut matcher: Matcher<(), u64> = Matcher::new(bounds);
    let (full, other) = (matcher.add_source(), matcher.add_source());
    let arrive = |matcher: &mut Matcher<(), u64>, source, tag, length: usize| {
        matcher
            .arrive(heading(source, tag, &vec![0; length]), tag)
            .unwrap()
    };
    for tag in 0..2 {
        assert!(matches!(
            arrive(&mut matcher, full, tag, 10),
            Arrival::Waits(_)
        ));
    }
    assert_eq!(arrive(&mut matcher, full, 2, 10), Arrival::Full(2));
    assert_eq!(matcher.held(full), Some((2, 20)));
    assert!(matches!(
        arrive(&mut matcher, other, 0, 90),
        Arrival::Waits(_)
    ));
    assert_eq!(arrive(&mut matcher, other, 1, 11), Arrival::Full(1));
    assert_eq!(matcher.next_ready(), None);
    // A receive for the message that was held back makes its source ready, although there is no
    // space.
    let wanted = Pattern::any(CONTEXT).sent_by(other).tagged(1);
    matcher.post(wanted, None, ()).unwrap();
    assert_eq!(
        (matcher.next_ready(), matcher.next_ready()),
        (Some(other), None)
    );
    assert!(matches!(
        arrive(&mut matcher, other, 1, 11),
        Arrival::Matched(_)
    ));
    // A claimed message still occupies its space.
    let claim = matcher.claim(&Pattern::any(CONTEXT).sent_by(full)).unwrap();
    assert_eq!(matcher.next_ready(), None);
    assert_eq!(matcher.take(claim).1, 0);
    assert_eq!(
        (matcher.next_ready(), matcher.next_ready()),
        (Some(full), None)
    );
    assert!(matches!(
        arrive(&mut matcher, full, 2, 10),
        Arrival::Waits(_)
    ));
    // A message longer than the whole bound needs a posted receive.
    assert_eq!(arrive(&mut matcher, other, 5, 101), Arrival::Full(5));
    matcher
        .post(Pattern::any(CONTEXT).tagged(5), None, ())
        .unwrap();
    assert_eq!(matcher.next_ready(), Some(other));
    assert!(matches!(
        arrive(&mut matcher, other, 5, 101),
        Arrival::Matched(_)
    ));
}

#[test]
fn receives_from_anybody_wait_for_the_first_and_outlive_all_but_the_last() {
    let mut matcher: Matcher<u8, ()> = Matcher::default();
    matcher.post(Pattern::any(CONTEXT), None, 1).unwrap();
    let (one, two) = (matcher.add_source(), matcher.add_source());
    matcher
        .post(Pattern::any(CONTEXT).sent_by(one), None, 2)
        .unwrap();
    matcher.arrive(heading(two, 1, &[]), ()).unwrap();
    matcher.arrive(heading(two, 1, &[]), ()).unwrap();
    let receives = |ended: Vec<jstream_transport::matching::Ended<u8>>| {
        ended
            .into_iter()
            .map(|ended| ended.receive)
            .collect::<Vec<_>>()
    };
    assert_eq!(receives(matcher.end_source(one)), [2]);
    matcher
        .post(Pattern::any(CONTEXT).tagged(9), None, 3)
        .unwrap();
    assert_eq!(receives(matcher.end_source(two)), [3]);
    assert_eq!(matcher.end_source(two), []);
    // Messages that were sent before the end are still available.
    assert!(matches!(
        matcher.post(Pattern::any(CONTEXT).sent_by(two), None, 4),
        Ok(Post::Matched(_))
    ));
    let unposted = matcher
        .post(Pattern::any(CONTEXT).sent_by(two), None, 5)
        .unwrap_err();
    assert_eq!(unposted.receive, 5);
    assert_eq!(
        unposted.to_string(),
        "source 1 has ended, and no message of it matches"
    );
}

#[test]
#[should_panic(expected = "another matcher's")]
fn a_claim_is_its_own_matchers() {
    let mut matchers = [(); 2].map(|()| {
        let mut matcher: Matcher<(), ()> = Matcher::default();
        let source = matcher.add_source();
        matcher.arrive(heading(source, 1, &[]), ()).unwrap();
        matcher
    });
    let claim = matchers[0].claim(&Pattern::any(CONTEXT)).unwrap();
    let _ = matchers[1].take(claim);
}

#[test]
fn threads_that_probe_never_have_the_same_message() {
    const EACH: u64 = 1_000;
    const SOURCES: u32 = 4;
    let mut matcher: Matcher<(), u64> = Matcher::default();
    (0..SOURCES).for_each(|_| assert!(matcher.add_source() < SOURCES));
    let matcher = Mutex::new(matcher);
    let (taken, done) = (Mutex::new(Vec::new()), AtomicU32::new(0));
    thread::scope(|scope| {
        for source in 0..SOURCES {
            let (matcher, done) = (&matcher, &done);
            scope.spawn(move || {
                for n in 0..EACH {
                    let label = u64::from(source) * EACH + n;
                    let heading = heading(source, n % 3, &[]);
                    let arrival = matcher.lock().unwrap().arrive(heading, label);
                    assert!(matches!(arrival, Ok(Arrival::Waits(_))));
                }
                done.fetch_add(1, Ordering::Release);
            });
        }
        for thread in 0..4 {
            let (matcher, taken, done) = (&matcher, &taken, &done);
            scope.spawn(move || {
                for attempt in 0u64.. {
                    let pattern = match thread {
                        0 => Pattern::any(CONTEXT),
                        1 => Pattern::any(CONTEXT).tagged(attempt % 3),
                        _ => Pattern::any(CONTEXT).sent_by(attempt as u32 % SOURCES),
                    };
                    let all_sent = done.load(Ordering::Acquire) == SOURCES;
                    let Some(claim) = matcher.lock().unwrap().claim(&pattern) else {
                        if all_sent {
                            break;
                        }
                        thread::yield_now();
                        continue;
                    };
                    // Between the claim and the take, other threads search for messages too.
                    let heading = *claim.heading();
                    assert!(pattern.matches(&heading.envelope));
                    if attempt % 5 == 4 {
                        assert!(matcher.lock().unwrap().restore(claim).is_none());
                        continue;
                    }
                    let (same, label) = matcher.lock().unwrap().take(claim);
                    assert_eq!(same, heading);
                    taken.lock().unwrap().push(label);
                }
            });
        }
    });
    let mut taken = taken.into_inner().unwrap();
    let mut matcher = matcher.into_inner().unwrap();
    while let Some((_, label)) = matcher.receive(&Pattern::any(CONTEXT)) {
        taken.push(label);
    }
    taken.sort_unstable();
    assert!(taken.into_iter().eq(0..EACH * u64::from(SOURCES)));
}
