//! Comparison of an interface with that of an object of another version, as its server describes
//! it.
//!
//! Decision 121 has the reasons.

use std::collections::HashSet;
use std::sync::Arc;

use jstream::Limits;

use crate::interface::class_list::{MAX_CLASSES, MAX_DESCRIPTION};
use crate::interface::conversion::{MessageConversion, TheirClasses, TheirMessage};
use crate::interface::method_map::{MappedMethod, TheirMethod};
use crate::interface::methods::{Interface, Method};
use crate::support::shown;

/// An object's interface, as its server describes it.
pub(crate) struct DescribedInterface<'d> {
    pub(crate) name: &'d str,
    pub(crate) older_names: &'d [&'d str],
    pub(crate) methods: Vec<DescribedMethod<'d>>,
    /// The snapshots of the classes that trait objects may have.
    pub(crate) classes: &'d [&'d [u8]],
}

/// A method of an object's interface, as its server describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescribedMethod<'d> {
    pub(crate) name: &'d str,
    pub(crate) older_names: &'d [&'d str],
    pub(crate) signature: &'d str,
    pub(crate) id: u64,
    /// Schemas of the arguments' message and of the result's message, with the fields that must be
    /// understood.
    pub(crate) snapshots: [&'d [u8]; 2],
    pub(crate) carried: &'d [&'d str],
    pub(crate) one_way: bool,
}

/// The methods of an interface at an object of another version.
pub(crate) struct MappedMethods {
    pub(crate) methods: Vec<MappedMethod>,
    /// The methods whose arguments the server has to convert, each with its index here and there.
    pub(crate) changed: Vec<(usize, u16)>,
}

impl Interface {
    /// Finds the methods of this interface at an object of another version, by their names. Results
    /// are converted within these limits.
    ///
    /// # Errors
    ///
    /// The reason why no method can be called.
    pub(crate) fn map(
        &self,
        theirs: &DescribedInterface<'_>,
        limits: Limits,
    ) -> Result<MappedMethods, String> {
        let name = self.name();
        if !is_same_name(
            (name, self.older_names()),
            (theirs.name, theirs.older_names),
        ) {
            return Err(format!("{name} here, {} there", shown(theirs.name)));
        }
        let len = theirs.classes.iter().map(|class| class.len());
        if theirs.classes.len() > MAX_CLASSES
            || len.fold(0, usize::saturating_add) > MAX_DESCRIPTION
        {
            return Err("the description of the classes there is too long".to_owned());
        }
        let places = self.places(&theirs.methods);
        // The receiver needs a conversion only for classes that it has not.
        let (own_classes, their_classes) = (self.class_snapshots(), theirs.classes);
        let arguments_may_vary = own_classes
            .iter()
            .any(|own| !their_classes.contains(&own.as_slice()));
        let results_may_vary = their_classes
            .iter()
            .any(|theirs| !own_classes.iter().any(|own| own == theirs));
        let classes = TheirClasses::new(theirs.classes);
        let mut room = MAX_DESCRIPTION;
        let mut changed = Vec::new();
        let own = self.methods().iter().zip(places).enumerate();
        let methods = own.map(|(index, (method, place))| {
            let found = place.and_then(|place| Some((place, theirs.methods.get(place)?)));
            let Some((place, their_method)) = found else {
                return Err(format!("`{}` is missing there", method.signature()));
            };
            let place = u16::try_from(place).map_err(|_| "there are too many methods there")?;
            let [in_arguments, in_result] = method.has_trait_objects();
            let arguments_vary = arguments_may_vary && in_arguments;
            let result_varies = results_may_vary && in_result;
            let [same_arguments, same_result] = method.has_same_types(their_method);
            let refused = |reason: String| method.refused(their_method.signature, &reason);
            method.assert_called_alike(their_method).map_err(refused)?;
            let result = match method.is_one_way() || (same_result && !result_varies) {
                true => None,
                false => {
                    let [_, snapshot] = their_method.snapshots;
                    let left = room.checked_sub(snapshot.len());
                    room = left.ok_or_else(|| {
                        refused("the description of its result is too long".to_owned())
                    })?;
                    let result = method.result_from(their_method, &classes, limits);
                    Some(result.map_err(refused)?)
                }
            };
            if !same_arguments || arguments_vary {
                changed.push((index, place));
            }
            Ok(TheirMethod {
                index: place,
                result: result.map(Arc::new),
            })
        });
        let methods: Vec<MappedMethod> = methods.collect();
        Ok(MappedMethods { methods, changed })
    }

