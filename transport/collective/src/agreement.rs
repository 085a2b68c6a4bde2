//! Agreement of the members of a group that may crash, without I/O.
//!
//! Decision 092 has the reasons.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The result of an agreement, the same at all members that decide.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decision {
    /// The bits of the members, combined by AND.
    pub bits: u64,
    /// The largest of the numbers of the members.
    pub number: u64,
    /// The members that are known to have failed.
    pub failed: BTreeSet<usize>,
}

/// A message of an agreement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgreementMessage {
    /// The state of a member, for the coordinator.
    State {
        /// The own bits and the number of the member, and the failures that it knows.
        known: Decision,
        /// The last proposal that the member has adopted, with its coordinator.
        adopted: Option<(usize, Decision)>,
    },
    /// The proposal of a coordinator, for all members.
    Propose(Decision),
    /// The answer to a proposal: the member has adopted it.
    Adopted,
    /// The decision.
    Decide(Decision),
}

/// The part of one member in an agreement.
///
/// The coordinator is the first member that has not failed. It collects the states of all other
/// members, proposes a value, and decides when all have adopted the proposal. A coordinator that
/// takes over proposes the value that a member has adopted already, if there is one. A member sends
/// the decision to all others before it returns it, so that it can leave afterwards.
///
/// The agreement is uniform: a member that decides and then crashes decides like the survivors.
/// This holds for any number of crashes, under two conditions. Messages of a member arrive in the
/// order in which they were sent, without gaps. [`fail`](Self::fail) is called only for members
/// that have crashed, after the last message of that member.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use jstream_transport::collective::Agreement;
///
/// let mut first = Agreement::new(0, 2, 0b011, 5);
/// let mut second = Agreement::new(1, 2, 0b110, 7);
/// loop {
///     if let Some((_, message)) = first.next_message() {
///         second.receive(0, message);
///     } else if let Some((_, message)) = second.next_message() {
///         first.receive(1, message);
///     } else {
///         break;
///     }
/// }
/// let decision = first.decision().unwrap();
/// assert_eq!((decision.bits, decision.number), (0b010, 7));
/// assert_eq!(decision.failed, BTreeSet::new());
/// assert_eq!(second.decision(), Some(decision));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Agreement {
    rank: usize,
    size: usize,
    known: Decision,
    adopted: Option<(usize, Decision)>,
    /// The coordinator that has got the state of this member.
    coordinator: Option<usize>,
    /// The states of other members, which may arrive before this member is the coordinator.
    states: BTreeMap<usize, (Decision, Option<(usize, Decision)>)>,
    /// The members that have adopted the proposal of this coordinator, if it has made one.
    adopters: Option<BTreeSet<usize>>,
    decision: Option<Decision>,
    outgoing: VecDeque<(usize, AgreementMessage)>,
}

impl Agreement {
    /// Begins the agreement at member `rank` of `size` members, which gives `bits` and `number`.
    #[must_use]
    pub fn new(rank: usize, size: usize, bits: u64, number: u64) -> Self {
        let mut agreement = Self {
            rank,
            size,
            known: Decision {
                bits,
                number,
                failed: BTreeSet::new(),
            },
            adopted: None,
            coordinator: None,
            states: BTreeMap::new(),
            adopters: None,
            decision: None,
            outgoing: VecDeque::new(),
        };
        agreement.proceed();
        agreement
    }

    /// Notes that another member has crashed. Failures that are known at the begin are noted in the
    /// same way.
    pub fn fail(&mut self, member: usize) {
        if member < self.size && member != self.rank && self.known.failed.insert(member) {
            self.outgoing.retain(|(to, _)| *to != member);
            self.proceed();
        }
    }

    /// Takes a message of another member. Messages that no member sends at this point are ignored.
    pub fn receive(&mut self, from: usize, message: AgreementMessage) {
        if from >= self.size || from == self.rank || self.decision.is_some() {
            return;
        }
        match message {
            AgreementMessage::State { known, adopted } => {
                self.states.entry(from).or_insert((known, adopted));
            }
            AgreementMessage::Propose(value) => {
                if self.coordinator == Some(from) {
                    self.adopted = Some((from, value));
                    self.outgoing.push_back((from, AgreementMessage::Adopted));
                }
            }
            AgreementMessage::Adopted => {
                if let Some(adopters) = &mut self.adopters {
                    adopters.insert(from);
                }
            }
            AgreementMessage::Decide(value) => self.decide(value),
        }
        self.proceed();
    }

