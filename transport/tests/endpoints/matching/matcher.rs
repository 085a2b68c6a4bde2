//! Compares the matcher with a simple reference model.

use std::collections::HashMap;

use jstream_transport::matching::{
    Arrival, Bounds, Claim, Envelope, Heading, Matcher, MessageId, Pattern, Post, PostError,
    ReceiveId,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The identity of a receive or of a message.
type Label = usize;

/// The reference model: two lists that are searched from the start.
#[derive(Default)]
struct Model {
    receives: Vec<(Label, Pattern)>,
    messages: Vec<(Label, Heading)>,
    /// The labels of the claimed messages.
    claimed: Vec<Label>,
    live: Vec<bool>,
}

const MOST_MESSAGES: usize = 3;
const MOST_BYTES: u64 = 150;

impl Model {
    fn nobody_is_left(&self) -> bool {
        !self.live.is_empty() && !self.live.contains(&true)
    }

    fn find(&self, pattern: &Pattern) -> Option<usize> {
        self.messages.iter().position(|(label, heading)| {
            pattern.matches(&heading.envelope) && !self.claimed.contains(label)
        })
    }

    fn wanted(&self, heading: &Heading) -> Option<usize> {
        let wants = |(_, pattern): &(Label, Pattern)| pattern.matches(&heading.envelope);
        self.receives.iter().position(wants)
    }

    fn held(&self, source: u32) -> (usize, u64) {
        let of = |(_, heading): &&(Label, Heading)| heading.envelope.source == source;
        let all = self.messages.iter().filter(of);
        all.fold((0, 0), |(n, bytes), (_, heading)| {
            (n + 1, bytes + heading.held)
        })
    }

    fn has_room(&self, heading: &Heading) -> bool {
        let (messages, bytes) = self.held(heading.envelope.source);
        messages < MOST_MESSAGES && bytes + heading.held <= MOST_BYTES
    }

    fn end(&mut self, test: impl Fn(&Pattern) -> bool) -> Vec<Label> {
        let (ended, left) = self
            .receives
            .drain(..)
            .partition(|(_, pattern)| test(pattern));
        self.receives = left;
        let ended: Vec<(Label, Pattern)> = ended;
        ended.into_iter().map(|(label, _)| label).collect()
    }
}

/// The matcher and the model, and the handles that they have issued.
struct Both {
    matcher: Matcher<Label, Label>,
    model: Model,
    next: Label,
    /// All receives and messages so far.
    receives: Vec<(ReceiveId, Label)>,
    messages: Vec<(MessageId, Label)>,
    claims: Vec<(Claim, Label)>,
    /// The message that each source keeps because it was rejected as full.
    kept: HashMap<u32, (Heading, Label)>,
}

#[derive(Debug, Clone)]
enum Step {
    Post(Pattern),
    Arrive(Heading),
    Retry,
    Cancel(usize),
    Withdraw(usize),
    Probe(Pattern),
    Receive(Pattern),
    Remove(Pattern),
    Claim(Pattern),
    Take(usize),
    Restore(usize),
    End(u32),
    EndAnySource(u32),
    Add,
}

impl Both {
    fn new(sources: usize) -> Self {
        let mut bounds = Bounds::default();
        (bounds.messages, bounds.bytes) = (MOST_MESSAGES, MOST_BYTES);
        let mut both = Self {
            matcher: Matcher::new(bounds),
            model: Model::default(),
            next: 0,
            receives: Vec::new(),
            messages: Vec::new(),
            claims: Vec::new(),
            kept: HashMap::new(),
        };
        (0..sources).for_each(|_| both.step(Step::Add));
        both
    }

    fn label(&mut self) -> Label {
        self.next += 1;
        self.next
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Post(pattern) => self.post(pattern),
            Step::Arrive(heading) => {
                let source = heading.envelope.source;
                // Later messages of a source wait behind the message that it keeps.
                if !self.kept.contains_key(&source) {
                    let label = self.label();
                    self.arrive(heading, label);
                }
            }
            Step::Retry => self.retry(),
            Step::Cancel(i) => self.cancel(i),
            Step::Withdraw(i) => self.withdraw(i),
            Step::Probe(pattern) => self.probe(&pattern),
            Step::Remove(pattern) => {
                let Model {
                    messages, claimed, ..
                } = &mut self.model;
                let (removed, left): (Vec<_>, _) = messages.drain(..).partition(|found| {
                    pattern.matches(&found.1.envelope) && !claimed.contains(&found.0)
                });
                *messages = left;
                let is_meant = |envelope: &Envelope| pattern.matches(envelope);
                let found = self.matcher.remove_messages(is_meant).into_iter();
                assert!(found.map(|(heading, label)| (label, heading)).eq(removed));
            }
            Step::Receive(pattern) => {
                let found = self
                    .model
                    .find(&pattern)
                    .map(|i| self.model.messages.remove(i));
                let received = self.matcher.receive(&pattern);
                assert_eq!(received.map(|(heading, label)| (label, heading)), found);
            }
            Step::Claim(pattern) => self.claim(&pattern),
            Step::Take(i) => self.take(i),
            Step::Restore(i) => self.restore(i),
            Step::End(source) => self.end(source),
            Step::EndAnySource(context) => {
                let ended = self
                    .model
                    .end(|p| p.context == context && p.source.is_none());
                let others = self.matcher.end_any_source(context);
                let others: Vec<_> = others.into_iter().map(|ended| ended.receive).collect();
                assert_eq!(others, ended);
            }
            Step::Add => {
                assert_eq!(self.matcher.add_source() as usize, self.model.live.len());
                self.model.live.push(true);
            }
        }
        self.compare();
    }

    fn compare(&self) {
        assert_eq!(self.matcher.posted(), self.model.receives.len());
        assert_eq!(self.matcher.unexpected(), self.model.messages.len());
        for source in (0..).take(self.model.live.len()) {
            assert_eq!(self.matcher.held(source), Some(self.model.held(source)));
        }
    }

    fn post(&mut self, pattern: Pattern) {
        let label = self.label();
        let expected = Some(label as u64);
        let posted = self.matcher.post(pattern, expected, label);
        if let Some(i) = self.model.find(&pattern) {
            let (message, heading) = self.model.messages.remove(i);
            let Ok(Post::Matched(matched)) = posted else {
                panic!("{posted:?} instead of {message}")
            };
            assert_eq!((matched.receive, matched.message), (label, message));
            assert_eq!((matched.heading, matched.expected), (heading, expected));
            return;
        }
        let error = match pattern.source {
            None => self.model.nobody_is_left().then_some(PostError::NobodyLeft),
            Some(source_number) => match self.model.live.get(source_number as usize) {
                None => Some(PostError::NoSource { source_number }),
                Some(false) => Some(PostError::SourceEnded { source_number }),
                Some(true) => None,
            },
        };
        match (posted, error) {
            (Ok(Post::Waits(id)), None) => {
                self.model.receives.push((label, pattern));
                self.receives.push((id, label));
            }
            (Err(unposted), Some(error)) => {
                assert_eq!((unposted.error, unposted.receive), (error, label));
            }
            (posted, error) => panic!("{posted:?} instead of {error:?}"),
        }
    }

    fn arrive(&mut self, heading: Heading, label: Label) {
        let source = heading.envelope.source;
        let arrival = self.matcher.arrive(heading, label);
        if self.model.live.get(source as usize) != Some(&true) {
            let stray = arrival.unwrap_err();
            assert_eq!((stray.source_number, stray.message), (source, label));
            return;
        }
        match (arrival.unwrap(), self.model.wanted(&heading)) {
            (Arrival::Matched(matched), Some(i)) => {
                let (receive, _) = self.model.receives.remove(i);
                assert_eq!((matched.receive, matched.message), (receive, label));
                assert_eq!(matched.heading, heading);
                assert_eq!(matched.expected, Some(receive as u64));
                let descriptor = heading.descriptor;
                let agrees = descriptor.is_none_or(|other| other == receive as u64);
                assert_eq!(matched.agrees(), agrees);
            }
            (Arrival::Waits(id), None) if self.model.has_room(&heading) => {
                self.model.messages.push((label, heading));
                self.messages.push((id, label));
            }
            (Arrival::Full(message), None) if !self.model.has_room(&heading) => {
                assert_eq!(message, label);
                self.kept.insert(source, (heading, label));
            }
            other => panic!("{other:?} for {heading:?}"),
        }
    }

    /// Retries all ready sources. After that, no source keeps a message that could arrive.
    fn retry(&mut self) {
        while let Some(source) = self.matcher.next_ready() {
            let (heading, label) = self.kept.remove(&source).unwrap();
            self.arrive(heading, label);
        }
        for (heading, _) in self.kept.values() {
            assert!(self.model.wanted(heading).is_none() && !self.model.has_room(heading));
        }
    }

    fn cancel(&mut self, i: usize) {
        let Some(&(id, label)) = self.receives.get(i % self.receives.len().max(1)) else {
            return;
        };
        let place = self
            .model
            .receives
            .iter()
            .position(|(other, _)| *other == label);
        let cancelled = place.map(|place| self.model.receives.remove(place).0);
        assert_eq!(self.matcher.cancel(id), cancelled);
    }

    fn withdraw(&mut self, i: usize) {
        let Some(&(id, label)) = self.messages.get(i % self.messages.len().max(1)) else {
            return;
        };
        let place = self
            .model
            .messages
            .iter()
            .position(|(other, _)| *other == label);
        let here = place.map(|_| label);
        assert_eq!(self.matcher.message_mut(id).copied(), here);
        let place = place.filter(|_| !self.model.claimed.contains(&label));
        let withdrawn = place.map(|place| self.model.messages.remove(place).0);
        assert_eq!(self.matcher.withdraw(id), withdrawn);
    }

    fn probe(&self, pattern: &Pattern) {
        let probed = self.matcher.probe(pattern);
        let probed = probed.map(|probed| (*probed.message, probed.heading));
        assert_eq!(
            probed,
            self.model.find(pattern).map(|i| self.model.messages[i])
        );
    }

    fn claim(&mut self, pattern: &Pattern) {
        let claim = self.matcher.claim(pattern);
        let found = self.model.find(pattern).map(|i| self.model.messages[i]);
        assert_eq!(
            claim.as_ref().map(Claim::heading),
            found.as_ref().map(|(_, heading)| heading)
        );
        if let (Some(claim), Some((label, _))) = (claim, found) {
            self.model.claimed.push(label);
            self.claims.push((claim, label));
        }
    }

    /// Removes a claim, and returns it with the position of its message in the model.
    fn claimed(&mut self, i: usize) -> Option<(Claim, usize)> {
        let i = i.checked_rem(self.claims.len())?;
        let (claim, label) = self.claims.swap_remove(i);
        self.model.claimed.retain(|other| *other != label);
        let here = self
            .model
            .messages
            .iter()
            .position(|(other, _)| *other == label);
        Some((claim, here.unwrap()))
    }

    fn take(&mut self, i: usize) {
        if let Some((claim, place)) = self.claimed(i) {
            let (heading, label) = self.matcher.take(claim);
            assert_eq!((label, heading), self.model.messages.remove(place));
        }
    }

    fn restore(&mut self, i: usize) {
        let Some((claim, place)) = self.claimed(i) else {
            return;
        };
        let matched = self.matcher.restore(claim);
        let matched = matched.map(|matched| (matched.receive, matched.message));
        let wanted = self.model.wanted(&self.model.messages[place].1);
        let expected = wanted.map(|i| {
            let (message, _) = self.model.messages.remove(place);
            (self.model.receives.remove(i).0, message)
        });
        assert_eq!(matched, expected);
    }

    fn end(&mut self, source: u32) {
        let ended = self.matcher.end_source(source);
        let ended: Vec<_> = ended.into_iter().map(|ended| ended.receive).collect();
        if self.model.live.get(source as usize) != Some(&true) {
            assert!(ended.is_empty());
            return;
        }
        self.model.live[source as usize] = false;
        self.kept.remove(&source);
        let nobody_is_left = self.model.nobody_is_left();
        let expected = self.model.end(|pattern| match pattern.source {
            Some(other) => other == source,
            None => nobody_is_left,
        });
        assert_eq!(ended, expected);
    }

    /// Receives all remaining messages in order, and ends all sources.
    fn finish(mut self) {
        self.step(Step::Retry);
        while !self.claims.is_empty() {
            self.step(Step::Restore(0));
        }
        while let Some((_, heading)) = self.model.messages.first().copied() {
            self.step(Step::Receive(Pattern::any(heading.envelope.context)));
            self.step(Step::Retry);
        }
        self.step(Step::Add);
        for source in (0..).take(self.model.live.len()) {
            self.step(Step::End(source));
        }
        assert_eq!((self.matcher.posted(), self.matcher.unexpected()), (0, 0));
    }
}