    /// Returns the index of each method among those of the other version. Methods of the same name
    /// go before those with older names, and no two have the same index.
    fn places(&self, theirs: &[DescribedMethod<'_>]) -> Vec<Option<usize>> {
        let mut taken = HashSet::new();
        let mut take = |is_it: &dyn Fn(&DescribedMethod<'_>) -> bool| {
            let place = theirs.iter().position(is_it);
            place.filter(|place| taken.insert(*place))
        };
        let methods = self.methods();
        let same_name = methods.iter();
        let mut places: Vec<_> = same_name
            .map(|method| take(&|theirs| theirs.name == method.name()))
            .collect();
        for (place, method) in places.iter_mut().zip(methods) {
            let own = (method.name(), method.older_names());
            let is_it =
                |theirs: &DescribedMethod<'_>| is_same_name(own, (theirs.name, theirs.older_names));
            *place = place.or_else(|| take(&is_it));
        }
        places
    }
}

/// Returns true if two parts of programs, each with its older names, have the same name, or one has
/// a name that the other one had.
pub fn is_same_name(own: (&str, &[&str]), theirs: (&str, &[&str])) -> bool {
    own.0 == theirs.0 || own.1.contains(&theirs.0) || theirs.1.contains(&own.0)
}

impl Method {
    /// Returns the reason why the method can't be called, with both signatures if they differ.
    pub(crate) fn refused(&self, their_signature: &str, reason: &str) -> String {
        let (own, theirs) = (self.signature(), shown(their_signature));
        if own == theirs {
            return reason.to_owned();
        }
        format!("`{own}` here, `{theirs}` there: {reason}")
    }

    /// Checks that a method of another version is called and answered in the same way.
    ///
    /// # Errors
    ///
    /// The reason why the method can't be called.
    fn assert_called_alike(&self, theirs: &DescribedMethod<'_>) -> Result<(), String> {
        if self.id() == theirs.id {
            return Ok(());
        }
        if self.is_one_way() != theirs.one_way {
            let kind = |one_way| if one_way { "one-way" } else { "answered" };
            let (own, theirs) = (kind(self.is_one_way()), kind(theirs.one_way));
            return Err(format!("it is {own} here, {theirs} there"));
        }
        if self.carried() != theirs.carried {
            return Err("its streams or references have other types there".to_owned());
        }
        Ok(())
    }

    /// Returns whether the types of the arguments' message and of the result's message are those of
    /// a method of another version.
    fn has_same_types(&self, theirs: &DescribedMethod<'_>) -> [bool; 2] {
        if self.id() == theirs.id {
            return [true; 2];
        }
        let [own_arguments, own_result] = self.descriptors();
        let [arguments, result] = theirs.snapshots.map(descriptor_of);
        [arguments == Some(own_arguments), result == Some(own_result)]
    }

    /// Plans the conversion of the results of a method of another version.
    ///
    /// # Errors
    ///
    /// The reason why no result can be converted.
    fn result_from(
        &self,
        theirs: &DescribedMethod<'_>,
        classes: &TheirClasses,
        limits: Limits,
    ) -> Result<MessageConversion, String> {
        if self.returns_references() {
            // What can't be converted would not be given back.
            return Err("its result has references, and another type there".to_owned());
        }
        let ([_, snapshot], [_, descriptor]) = (theirs.snapshots, self.descriptors());
        let theirs = TheirMessage {
            snapshot,
            names: None,
            classes,
        };
        let conversion = MessageConversion::new(&theirs, &self.result_schema(), descriptor, limits);
        conversion.map_err(|reason| format!("its result can't be converted: {reason}"))
    }

