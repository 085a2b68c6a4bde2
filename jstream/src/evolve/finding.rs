//! Differences of two schemas.

use std::fmt;

/// The effect of a difference on messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Effect {
    /// All messages are converted.
    Converted,
    /// A message is refused if it has a certain value.
    Conditional,
    /// All messages are refused.
    Refused,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Converted => "converted",
            Self::Conditional => "conditional",
            Self::Refused => "refused",
        })
    }
}

/// The kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// A field that the old version lacks.
    Added,
    /// A field or variant that the new version lacks.
    Removed,
    /// A field with another name.
    Renamed,
    /// A number whose new type has all values of the old one.
    Widened,
    /// A number whose new type lacks some values of the old one.
    Narrowed,
    /// Any other change of a type.
    Changed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Widened => "widened",
            Self::Narrowed => "narrowed",
            Self::Changed => "changed",
        })
    }
}

/// A difference between the old and the new version of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The path of fields from the root; `[]` is an element.
    pub path: String,
    /// The effect on messages.
    pub effect: Effect,
    /// The kind of the difference.
    pub change: Change,
    /// The difference, and what could be done about it.
    pub details: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.effect, self.path, self.details)
    }
}

/// The differences between two schemas, as far as the conversion of messages is concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compatibility {
    pub(super) findings: Vec<Finding>,
    /// Number of differences that are not listed.
    pub(super) unlisted: usize,
    /// The strongest effect of those.
    pub(super) unlisted_effect: Option<Effect>,
}

impl Compatibility {
    /// Maximum number of differences that are listed, of those that refuse messages twice as many.
    pub(super) const LISTED: usize = 1024;

    /// Returns the differences, in the order of the new version's fields.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the number of further differences, which are not listed because there are too many.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Returns true if messages can be converted, perhaps not all of them.
    #[must_use]
    pub fn is_compatible(&self) -> bool {
        self.effect() != Effect::Refused
    }

    /// Returns the strongest effect of all differences.
    #[must_use]
    pub fn effect(&self) -> Effect {
        let effects = self.findings.iter().map(|finding| finding.effect);
        let effects = effects.chain(self.unlisted_effect);
        effects.max().unwrap_or(Effect::Converted)
    }
}

/// Lists the differences, one per line.
impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            finding.fmt(f)?;
        }
        if self.unlisted > 0 {
            write!(f, "\nand {} further differences", self.unlisted)?;
        }
        Ok(())
    }
}
