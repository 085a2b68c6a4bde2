//! Trait objects, and the registries of their classes.
//!
//! The crate that contains an implementation registers it. On the wire a class is a number: the
//! descriptor of its form, which covers the name and the structure. The vtable of the pointer comes
//! from a cast that is compiled into this program. Writing or reading a class that is not
//! registered is an error.
//!
//! Decision 025 has the reasons.

use std::any::{TypeId, type_name};
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::class::Class;
use crate::model::{InPlace, Transportable};
use crate::read::{Edge, Fault, FaultKind, Pass, Trace, short};
use crate::schema::{Descriptors, Kind, ListedClass, Schema, TypeIndex, TypeKey};
use crate::write::Draft;

/// Returns the `TypeId` that identifies a form.
fn key<F: InPlace>() -> TypeId {
    typeid::of::<F>()
}

fn number<F: InPlace>() -> u64 {
    Descriptors::default().descriptor::<F>()
}

fn name<T>() -> String {
    short(type_name::<T>())
}

fn claim<F: InPlace>(edge: Edge, pass: &mut Pass<'_>) -> Result<*const u8, Fault> {
    Ok(pass.claim::<F>(edge, 1)?.cast_const().cast())
}

/// # Safety
///
/// As for [`Pointee::read_now`](crate::model::Pointee::read_now), with a target of `F`.
unsafe fn read<F: InPlace>(target: *const u8, pass: &mut Pass<'_>) -> Result<(), Fault> {
    // SAFETY: the caller's promise is passed on.
    unsafe { pass.read_if_flat(target.cast::<F>(), 1) }
}

/// # Safety
///
/// As for [`Pointee::trace_target`](crate::model::Pointee::trace_target), with a target of `F`.
unsafe fn trace<F: InPlace>(slot: *const (), target: *const u8, trace: &mut Trace) {
    // SAFETY: the caller's promise is passed on.
    unsafe { trace.target(slot, target.cast::<F>(), 1, false) };
}

impl Class {
    /// Returns the class of the values of `T`.
    #[must_use]
    pub const fn of<T: Transportable + 'static>() -> Self {
        Self {
            key: key::<T::InPlace<'static>>,
            number: number::<T::InPlace<'static>>,
            name: name::<T>,
            schema: Schema::of_form::<T::InPlace<'static>>,
            claim: claim::<T::InPlace<'static>>,
            read: read::<T::InPlace<'static>>,
            trace: trace::<T::InPlace<'static>>,
        }
    }
}

/// A class, and the cast from values of its form to trait objects.
///
/// Only unsafe code can construct one, so no entry of the registry casts values of another class.
#[derive(Debug)]
pub struct Castable<C> {
    class: Class,
    cast: C,
}

impl<C: Copy> Castable<C> {
    /// Pairs a class with its cast.
    ///
    /// # Safety
    ///
    /// `cast` must accept the address of a value of the class's form.
    pub const unsafe fn new(class: Class, cast: C) -> Self {
        Self { class, cast }
    }

    /// Returns the class.
    pub const fn class(&self) -> &Class {
        &self.class
    }

    /// Returns the cast of the class.
    pub const fn cast(&self) -> C {
        self.cast
    }
}

/// A registered implementation of a trait: a class and its cast.
///
/// # Safety
///
/// `registry` must return the registry that [`Registry::new`] made of all registered
/// implementations.
pub unsafe trait Implementation: Sized + Sync + 'static {
    /// The name of the trait.
    const TRAIT: &'static str;

    /// Returns the class of this implementation.
    fn class(&self) -> &Class;

    /// Returns the registry of all implementations of the trait.
    fn registry() -> &'static Registry<Self>;
}

/// All registered implementations of a trait.
#[derive(Debug)]
pub struct Registry<I: 'static> {
    /// `None` if several classes have the same name and structure, and so cannot be told apart.
    by_number: FxHashMap<u64, Option<&'static I>>,
    numbers: FxHashMap<TypeId, u64>,
}

impl<I: Implementation> Registry<I> {
    /// Collects the registered implementations.
    pub fn new(all: impl Iterator<Item = &'static I>) -> Self {
        let mut registry = Self {
            by_number: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        for one in all {
            let key = (one.class().key)();
            let Entry::Vacant(new) = registry.numbers.entry(key) else {
                // The type was registered twice.
                continue;
            };
            let number = *new.insert((one.class().number)());
            registry
                .by_number
                .entry(number)
                .and_modify(|known| *known = None)
                .or_insert(Some(one));
        }
        registry
    }

    /// Returns the implementation of the class that an edge names.
    ///
    /// # Errors
    ///
    /// Returns a fault of the edge if its class is unknown or ambiguous.
    pub fn of_edge(&self, edge: &Edge) -> Result<&'static I, Fault> {
        match self.by_number.get(&edge.meta) {
            Some(Some(one)) => Ok(*one),
            _ => Err(edge.fault(FaultKind::Class)),
        }
    }

