//! Comparison of an interface with that of an object, as its server describes it.

use jstream::schema::{Kind, Schema, TypeIndex};

use crate::interface::methods::{Interface, Method};
use crate::support::shown;

/// A method of an object's interface, as its server describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescribedMethod<'d> {
    pub(crate) name: &'d str,
    pub(crate) signature: &'d str,
    /// Encoded schemas of the arguments' message and of the result's message.
    pub(crate) schemas: [&'d [u8]; 2],
    pub(crate) one_way: bool,
}

impl Interface {
    /// Returns the differences to an interface with another id, as texts. Returns none if that
    /// interface has the same name, all these methods at the same places, and further ones behind
    /// them. A description has no types of stream items and references, so an interface with these
    /// is different if there are further methods.
    pub(crate) fn differences(&self, name: &str, theirs: &[DescribedMethod<'_>]) -> Vec<String> {
        if self.name() != name {
            return vec![format!("{} here, {} there", self.name(), shown(name))];
        }
        let mut differences = Vec::new();
        let mut moved = None;
        for (place, method) in self.methods().iter().enumerate() {
            let mut known = theirs.iter().enumerate();
            match known.find(|(_, theirs)| theirs.name == method.name()) {
                None => differences.push(format!("`{}` is missing there", method.signature())),
                Some((their_place, theirs)) => {
                    differences.extend(method.difference(theirs));
                    if place != their_place && moved.is_none() {
                        moved = Some((method.name(), place, their_place));
                    }
                }
            }
        }
        if !differences.is_empty() {
            return differences;
        }
        if let Some((name, place, their_place)) = moved {
            return vec![format!(
                "{name} is method {place} here, {their_place} there; add methods behind the others"
            )];
        }
        let mut methods = self.methods().iter();
        let hidden = methods.find(|method| method.has_hidden_types());
        if theirs.len() > self.len() && hidden.is_none() {
            return Vec::new();
        }
        vec![match hidden {
            Some(of) if theirs.len() > self.len() => format!(
                "there are further methods there, and the items or references of `{}` can't be \
                 compared: use the same trait",
                of.signature()
            ),
            Some(of) => format!("`{}` has other types here than there", of.signature()),
            None => "the ids of the interfaces differ".to_owned(),
        }]
    }
}

impl Method {
    /// Returns the first difference to a method of the same name, as a text.
    fn difference(&self, theirs: &DescribedMethod<'_>) -> Option<String> {
        let name = self.name();
        if self.is_one_way() != theirs.one_way {
            let kind = |one_way| if one_way { "one-way" } else { "answered" };
            let (local, there) = (kind(self.is_one_way()), kind(theirs.one_way));
            return Some(format!("{name}: {local} here, {there} there"));
        }
        let signatures = || {
            let (local, there) = (self.signature(), shown(theirs.signature));
            (local != there).then(|| format!("`{local}` here, `{there}` there"))
        };
        let schemas = self.schemas();
        let mut pairs = schemas.iter().zip(theirs.schemas);
        let Some((ours, theirs)) = pairs.find(|(ours, theirs)| ours != theirs) else {
            return self.has_hidden_types().then(signatures).flatten();
        };
        Some(match difference(ours, theirs) {
            Some((path, details)) if is_inner(&path, &details) => {
                format!("{name}: {}: {}", shown(&path), shown(&details))
            }
            found => signatures().unwrap_or_else(|| {
                let details = found.map(|(_, details)| shown(&details));
                let details = details.unwrap_or_else(|| "other types here than there".to_owned());
                format!("{name}: {details}")
            }),
        })
    }
}

/// Returns true if a difference is not one of the types at the root of the path, which the
/// signatures show.
fn is_inner(path: &str, details: &str) -> bool {
    let rest = details.strip_prefix(path);
    !rest.is_some_and(|rest| rest.starts_with(" here, "))
}

/// Returns the path and the text of the first difference between two encoded schemas of messages.
/// The path begins at an argument. Returns `None` if there is no such difference, as for messages
/// of different numbers of arguments.
fn difference(ours: &[u8], theirs: &[u8]) -> Option<(String, String)> {
    let (ours, our_root) = Schema::from_bytes(ours).ok()?;
    let (theirs, their_root) = Schema::from_bytes(theirs).ok()?;
    let (our_parts, their_parts) = (parts(&ours, our_root), parts(&theirs, their_root));
    if our_parts.len() != their_parts.len() {
        return None;
    }
    // Last, the layout of the tuple of the arguments.
    let both = our_parts.into_iter().zip(their_parts);
    let mut differing = both
        .chain([(our_root, their_root)])
        .filter_map(|(a, b)| ours.difference(a, &theirs, b));
    differing.next().map(|found| (found.path, found.details))
}

/// Returns the types of a message's parts: those of a tuple, or the type itself. For references,
/// returns their targets.
fn parts(of: &Schema, root: TypeIndex) -> Vec<TypeIndex> {
    let info = of.get(root);
    let fields = info.and_then(|info| match &info.kind {
        Kind::Struct(fields) if info.name == "()" => Some(fields),
        _ => None,
    });
    let parts = fields.map_or_else(
        || vec![root],
        |fields| fields.iter().map(|field| field.of).collect(),
    );
    let target = |part| match of.get(part).map(|info| &info.kind) {
        Some(Kind::Reference(target)) => *target,
        _ => part,
    };
    parts.into_iter().map(target).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    mod there {
        #[derive(jstream::Transportable)]
        pub(super) struct Point {
            pub(super) _x: u32,
        }
    }

    #[derive(jstream::Transportable)]
    struct Point {
        _x: u64,
    }

    /// Returns the differences of two interfaces of the name `T`.
    fn compared(ours: Vec<Method>, theirs: Vec<Method>) -> Vec<String> {
        let (ours, theirs) = (Interface::new("T", ours), Interface::new("T", theirs));
        let schemas: Vec<_> = theirs.methods().iter().map(Method::schemas).collect();
        let described = theirs.methods().iter().zip(&schemas);
        let described: Vec<_> = described
            .map(|(method, schemas)| DescribedMethod {
                name: method.name(),
                signature: method.signature(),
                schemas: schemas.each_ref().map(Vec::as_slice),
                one_way: method.is_one_way(),
            })
            .collect();
        ours.differences("T", &described)
    }

    fn add() -> Method {
        Method::new::<(&'static Point, u64), ()>("add", "fn add(&self, p: &Point, n: u64)")
    }

    #[test]
    fn further_methods_are_no_difference() {
        let more = || Method::new::<(), ()>("more", "fn more(&self)");
        assert!(compared(vec![add()], vec![add(), more()]).is_empty());
        assert_eq!(
            compared(vec![add(), more()], vec![add()]),
            ["`fn more(&self)` is missing there"]
        );
        let items =
            || Method::new::<u64, ()>("sum", "fn sum(&self, of: Stream<u64>)").takes::<u64>(0);
        let refused = compared(vec![items()], vec![items(), more()]);
        assert!(
            refused.join("").contains("use the same trait"),
            "{refused:?}"
        );
        assert_eq!(
            compared(vec![add()], vec![more(), add()]),
            ["add is method 0 here, 1 there; add methods behind the others"]
        );
    }

    #[test]
    fn a_difference_names_the_field_or_shows_the_signatures() {
        let text = "fn add(&self, p: &Point, n: u64)";
        let field = Method::new::<(&'static there::Point, u64), ()>("add", text);
        assert_eq!(
            compared(vec![add()], vec![field]),
            ["add: Point._x: u64 here, u32 there"]
        );
        // Names of arguments are no difference.
        let renamed = "fn add(&self, point: &Point, n: u64)";
        let renamed = Method::new::<(&'static Point, u64), ()>("add", renamed);
        let other = "fn add(&self, p: &Point, n: u32)";
        let number = Method::new::<(&'static Point, u32), ()>("add", other);
        let fewer = Method::new::<(&'static Point,), ()>("add", "fn add(&self, p: &Point)");
        let one_way = || add().one_way();
        for (theirs, shown) in [
            (renamed, "the ids of the interfaces differ".to_owned()),
            (number, format!("`{text}` here, `{other}` there")),
            (
                fewer,
                format!("`{text}` here, `fn add(&self, p: &Point)` there"),
            ),
            (one_way(), "add: answered here, one-way there".to_owned()),
            (
                Method::new::<(&'static Point, u32), ()>("add", text),
                "add: u64 here, u32 there".to_owned(),
            ),
            (
                Method::new::<(&'static Point, u64), u8>("add", text),
                "add: () here, u8 there".to_owned(),
            ),
        ] {
            assert_eq!(compared(vec![add()], vec![theirs]), [shown]);
        }
    }

    #[test]
    fn texts_of_a_peer_are_tamed() {
        let ours = Interface::new("T", vec![add()]);
        assert_eq!(ours.differences("\u{1b}", &[]), ["T here, \\u{1b} there"]);
        let theirs = DescribedMethod {
            name: "add",
            signature: "\n",
            schemas: [&[1, 2, 3], &[]],
            one_way: false,
        };
        assert_eq!(
            ours.differences("T", &[theirs]),
            ["`fn add(&self, p: &Point, n: u64)` here, `\\n` there"]
        );
    }
}
