//! What messages and receives are matched by.

/// What a message says of itself.
///
/// The numbers of contexts and tags are the program's. That of a source is what
/// [`add_source`](super::Matcher::add_source) gave, the same in all contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// What the message belongs to. Messages of one context are never matched by receives of another,
    /// and there is no wildcard for it.
    pub context: u32,
    /// Who sent it.
    pub source: u32,
    /// What it is, among the messages of this source.
    pub tag: u64,
}

/// Which messages a receive wants.
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
    /// Who sent it; `None` is anybody.
    pub source: Option<u32>,
    /// Its tag; `None` is any.
    pub tag: Option<u64>,
}

impl Pattern {
    /// Every message of a context.
    #[inline]
    #[must_use]
    pub const fn any(context: u32) -> Self {
        Self {
            context,
            source: None,
            tag: None,
        }
    }

    /// The same, from one source only.
    #[inline]
    #[must_use]
    pub const fn sent_by(self, source: u32) -> Self {
        Self {
            source: Some(source),
            ..self
        }
    }

    /// The same, with one tag only.
    #[inline]
    #[must_use]
    pub const fn tagged(self, tag: u64) -> Self {
        Self {
            tag: Some(tag),
            ..self
        }
    }

    /// Whether a message with this envelope is wanted.
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
    /// The messages with this envelope alone.
    fn from(envelope: Envelope) -> Self {
        Self::any(envelope.context)
            .sent_by(envelope.source)
            .tagged(envelope.tag)
    }
}

/// Which parts of a pattern are given.
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

/// A pattern in a form that is found quickly. A [`Hash`](super::hash::Hash) makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// What is not given is 0.
    pub(super) given: Envelope,
    pub(super) hash: u32,
    pub(super) class: Class,
}

impl Key {
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

/// What is known of a message before its payload is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Heading {
    /// What it is matched by.
    pub envelope: Envelope,
    /// The payload's length, in bytes.
    pub length: u64,
    /// How many bytes it takes here for as long as no receive matches it. These are what
    /// [`Bounds::bytes`](super::Bounds::bytes) bounds.
    pub held: u64,
    /// What its elements are, as a number that is only compared: the descriptor of their type, or
    /// whatever else the program tells types apart by. `None` if it has no type.
    pub descriptor: Option<u64>,
}

impl Heading {
    /// An untyped message whose payload comes with it.
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

    /// The same, but the payload comes only when it is asked for: until then it takes nothing here.
    #[inline]
    #[must_use]
    pub const fn announced(self) -> Self {
        Self { held: 0, ..self }
    }

    /// The same, with elements of the type that `descriptor` stands for.
    #[inline]
    #[must_use]
    pub const fn described(self, descriptor: u64) -> Self {
        Self {
            descriptor: Some(descriptor),
            ..self
        }
    }
}