    /// Plans the conversion of the arguments of callers that have another version of the method.
    ///
    /// # Errors
    ///
    /// The reason why no arguments can be converted.
    pub(crate) fn arguments_from(
        &self,
        theirs: &TheirMessage<'_>,
        limits: Limits,
    ) -> Result<MessageConversion, String> {
        let [descriptor, _] = self.descriptors();
        MessageConversion::new(theirs, &self.arguments_schema(), descriptor, limits)
    }
}

/// Returns the descriptor of the type that a snapshot describes.
fn descriptor_of(snapshot: &[u8]) -> Option<u64> {
    let (schema, root) = jstream::schema::Schema::from_snapshot(snapshot).ok()?;
    Some(schema.descriptor(root))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]
mod tests {
    use super::*;

    mod there {
        #[derive(jstream::Transportable)]
        pub(super) struct Point {
            pub(super) _x: u32,
        }

        /// A class of points whose number does not fit.
        pub(super) mod other {
            #[derive(jstream::Transportable)]
            pub(in super::super) struct Point {
                pub(in super::super) _x: bool,
            }
        }
    }

    #[derive(jstream::Transportable)]
    struct Point {
        _x: u64,
    }

    type Places = Vec<Result<(u16, bool), String>>;

    /// Returns the methods of one interface at an object of another one, with true if results are
    /// converted, and the indices of the methods whose arguments are.
    fn mapped(ours: Vec<Method>, theirs: Vec<Method>) -> (Places, Vec<(usize, u16)>) {
        let (ours, theirs) = (Interface::new("T", ours), Interface::new("T", theirs));
        let mapped = map(&ours, &theirs).unwrap();
        let places = mapped.methods.into_iter();
        let places = places.map(|found| found.map(|of| (of.index, of.result.is_some())));
        (places.collect(), mapped.changed)
    }

    fn map(ours: &Interface, theirs: &Interface) -> Result<MappedMethods, String> {
        let methods = theirs.methods();
        let snapshots = methods.iter().map(|method| method.snapshots().unwrap());
        let snapshots: Vec<_> = snapshots.collect();
        let carried: Vec<Vec<String>> = methods.iter().map(Method::carried).collect();
        let carried: Vec<Vec<&str>> = carried
            .iter()
            .map(|of| of.iter().map(String::as_str).collect())
            .collect();
        let described = methods.iter().enumerate();
        let described = described.map(|(place, method)| DescribedMethod {
            name: method.name(),
            older_names: method.older_names(),
            signature: method.signature(),
            id: method.id(),
            snapshots: snapshots[place].each_ref().map(|of| of[0].as_slice()),
            carried: &carried[place],
            one_way: method.is_one_way(),
        });
        let theirs = DescribedInterface {
            name: theirs.name(),
            older_names: theirs.older_names(),
            methods: described.collect(),
            classes: &[],
        };
        ours.map(&theirs, Limits::default())
    }