    /// Returns the class with this number.
    fn class(&self, number: u64) -> Option<&'static Class> {
        let one: &'static I = (*self.by_number.get(&number)?)?;
        Some(one.class())
    }

    /// Returns the numbers and schemas of all classes that can be told apart.
    fn classes(&self) -> Vec<ListedClass> {
        let known = self.by_number.iter().filter_map(|(number, one)| {
            let class = one.as_ref()?.class();
            Some((*number, class.schema))
        });
        known.collect()
    }

    /// Returns the names of all classes, in alphabetical order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let all = self.by_number.values().flatten();
        let mut names: Vec<_> = all.map(|one| (one.class().name)()).collect();
        names.sort();
        names
    }

    /// Returns the number of the value's class. Returns 0 if the class is not registered, or if
    /// another class has the same name and structure.
    fn number_of(&self, value: &(impl Dynamic + ?Sized)) -> u64 {
        let number = self
            .numbers
            .get(&value.__jstream_key())
            .copied()
            .unwrap_or(0);
        match self.by_number.get(&number) {
            Some(Some(_)) => number,
            _ => 0,
        }
    }
}

/// The methods that every transportable trait requires of its implementations.
///
/// # Safety
///
/// Must be implemented for all transportable types, and for no other type. The names of the methods
/// must not collide with those of user-defined traits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't implement a transportable trait: it can't travel",
    note = "derive `Transportable` for it"
)]
pub unsafe trait Dynamic {
    /// Returns the `TypeId` that identifies the value's form.
    fn __jstream_key(&self) -> TypeId;

    /// Returns the name of the value's type.
    fn __jstream_name(&self) -> String;

    /// Reserves the value's place in the message and returns it.
    fn __jstream_write<'b>(&'b self, draft: &mut Draft<'b>) -> u64;
}

// SAFETY: the implementation covers exactly the transportable types.
unsafe impl<T: Transportable> Dynamic for T {
    fn __jstream_key(&self) -> TypeId {
        fn key_of<'b, T: Transportable + 'b>(_: &'b T) -> TypeId {
            key::<T::InPlace<'b>>()
        }
        key_of(self)
    }

    fn __jstream_name(&self) -> String {
        name::<T>()
    }

    fn __jstream_write<'b>(&'b self, draft: &mut Draft<'b>) -> u64 {
        draft.single_target(self)
    }
}

/// Returns the class number of a trait object, or 0 if it has no class that a reader could
/// identify.
pub fn class_of<I: Implementation>(value: &(impl Dynamic + ?Sized)) -> u64 {
    I::registry().number_of(value)
}

/// Writes the target of a trait object. Records its class, or the error that it is not registered.
pub fn write_dynamic<'b, I: Implementation>(
    value: &'b (impl Dynamic + ?Sized),
    draft: &mut Draft<'b>,
) -> [u64; 2] {
    let class = class_of::<I>(value);
    if class == 0 {
        draft.unregistered(value.__jstream_name(), I::TRAIT);
    }
    draft.note_class(class, || I::registry().class(class));
    [value.__jstream_write(draft), class]
}

/// A trait object whose trait is transportable.
pub trait Registered {
    /// The type of the trait's registered implementations.
    type Implementation: Implementation;
}

/// Returns the names of all types that are registered as implementations of a trait:
/// `implementations::<dyn Shape>()`. If a type is missing, the linker left out the crate that
/// contains it.
#[must_use]
pub fn implementations<D: Registered + ?Sized>() -> Vec<String> {
    D::Implementation::registry().names()
}

/// Adds the type of a trait object to the schema.
pub fn describe_dynamic<D>(schema: &mut Schema, name: &str) -> TypeIndex
where
    D: Registered + ?Sized + 'static,
{
    let key = TypeKey {
        id: TypeId::of::<D>(),
        size: 0,
        align: 1,
    };
    let index = schema.define(key, &format!("dyn {name}"), &mut |_| Kind::Dynamic);
    schema.set_class_list(index, || D::Implementation::registry().classes());
    index
}

/// Registers types as implementations of a transportable trait: `implements!(Shape: Circle<f32>,
/// Circle<f64>)`. For a type without parameters, `#[transportable(implements(Shape))]` does the
/// same.
///
/// Types with a lifetime are named with `'static`: `Line<'static>`. Their forms must implement the
/// trait.
#[macro_export]
macro_rules! implements {
    // Each type is spelled once. Two spellings of one type expression can mean two types: the
    // surrounding code may define different items of the same name, and a macro may expand
    // differently.
    ($of:path: $($ty:ty),+ $(,)?) => {$(
        $crate::__private::inventory::submit! {
            <dyn $of>::__has_the_attribute_transportable::<$ty>()
        }
    )+};
}
