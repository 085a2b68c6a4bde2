//! Trait objects.
//!
//! The attribute `#[jstream::transportable]` makes the objects of a trait transportable behind
//! `&'b dyn`, `Box`, `Rc` and `Arc`. Each type that implements the trait is registered, and its
//! objects are received as objects of that type.
//!
//! ```
//! use jstream::{transportable, EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[transportable]
//! trait Shape {
//!     fn area(&self) -> f64;
//! }
//!
//! #[derive(Transportable)]
//! #[transportable(implements(Shape))]
//! struct Circle {
//!     radius: f64,
//! }
//!
//! impl Shape for Circle {
//!     fn area(&self) -> f64 {
//!         3.0 * self.radius * self.radius
//!     }
//! }
//!
//! /// A type that owns its parts. The receiver calls its form, which must implement the trait too.
//! #[derive(Transportable)]
//! #[transportable(implements(Shape))]
//! struct Group {
//!     parts: Vec<Box<dyn Shape>>,
//! }
//!
//! impl Shape for Group {
//!     fn area(&self) -> f64 {
//!         self.parts.iter().map(|part| part.area()).sum()
//!     }
//! }
//!
//! impl Shape for GroupRef<'_> {
//!     fn area(&self) -> f64 {
//!         self.parts.iter().map(|part| part.area()).sum()
//!     }
//! }
//!
//! // A generic type is registered by its instances.
//! #[derive(Transportable)]
//! struct Square<T> {
//!     side: T,
//! }
//!
//! impl<T: Copy + Into<f64> + Transportable> Shape for Square<T> {
//!     fn area(&self) -> f64 {
//!         self.side.into() * self.side.into()
//!     }
//! }
//!
//! jstream::implements!(Shape: Square<f32>, Square<u8>);
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let drawing: Vec<Box<dyn Shape>> = vec![
//!     Box::new(Circle { radius: 2.0 }),
//!     Box::new(Group { parts: vec![Box::new(Square { side: 3u8 }), Box::new(Square { side: 0.5f32 })] }),
//! ];
//! let message = Writer::new().write(&drawing, EmptyBuffer::heap(4096))?;
//! let received = Reader::default().read::<Vec<Box<dyn Shape>>>(message)?;
//! let areas: Vec<f64> = received.get().iter().map(|shape| shape.area()).collect();
//! assert_eq!(areas, [12.0, 9.25]);
//!
//! let classes = jstream::implementations::<dyn Shape>();
//! assert_eq!(classes, ["Circle", "Group", "Square<f32>", "Square<u8>"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Wire representation
//!
//! The pointer contains the number of the object's class: the [descriptor](super::schemas) of the
//! form of its type, which covers the name and the structure. The receiver looks the number up
//! among the types that *it* has registered, checks the object as a value of that type, and creates
//! the pointer with a cast of its own. A message contains no addresses and no vtables.
//!
//! - An object of a type that is not registered is not written:
//!   [`WriteError::Unregistered`](crate::WriteError::Unregistered).
//! - A class that the receiver has not registered is an error that states the trait and the number.
//! - Two types with the same name and structure can't be distinguished, so neither is written or
//!   read. Rename one of them.
//!
//! # Registration in other crates
//!
//! Any crate may register implementations of any transportable trait; the receiver needs no list.
//! However, if a program depends on a crate without mentioning it, the linker omits the crate
//! together with its registrations. Mention it in the program with `use that_crate as _;`. The
//! function [`implementations`](crate::implementations) lists the registered types, so a test can
//! check that none is missing.
//!
//! ```
//! # #[jstream::transportable]
//! # trait Plugin {}
//! # #[derive(jstream::Transportable)]
//! # #[transportable(implements(Plugin))]
//! # struct Reverb;
//! # impl Plugin for Reverb {}
//! let missing: Vec<_> = ["Reverb", "Echo"]
//!     .into_iter()
//!     .filter(|name| !jstream::implementations::<dyn Plugin>().iter().any(|known| known == name))
//!     .collect();
//! assert_eq!(missing, ["Echo"], "the crate with `Echo` is not linked");
//! ```
//!
//! # Restrictions
//!
//! - A transportable trait can't have type parameters or associated types, since the message does
//!   not identify them.
//! - If a graph contains a trait object, [`with_mut`](crate::Received::with_mut) requires that the
//!   trait has `Sync` as a supertrait, since an implementation may have cells that refer back.
//! - An owning type with a field of `dyn Trait` has no `to_owned`, since a form does not determine
//!   the owning type.
