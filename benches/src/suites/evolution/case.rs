//! Cases: messages of one version of a type that subjects read as another.

use crate::Failure;
use crate::suites::serialization::cases::forever;
use crate::suites::serialization::cases::versions::{Extended, Version, Versions, Widened};
use crate::suites::serialization::subjects::{Peer, Postcard, Sendable, Subject};
use crate::suites::serialization::walk::Walk;
use crate::table::number;

use super::converted::Converted;
use super::peers::Peers;
#[cfg(feature = "peers")]
use super::peers::fory;

/// A message of one version, and the subjects that read it as another.
pub(super) struct Case {
    /// Description of the case for its note.
    pub(super) about: String,
    /// Sum over the value that is read, see [`Walk`].
    pub(super) sum: u64,
    /// Subjects of the case. The first is the baseline for the others.
    pub(super) subjects: Vec<Box<dyn Subject>>,
}

impl Case {
    /// Creates a case with those subjects that can read any other version, and with jstream's
    /// reading of a message that needs no conversion.
    pub(super) fn new<Old, New>(
        about: String,
        old: &'static Old,
        new: &'static New,
    ) -> Result<Self, Failure>
    where
        Old: Version,
        New: Version + Sendable + Walk,
    {
        let subjects: Vec<Box<dyn Subject>> = vec![
            Box::new(Converted::<Old, New>::new("jstream", old)?),
            Box::new(Converted::<New, New>::new("jstream-equal", new)?),
            #[cfg(feature = "peers")]
            fory::<Old, New>(old)?,
        ];
        Ok(Self {
            about,
            sum: new.walk(),
            subjects,
        })
    }

    pub(super) fn and(mut self, subjects: Vec<Box<dyn Subject>>) -> Self {
        self.subjects.extend(subjects);
        self
    }

    /// Adds postcard, which finds fields by their order, so that it reads fields with other names,
    /// more variants, and larger numbers of the same encoding.
    fn and_postcard<Old: Version, New: Versions>(self, old: &'static Old) -> Result<Self, Failure> {
        let postcard = Postcard::<New>::new(old)?;
        Ok(self.and(vec![Box::new(Peer::new(old, postcard)?)]))
    }
}

/// Returns the description of a case.
fn about<T: Versions>(size: usize, change: &str) -> String {
    format!("{} {}; {change}", number(size as f64), T::ABOUT)
}

/// Returns the case of a field that the new version adds.
///
/// The peers with their own schemas send no field that has its default, so a message of the new
/// version in which the field has its default is a message of the old one. Postcard has no
/// default for a field that the message lacks: its messages have no names or lengths by which it
/// could know.
pub(super) fn added<T: Versions + Peers>(size: usize) -> Result<Case, Failure> {
    let old = forever(T::Without::from(T::draw(size)));
    let mut new = T::draw(size);
    new.reset();
    let new = forever(new);
    let text = about::<T>(size, &format!("the field {} is new", T::FIELD));
    let case = Case::new(text, old, new)?;
    Ok(case.and(T::decoding(new)?).and(T::looking(new)?))
}

/// Returns the case of a field that the new version lacks. Postcard would take its bytes for those
/// of the next field.
pub(super) fn removed<T: Versions + Peers>(size: usize) -> Result<Case, Failure> {
    let old = forever(T::draw(size));
    let new = forever(T::Without::from(T::draw(size)));
    let text = about::<T>(size, &format!("the field {} was removed", T::FIELD));
    let case = Case::new(text, old, new)?;
    let case = case.and(T::decoding_without(old)?);
    Ok(case.and(T::looking_without(old)?))
}

/// Returns the case of a number that has a larger type in the new version.
///
/// Prost and postcard encode both alike. FlatBuffers and Cap'n Proto have fields of fixed sizes,
/// whose types cannot change.
pub(super) fn widened<T: Widened + Peers>(size: usize) -> Result<Case, Failure> {
    let old = forever(T::Narrow::from(T::draw(size)));
    let mut new = T::draw(size);
    new.narrow();
    let new = forever(new);
    let text = about::<T>(size, "a number has twice the size");
    let case = Case::new(text, old, new)?.and(T::decoding(new)?);
    case.and_postcard::<_, T>(old)
}

/// Returns the case of a field with a new name, which is not in the messages of most peers.
pub(super) fn renamed<T: Versions + Peers>(size: usize) -> Result<Case, Failure> {
    let old = forever(T::Renamed::from(T::draw(size)));
    let new = forever(T::draw(size));
    let text = about::<T>(size, "a field has another name");
    let case = Case::new(text, old, new)?;
    let case = case.and(T::decoding(new)?).and(T::looking(new)?);
    case.and_postcard::<_, T>(old)
}

/// Returns the case of an enum with one variant more.
pub(super) fn extended<T: Extended + Peers>(size: usize) -> Result<Case, Failure> {
    let mut new = T::draw(size);
    new.replace();
    let new = forever(new);
    let mut old = T::draw(size);
    old.replace();
    let old = forever(T::Fewer::from(old));
    let text = about::<T>(size, "an enum has a new variant");
    let case = Case::new(text, old, new)?;
    let case = case.and(T::decoding(new)?).and(T::looking(new)?);
    case.and_postcard::<_, T>(old)
}

#[cfg(test)]
mod tests {
    use super::super::record::{Record, RecordWithout};
    use super::*;

    #[test]
    fn postcard_has_no_default_for_a_field_that_the_message_lacks() {
        let old = RecordWithout::from(Record::draw(3));
        let message = postcard::to_allocvec(&old).unwrap();
        let read = postcard::from_bytes::<Record>(&message);
        assert!(matches!(
            read,
            Err(postcard::Error::DeserializeUnexpectedEnd)
        ));
    }
}
