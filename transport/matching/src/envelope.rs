//! Envelopes and patterns: the criteria of matching.

/// The attributes of a message by which it is matched.
///
/// The program chooses the numbers of contexts and tags. The number of a source was returned by
/// [`add_source`](super::Matcher::add_source), and is the same in all contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// The communication context. Messages of one context are never matched by receives of another,
    /// and there is no wildcard for contexts.
    pub context: u32,
    /// The sender.
    pub source: u32,
    /// The tag, which tells apart messages of one source.
    pub tag: u64,
}

/// The messages that a receive accepts.
///
/// ```
/// use jstream_transport::matching::{Envelope, Pattern};
///
/// let message = Envelope { context: 1, source: 4, tag: 7 };
/// assert!(Pattern::any(1).matches(&message));
/// assert!(Pattern::any(1).sent_by(4).tagged(7).matches(&message));
/// assert!(!Pattern::any(1).sent_by(5).matches(&message));
/// assert!(!Pattern::any(2).matches(&message));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The context of the message.
    pub context: u32,
    /// The sender; `None` accepts any.
    pub source: Option<u32>,
    /// The tag; `None` accepts any.
    pub tag: Option<u64>,
}

impl Pattern {
    /// Returns a pattern that matches every message of a context.
    #[inline]
    #[must_use]
    pub const fn any(context: u32) -> Self {
        Self {
            context,
            source: None,
            tag: None,
        }
    }

    /// Restricts the pattern to one source.
    #[inline]
    #[must_use]
    pub const fn sent_by(self, source: u32) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// Restricts the pattern to one tag.
    #[inline]
    #[must_use]
    pub const fn tagged(self, tag: u64) -> Self {
        Self {
            tag: Some(tag),
            ..self
        }
    }

    /// Returns true if the pattern matches a message with this envelope.
    #[inline]
    #[must_use]
    pub fn matches(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }

    #[inline]
    pub(super) const fn class(&self) -> Class {
        match (self.source, self.tag) {
            (Some(_), Some(_)) => Class::Exact,
            (Some(_), None) => Class::AnyTag,
            (None, Some(_)) => Class::AnySource,
            (None, None) => Class::Any,
        }
    }
}

impl From<Envelope> for Pattern {
    /// Returns a pattern that matches only messages with this envelope.
    fn from(envelope: Envelope) -> Self {
        Self::any(envelope.context)
            .sent_by(envelope.source)
            .tagged(envelope.tag)
    }
}

/// The combination of the parts of a pattern that are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Exact,
    AnyTag,
    AnySource,
    Any,
}

impl Class {
    pub(super) const ALL: [Self; 4] = [Self::Exact, Self::AnyTag, Self::AnySource, Self::Any];
}

/// A pattern with its hash, made by [`Hash`](super::hash::Hash).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// The given parts; the others are 0.
    pub(super) given: Envelope,
    pub(super) hash: u32,
    pub(super) class: Class,
}

impl Key {
    /// Returns true if a key with the same hash is the same.
    #[inline]
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.given == other.given && self.class == other.class
    }

    pub(super) fn pattern(&self) -> Pattern {
        let Envelope {
            context,
            source,
            tag,
        } = self.given;
        let (source, tag) = match self.class {
            Class::Exact => (Some(source), Some(tag)),
            Class::AnyTag => (Some(source), None),
            Class::AnySource => (None, Some(tag)),
            Class::Any => (None, None),
        };
        Pattern {
            context,
            source,
            tag,
        }
    }
}

/// The attributes of a message that are known before its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heading {
    /// The envelope by which the message is matched.
    pub envelope: Envelope,
    /// The payload's length in bytes.
    pub length: u64,
    /// Number of bytes that the message holds while it waits for a receive.
    /// [`Bounds::bytes`](super::Bounds::bytes) limits their sum.
    pub held: u64,
    /// The type of the elements, as a number that is only compared: the descriptor of their type,
    /// or another number chosen by the program. `None` if the message has no type.
    pub descriptor: Option<u64>,
}

impl Heading {
    /// Returns the heading of an untyped message whose payload comes with it.
    #[inline]
    #[must_use]
    pub const fn new(envelope: Envelope, length: u64) -> Self {
        Self {
            envelope,
            length,
            held: length,
            descriptor: None,
        }
    }

    /// Marks the message as announced: its payload is sent only on request, and it holds no memory
    /// here until then.
    #[inline]
    #[must_use]
    pub const fn announced(self) -> Self {
        Self { held: 0, ..self }
    }

    /// Sets the element type to the one for which `descriptor` stands.
    #[inline]
    #[must_use]
    pub const fn described(self, descriptor: u64) -> Self {
        Self {
            descriptor: Some(descriptor),
            ..self
        }
    }
}
