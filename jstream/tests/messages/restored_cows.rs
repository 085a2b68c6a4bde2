//! A `Cow` is restored from its form as the owner of its target.

use std::borrow::Cow;
use std::path::Path;

use jstream::{Transportable, from_slice, to_vec};

#[derive(Transportable, Clone, Debug, PartialEq)]
struct Part(String);

#[derive(Transportable, Debug, PartialEq)]
struct Cows {
    text: Cow<'static, str>,
    parts: Cow<'static, [Part]>,
    part: Option<Cow<'static, Part>>,
    path: Cow<'static, std::path::Path>,
}

#[test]
fn values_that_may_own_their_targets_are_restored_as_owners() {
    let part = || Part("part".to_owned());
    let cows = Cows {
        text: Cow::Borrowed("text"),
        parts: Cow::Owned(vec![part(), part()]),
        part: Some(Cow::Owned(part())),
        path: Cow::Borrowed(Path::new("/a")),
    };
    let received = from_slice::<Cows>(&to_vec(&cows).unwrap()).unwrap();
    let restored = received.to_owned().unwrap();
    assert_eq!(restored, cows);
    assert!(matches!(restored.text, Cow::Owned(_)));
    assert_eq!(received.get().to_owned().unwrap(), cows);
}
