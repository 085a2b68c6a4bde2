//! Trait objects: the classes that may stand behind a pointer to one.
//!
//! A trait's implementations are registered by the crates that have them. On the wire a class is a
//! number, the descriptor of its form, which names it and covers its structure; the pointer's
//! vtable comes from a cast that this program made. What is not registered is an error when it is
//! written and when it is read.

use std::any::{TypeId, type_name};
use std::collections::hash_map::Entry;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::model::{InPlace, Transportable};
use crate::read::{Edge, Fault, FaultKind, Pass, Trace, short};
use crate::schema::{Descriptors, Kind, Schema, TypeIndex};
use crate::write::Draft;

/// One registered implementation of a trait: how the type is claimed, walked and named.
#[derive(Clone, Copy)]
pub struct Class {
    key: fn() -> TypeId,
    number: fn() -> u64,
    name: fn() -> String,
    schema: fn() -> (Schema, TypeIndex),
    claim: fn(Edge, &mut Pass<'_>) -> Result<*const u8, Fault>,
    read: unsafe fn(*const u8, &mut Pass<'_>) -> Result<(), Fault>,
    trace: unsafe fn(*const (), *const u8, &mut Trace),
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Class")
            .field("name", &(self.name)())
            .finish_non_exhaustive()
    }
}

/// The class of a trait object that a pass claimed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noted {
    pub(crate) class: &'static Class,
    address: usize,
}

impl Noted {
    /// Whether it was noted for a target at this address.
    pub(crate) fn is_of(self, target: *const u8) -> bool {
        self.address == target.addr()
    }
}

/// What a form's `TypeId` stands for.
fn key<F: InPlace>() -> TypeId {
    typeid::of::<F>()
}

fn number<F: InPlace>() -> u64 {
    Descriptors::default().of::<F>()
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
    /// The class of the values of `T`.
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

    /// Claims a target of this class; the pointer leads to a value of its form.
    ///
    /// # Errors
    ///
    /// As for [`Pointee::claim`](crate::model::Pointee::claim).
    #[inline]
    pub fn claim(&'static self, edge: Edge, pass: &mut Pass<'_>) -> Result<*const u8, Fault> {
        let target = (self.claim)(edge, pass)?;
        pass.classes.push(Noted {
            class: self,
            address: target.addr(),
        });
        Ok(target)
    }

    /// Reads a target that was not queued.
    ///
    /// # Errors
    ///
    /// As for [`Pointee::read_now`](crate::model::Pointee::read_now).
    ///
    /// # Safety
    ///
    /// [`claim`](Self::claim) of some class must have just returned `target`.
    pub unsafe fn read_now(target: *const u8, pass: &mut Pass<'_>) -> Result<(), Fault> {
        match pass.classes.last() {
            // SAFETY: the last class noted is that of the last target claimed.
            Some(noted) => unsafe { (noted.class.read)(target, pass) },
            None => Ok(()),
        }
    }

    /// The structure of its form, of which its number is the descriptor.
    #[cfg_attr(not(unix), allow(dead_code, reason = "files ask for it"))]
    pub(crate) fn schema(&self) -> (Schema, TypeIndex) {
        (self.schema)()
    }

    /// Walks a target of this class.
    ///
    /// # Safety
    ///
    /// As for [`Pointee::trace_target`](crate::model::Pointee::trace_target).
    pub(crate) unsafe fn trace(&self, slot: *const (), target: *const u8, trace: &mut Trace) {
        // SAFETY: the caller's promise is passed on.
        unsafe { (self.trace)(slot, target, trace) };
    }
}

/// A class and the cast from its forms to a trait's objects.
///
/// Only unsafe code makes one, so that none in the registry casts to another class.
#[derive(Debug)]
pub struct Castable<C> {
    class: Class,
    cast: C,
}

impl<C: Copy> Castable<C> {
    /// The class, and the cast that belongs to it.
    ///
    /// # Safety
    ///
    /// `cast` must take the address of a value of the form of the class.
    pub const unsafe fn new(class: Class, cast: C) -> Self {
        Self { class, cast }
    }

    /// The class.
    pub const fn class(&self) -> &Class {
        &self.class
    }