const CONTEXTS: u32 = 2;

fn pattern() -> impl Strategy<Value = Pattern> {
    let source = proptest::option::weighted(0.6, 0..4u32);
    let tag = proptest::option::weighted(0.6, 0..3u64);
    (0..CONTEXTS, source, tag).prop_map(|(context, source, tag)| Pattern {
        context,
        source,
        tag,
    })
}

fn heading() -> impl Strategy<Value = Heading> {
    let envelope = (0..CONTEXTS, 0..4u32, 0..3u64).prop_map(|(context, source, tag)| Envelope {
        context,
        source,
        tag,
    });
    (envelope, 0..100u64, 0..3, 0..40u64).prop_map(|(envelope, length, kind, descriptor)| {
        let heading = Heading::new(envelope, length);
        match kind {
            0 => heading,
            1 => heading.announced(),
            _ => heading.described(descriptor),
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let any = any::<usize>();
    prop_oneof![
        12 => pattern().prop_map(Step::Post),
        14 => heading().prop_map(Step::Arrive),
        3 => Just(Step::Retry),
        3 => any.prop_map(Step::Cancel),
        1 => any.prop_map(Step::Withdraw),
        2 => pattern().prop_map(Step::Probe),
        2 => pattern().prop_map(Step::Receive),
        1 => pattern().prop_map(Step::Remove),
        4 => pattern().prop_map(Step::Claim),
        2 => any.prop_map(Step::Take),
        2 => any.prop_map(Step::Restore),
    ]
}

/// Steps that end sources. They are rare because few steps are possible afterwards.
fn death() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..5u32).prop_map(Step::End),
        1 => (0..CONTEXTS).prop_map(Step::EndAnySource),
        2 => Just(Step::Add),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_interleaving_is_the_models(
        sources in 0..4usize,
        steps in vec(prop_oneof![40 => step(), 1 => death()], 0..200),
    ) {
        let mut both = Both::new(sources);
        for step in steps {
            both.step(step);
        }
        both.finish();
    }

    #[test]
    fn long_queues_are_the_models(
        // Phases in which messages are only received, only sent, and so on.
        phases in vec((0..3u8, 1..150usize), 1..8),
        patterns in vec(pattern(), 32),
        headings in vec(heading(), 32),
        picks in vec(any::<usize>(), 32),
    ) {
        let mut both = Both::new(4);
        let mut turn = 0usize;
        for (phase, steps) in phases {
            for _ in 0..steps {
                turn = turn.wrapping_mul(5).wrapping_add(3);
                let (pattern, heading) = (patterns[turn % 32], headings[turn / 7 % 32]);
                both.step(match phase {
                    0 => Step::Post(pattern),
                    1 => Step::Arrive(heading),
                    _ => Step::Cancel(picks[turn % 32]),
                });
            }
            both.step(Step::Retry);
        }
        both.finish();
    }
}