    fn add() -> Method {
        let add =
            Method::new::<(&'static Point, u64), ()>("add", "fn add(&self, p: &Point, n: u64)");
        add.with_arguments(&["p", "n"])
    }

    #[test]
    fn methods_are_found_by_their_names() {
        let more = || Method::new::<(), ()>("more", "fn more(&self)");
        let (places, changed) = mapped(vec![add(), more()], vec![more(), add()]);
        assert_eq!(places, [Ok((1, false)), Ok((0, false))]);
        assert!(changed.is_empty());
        let (places, _) = mapped(vec![add(), more()], vec![add()]);
        assert_eq!(
            places,
            [
                Ok((0, false)),
                Err("`fn more(&self)` is missing there".to_owned())
            ]
        );
        let items = |name| {
            let items = Method::new::<(u64,), ()>(name, "fn sum(&self, of: Stream<u64>)");
            items.with_arguments(&["of"]).takes::<u64>(0)
        };
        // Older names on either side; the method that has the name itself goes first.
        let sum = || items("total").renamed_from(&["sum"]);
        let (places, changed) = mapped(vec![sum()], vec![more(), items("sum")]);
        assert_eq!((places, changed), (vec![Ok((1, false))], Vec::new()));
        let (places, _) = mapped(vec![items("sum")], vec![more(), sum()]);
        assert_eq!(places, [Ok((1, false))]);
        let (places, _) = mapped(vec![sum(), items("sum")], vec![items("sum")]);
        assert!(places[0].is_err() && places[1] == Ok((0, false)));
    }

    #[test]
    fn changed_types_are_converted_or_refuse_their_method_alone() {
        let text = "fn add(&self, p: &Point, n: u64)";
        let narrower = Method::new::<(&'static there::Point, u64), ()>("add", text);
        let (places, changed) = mapped(vec![add()], vec![narrower]);
        assert_eq!((places, changed), (vec![Ok((0, false))], vec![(0, 0)]));
        let get = |method: Method| method.with_arguments(&[]);
        let wide = || get(Method::new::<(), Point>("get", "fn get(&self) -> Point"));
        let narrow = get(Method::new::<(), there::Point>("get", ""));
        let (places, changed) = mapped(vec![wide()], vec![narrow]);
        assert_eq!((places, changed), (vec![Ok((0, true))], Vec::new()));
        let signature = "fn get(&self) -> Point";
        let other = get(Method::new::<(), there::other::Point>("get", signature));
        let (places, _) = mapped(vec![wide()], vec![other]);
        let reason = places[0].clone().unwrap_err();
        assert!(
            reason.starts_with("its result can't be converted: "),
            "{reason}"
        );
        assert!(reason.contains("_x"), "{reason}");
        let (places, _) = mapped(vec![add()], vec![add().one_way()]);
        assert_eq!(
            places,
            [Err("it is answered here, one-way there".to_owned())]
        );
        let items = |method: Method| method.with_arguments(&["of"]);
        let sum = || items(Method::new::<(u64,), ()>("sum", ""));
        let (places, _) = mapped(vec![sum().takes::<u64>(0)], vec![sum().takes::<u32>(0)]);
        assert_eq!(
            places,
            [Err(
                "its streams or references have other types there".to_owned()
            )]
        );
    }

    #[test]
    fn traits_have_the_same_name_or_an_older_one() {
        let of = |name| Interface::new(name, vec![add()]);
        let refused = map(&of("T"), &of("\u{1b}")).err().unwrap();
        assert_eq!(refused, "T here, \\u{1b} there");
        assert!(map(&of("T"), &of("S").renamed_from(&["T"])).is_ok());
        assert!(map(&of("T").renamed_from(&["S"]), &of("S")).is_ok());
    }

    #[test]
    fn long_descriptions_are_refused() {
        let ours = Interface::new("T", vec![Method::new::<(), Point>("get", "b")]);
        let map = |result: &[u8], classes: &[&[u8]]| {
            let method = DescribedMethod {
                name: "get",
                older_names: &[],
                signature: "b",
                id: 0,
                snapshots: [&[], result],
                carried: &[],
                one_way: false,
            };
            let theirs = DescribedInterface {
                name: "T",
                older_names: &[],
                methods: vec![method],
                classes,
            };
            let mapped = ours.map(&theirs, Limits::default());
            mapped.map(|mapped| mapped.methods[0].as_ref().unwrap_err().clone())
        };
        let long = vec![0; MAX_DESCRIPTION + 1];
        let reason = map(&long, &[]).unwrap();
        assert_eq!(reason, "the description of its result is too long");
        let halves = long.split_at(7);
        let refused = "the description of the classes there is too long";
        assert_eq!(map(&[], &[halves.0, halves.1]).unwrap_err(), refused);
        let many: Vec<&[u8]> = vec![&[]; MAX_CLASSES + 1];
        assert_eq!(map(&[], &many).unwrap_err(), refused);
        let reason = map(&[], &many[1..]).unwrap();
        assert!(
            reason.starts_with("its result can't be converted: "),
            "{reason}"
        );
    }

    #[test]
    fn invalid_snapshots_refuse_their_method() {
        let ours = Interface::new("T", vec![add()]);
        let theirs = DescribedInterface {
            name: "T",
            older_names: &[],
            methods: vec![DescribedMethod {
                name: "add",
                older_names: &[],
                signature: "\n",
                id: 0,
                snapshots: [&[1, 2, 3], &[]],
                carried: &[],
                one_way: false,
            }],
            classes: &[&[7]],
        };
        let mapped = ours.map(&theirs, Limits::default()).unwrap();
        let reason = mapped.methods[0].as_ref().unwrap_err();
        assert!(
            reason.starts_with("`fn add(&self, p: &Point, n: u64)` here, `\\n` there: "),
            "{reason}"
        );
    }
}