    /// Its cast.
    pub const fn cast(&self) -> C {
        self.cast
    }
}

/// The registered implementations of a trait, each with its cast.
///
/// # Safety
///
/// `registry` must return what [`Registry::new`] made of all that was registered.
pub unsafe trait Implementation: Sized + Sync + 'static {
    /// The trait's name.
    const TRAIT: &'static str;

    /// The class that this one is about.
    fn class(&self) -> &Class;

    /// All implementations.
    fn registry() -> &'static Registry<Self>;
}

/// All implementations of a trait that the program knows.
#[derive(Debug)]
pub struct Registry<I: 'static> {
    /// `None` where two classes have one name and structure: nothing tells them apart.
    by_number: FxHashMap<u64, Option<&'static I>>,
    numbers: FxHashMap<TypeId, u64>,
}

impl<I: Implementation> Registry<I> {
    /// Gathers what was registered.
    pub fn new(all: impl Iterator<Item = &'static I>) -> Self {
        let mut registry = Self {
            by_number: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        for one in all {
            let key = (one.class().key)();
            let Entry::Vacant(new) = registry.numbers.entry(key) else {
                // Registered twice.
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

    /// The implementation that an edge's class names.
    ///
    /// # Errors
    ///
    /// A fault of the edge when there is none.
    #[inline]
    pub fn of_edge(&self, edge: &Edge) -> Result<&'static I, Fault> {
        match self.by_number.get(&edge.meta) {
            Some(Some(one)) => Ok(*one),
            _ => Err(edge.fault(FaultKind::Class)),
        }
    }

    /// The class of this number.
    fn class(&self, number: u64) -> Option<&'static Class> {
        let one: &'static I = (*self.by_number.get(&number)?)?;
        Some(one.class())
    }

    /// The names of all classes, in alphabetical order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let all = self.by_number.values().flatten();
        let mut names: Vec<_> = all.map(|one| (one.class().name)()).collect();
        names.sort();
        names
    }

    /// The class of a value, or 0 when it is not registered or another one has its name and
    /// structure.
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

/// What every transportable trait asks of its implementations.
///
/// # Safety
///
/// Implemented for all types that can travel, and for no other. The methods' names must not meet
/// those of users' traits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't implement a transportable trait: it can't travel",
    note = "derive `Transportable` for it"
)]
pub unsafe trait Dynamic {
    /// What stands for the value's form.
    fn __jstream_key(&self) -> TypeId;

    /// The value's type.
    fn __jstream_name(&self) -> String;

    /// Allots the value's place.
    fn __jstream_write<'b>(&'b self, draft: &mut Draft<'b>) -> u64;
}

// SAFETY: the types that can travel.
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

/// The class of a trait object, 0 if it has none that could be read.
pub fn class_of<I: Implementation>(value: &(impl Dynamic + ?Sized)) -> u64 {
    I::registry().number_of(value)
}

/// Writes what a trait object is, and notes its class, or that it is not registered.
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
    /// What is registered for it.
    type Implementation: Implementation;
}

/// The names of all types that are registered as implementations of a trait: `implementations::<dyn
/// Shape>()`. One that is missing is of a crate that the linker left out.
#[must_use]
pub fn implementations<D: Registered + ?Sized>() -> Vec<String> {
    D::Implementation::registry().names()
}

/// Describes a trait object.
pub fn describe_dynamic<D: ?Sized + 'static>(schema: &mut Schema, name: &str) -> TypeIndex {
    schema.define_as(TypeId::of::<D>(), 0, 1, format!("dyn {name}"), |_| {
        Kind::Dynamic
    })
}

/// Registers types as implementations of a transportable trait: `implements!(Shape: Circle<f32>,
/// Circle<f64>)`. What `#[transportable(implements(Shape))]` does for a type without parameters.
///
/// The types are named for all time: `Line<'static>`. Their forms must implement the trait.
#[macro_export]
macro_rules! implements {
    // Each type is spelled once. Two spellings of one type expression can mean two types: what stands
    // around them may define different items of one name, and a macro may give something else.
    ($of:path: $($ty:ty),+ $(,)?) => {$(
        $crate::__private::inventory::submit! {
            <dyn $of>::__has_the_attribute_transportable::<$ty>()
        }
    )+};
}