    /// Takes the next message to send, with its receiver.
    pub fn next_message(&mut self) -> Option<(usize, AgreementMessage)> {
        self.outgoing.pop_front()
    }

    /// Returns the decision, once there is one and all messages of this member were taken.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref().filter(|_| self.outgoing.is_empty())
    }

    /// Returns the other members that are not known to have failed.
    fn others(&self) -> impl Iterator<Item = usize> {
        let members = 0..self.size;
        members.filter(|member| *member != self.rank && !self.known.failed.contains(member))
    }

    fn broadcast(&mut self, message: &AgreementMessage) {
        let messages: Vec<_> = self.others().map(|to| (to, message.clone())).collect();
        self.outgoing.extend(messages);
    }

    fn decide(&mut self, value: Decision) {
        self.outgoing.clear();
        self.broadcast(&AgreementMessage::Decide(value.clone()));
        self.decision = Some(value);
    }

    /// Does all that the messages and failures so far allow.
    fn proceed(&mut self) {
        if self.decision.is_some() {
            return;
        }
        let first = self.others().next();
        if let Some(first) = first.filter(|first| *first < self.rank) {
            if self.coordinator != Some(first) {
                self.coordinator = Some(first);
                let (known, adopted) = (self.known.clone(), self.adopted.clone());
                let state = AgreementMessage::State { known, adopted };
                self.outgoing.push_back((first, state));
            }
            return;
        }
        if self.adopters.is_none() {
            if !self
                .others()
                .all(|member| self.states.contains_key(&member))
            {
                return;
            }
            let value = self.proposal();
            self.adopted = Some((self.rank, value.clone()));
            self.adopters = Some(BTreeSet::new());
            self.broadcast(&AgreementMessage::Propose(value));
        }
        let Some(adopters) = &self.adopters else {
            return;
        };
        if self.others().all(|member| adopters.contains(&member)) {
            if let Some((_, value)) = self.adopted.clone() {
                self.decide(value);
            }
        }
    }

    /// Returns the value of the last coordinator whose proposal a member has adopted. If there is
    /// none, no member can have decided, and the states are combined.
    fn proposal(&self) -> Decision {
        let adopted = self
            .states
            .values()
            .filter_map(|(_, adopted)| adopted.as_ref());
        let last = adopted.chain(&self.adopted).max_by_key(|(from, _)| *from);
        if let Some((_, value)) = last {
            return value.clone();
        }
        let mut value = self.known.clone();
        for (known, _) in self.states.values() {
            value.bits &= known.bits;
            value.number = value.number.max(known.number);
            value.failed.extend(&known.failed);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Members with a first-in, first-out channel for each pair. `None` is the end of a connection.
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct World {
        members: Vec<Agreement>,
        is_dead: Vec<bool>,
        channels: BTreeMap<(usize, usize), VecDeque<Option<AgreementMessage>>>,
    }

    #[derive(Clone, Copy)]
    enum Event {
        Send(usize),
        Deliver(usize, usize),
        Die(usize),
        /// The last message of a dead member is lost.
        Lose(usize, usize),
    }

    fn bits(rank: usize) -> u64 {
        !(1 << rank)
    }

    impl World {
        fn new(size: usize) -> Self {
            Self {
                members: (0..size)
                    .map(|rank| Agreement::new(rank, size, bits(rank), rank as u64))
                    .collect(),
                is_dead: vec![false; size],
                channels: BTreeMap::new(),
            }
        }

        fn events(&self, deaths: bool) -> Vec<Event> {
            let mut events = Vec::new();
            for (rank, member) in self.members.iter().enumerate() {
                if self.is_dead[rank] {
                    continue;
                }
                if !member.outgoing.is_empty() {
                    events.push(Event::Send(rank));
                }
                if deaths {
                    events.push(Event::Die(rank));
                }
            }
            for ((from, to), channel) in &self.channels {
                if self.is_dead[*to] || channel.is_empty() {
                    continue;
                }
                events.push(Event::Deliver(*from, *to));
                if deaths && self.is_dead[*from] && channel.len() > 1 {
                    events.push(Event::Lose(*from, *to));
                }
            }
            events
        }

        fn apply(&mut self, event: Event) {
            match event {
                Event::Send(from) => {
                    let (to, message) = self.members[from].next_message().unwrap();
                    if !self.is_dead[to] {
                        self.channels
                            .entry((from, to))
                            .or_default()
                            .push_back(Some(message));
                    }
                }
                Event::Deliver(from, to) => {
                    let channel = self.channels.get_mut(&(from, to)).unwrap();
                    match channel.pop_front().unwrap() {
                        Some(message) => self.members[to].receive(from, message),
                        None => self.members[to].fail(from),
                    }
                }
                Event::Die(rank) => {
                    self.is_dead[rank] = true;
                    for to in (0..self.members.len()).filter(|to| *to != rank) {
                        self.channels.entry((rank, to)).or_default().push_back(None);
                        self.channels.remove(&(to, rank));
                    }
                }
                Event::Lose(from, to) => {
                    let channel = self.channels.get_mut(&(from, to)).unwrap();
                    channel.truncate(channel.len() - 2);
                    channel.push_back(None);
                }
            }
            self.check();
        }

        /// Checks that members that have decided, dead ones included, have decided alike.
        fn check(&self) {
            let mut decisions = self.members.iter().filter_map(Agreement::decision);
            let Some(first) = decisions.next() else {
                return;
            };
            assert!(decisions.all(|other| other == first));
            assert!(first.failed.iter().all(|rank| self.is_dead[*rank]));
            for (rank, _) in self.members.iter().enumerate() {
                let is_counted = first.bits & (1 << rank) == 0;
                assert!(
                    (is_counted && first.number >= rank as u64) || self.is_dead[rank],
                    "a survivor was not counted"
                );
            }
        }

        fn check_end(&self) {
            for (member, is_dead) in self.members.iter().zip(&self.is_dead) {
                assert!(*is_dead || member.decision().is_some(), "a survivor hangs");
            }
        }
    }

    /// Visits all states that messages, losses and deaths of any members can lead to.
    fn visit_all(size: usize) -> usize {
        let mut seen = HashSet::new();
        let mut open = vec![World::new(size)];
        while let Some(world) = open.pop() {
            world.check();
            if world.events(false).is_empty() {
                world.check_end();
            }
            for event in world.events(true) {
                let mut next = world.clone();
                next.apply(event);
                let hash = {
                    use std::hash::{DefaultHasher, Hash, Hasher};
                    let mut hasher = DefaultHasher::new();
                    next.hash(&mut hasher);
                    hasher.finish()
                };
                if seen.insert(hash) {
                    open.push(next);
                }
            }
        }
        seen.len()
    }

    #[test]
    fn all_schedules_of_few_members_agree() {
        for size in 1..=3 {
            assert!(visit_all(size) >= [1, 85, 9173][size - 1]);
        }
    }

    #[test]
    fn random_schedules_with_deaths_agree() {
        let mut state = 1u64;
        let mut below = |limit: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % limit
        };
        for round in 0..8000 {
            let mut world = World::new(1 + round % 8);
            let rarity = 1 + below(60);
            loop {
                let deaths = below(rarity) == 0;
                let events = world.events(deaths);
                if events.is_empty() {
                    break;
                }
                world.apply(events[below(events.len())]);
            }
            if world.events(false).is_empty() {
                world.check_end();
            }
        }
    }

    #[test]
    fn members_without_failures_send_few_messages() {
        let mut world = World::new(5);
        let mut sent = 0;
        while let Some(event) = world.events(false).first().copied() {
            sent += usize::from(matches!(event, Event::Send(_)));
            world.apply(event);
        }
        world.check_end();
        // State, proposal, answer and decision of the coordinator, and the decision of each other
        // member for all.
        assert_eq!(sent, 4 * 4 + 4 * 4);
    }
}
