//! Encoding of the messages of an agreement, as words of 64 bits.
//!
//! The length of a message follows from its kind and from the number of members, so a peer can't
//! make a message large. The failed members are a bit set.

use std::collections::BTreeSet;

use jstream_collective::{AgreementMessage, Decision};

const STATE: u64 = 0;
const PROPOSE: u64 = 1;
const ADOPTED: u64 = 2;
const DECIDE: u64 = 3;

/// Returns the bytes of a message between `size` members.
pub(super) fn encode(message: &AgreementMessage, size: usize) -> Vec<u8> {
    let mut words = Vec::new();
    match message {
        AgreementMessage::State { known, adopted } => {
            // The coordinator is written with 1 added; 0 stands for none.
            let coordinator = adopted.as_ref().map(|(from, _)| *from as u64);
            let coordinator = coordinator.map_or(0, |from| from.saturating_add(1));
            words.extend([STATE, coordinator]);
            push(&mut words, known, size);
            if let Some((_, value)) = adopted {
                push(&mut words, value, size);
            }
        }
        AgreementMessage::Propose(value) => {
            words.push(PROPOSE);
            push(&mut words, value, size);
        }
        AgreementMessage::Adopted => words.push(ADOPTED),
        AgreementMessage::Decide(value) => {
            words.push(DECIDE);
            push(&mut words, value, size);
        }
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Returns the message of these bytes between `size` members, or `None` if no member sends them.
pub(super) fn decode(bytes: &[u8], size: usize) -> Option<AgreementMessage> {
    let mut words = Words { bytes, size };
    let message = match words.next()? {
        STATE => {
            let coordinator = match words.next()? {
                0 => None,
                number => Some(words.member(number.wrapping_sub(1))?),
            };
            let known = words.decision()?;
            let adopted = match coordinator {
                Some(coordinator) => Some((coordinator, words.decision()?)),
                None => None,
            };
            AgreementMessage::State { known, adopted }
        }
        PROPOSE => AgreementMessage::Propose(words.decision()?),
        ADOPTED => AgreementMessage::Adopted,
        DECIDE => AgreementMessage::Decide(words.decision()?),
        _ => return None,
    };
    // A message with more bytes is none that a member sends.
    words.bytes.is_empty().then_some(message)
}

fn push(words: &mut Vec<u64>, value: &Decision, size: usize) {
    let mut failed = vec![0u64; size.div_ceil(64)];
    for member in &value.failed {
        if let Some(word) = failed.get_mut(member / 64) {
            *word |= 1 << (member % 64);
        }
    }
    words.extend([value.bits, value.number]);
    words.append(&mut failed);
}

/// The words of a message that have not been read.
struct Words<'b> {
    bytes: &'b [u8],
    /// Number of members.
    size: usize,
}

impl Words<'_> {
    fn next(&mut self) -> Option<u64> {
        let (word, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn member(&self, number: u64) -> Option<usize> {
        let member = usize::try_from(number).ok()?;
        (member < self.size).then_some(member)
    }

    fn decision(&mut self) -> Option<Decision> {
        let (bits, number) = (self.next()?, self.next()?);
        let mut failed = BTreeSet::new();
        for first in (0..self.size).step_by(64) {
            let word = self.next()?;
            for bit in (0..64usize).filter(|bit| word >> bit & 1 == 1) {
                // Bits beyond the last member make the message invalid.
                failed.insert(self.member(first.saturating_add(bit) as u64)?);
            }
        }
        Some(Decision {
            bits,
            number,
            failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(failed: &[usize]) -> Decision {
        Decision {
            bits: 1 << 63 | 1,
            number: 7,
            failed: failed.iter().copied().collect(),
        }
    }

    fn messages(last: usize) -> Vec<AgreementMessage> {
        let known = decision(&[0, last]);
        vec![
            AgreementMessage::State {
                known: known.clone(),
                adopted: None,
            },
            AgreementMessage::State {
                known: known.clone(),
                adopted: Some((last, decision(&[]))),
            },
            AgreementMessage::Propose(known.clone()),
            AgreementMessage::Adopted,
            AgreementMessage::Decide(known),
        ]
    }

    #[test]
    fn every_message_comes_back() {
        for size in [1, 2, 63, 64, 65, 1000] {
            for message in messages(size - 1) {
                let bytes = encode(&message, size);
                assert_eq!(decode(&bytes, size), Some(message));
                let is_read = |bytes: &[u8]| decode(bytes, size).is_some();
                assert!(!is_read(&bytes[..bytes.len() - 1]));
                assert!(!is_read(&[&bytes[..], &[0; 8]].concat()));
            }
        }
    }

    #[test]
    fn members_that_do_not_exist_are_refused() {
        for message in messages(65) {
            let bytes = encode(&message, 66);
            let is_adopted = message == AgreementMessage::Adopted;
            assert_eq!(decode(&bytes, 65).is_some(), is_adopted, "{message:?}");
        }
        assert_eq!(decode(&4u64.to_le_bytes(), 1), None);
        assert_eq!(decode(&[], 1), None);
    }
}
