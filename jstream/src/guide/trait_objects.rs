//! Trait objects.
//!
//! A trait with `#[jstream::transportable]` lets its objects travel: behind `&'b dyn`, `Box`, `Rc`,
//! `Arc`. Types that implement it are registered, and each arrives as what it was.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer, transportable};
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
//! /// One that owns its parts: its form implements the trait too, and is what is called.
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
//! let message = Writer::new().write(&drawing, Spent::heap(4096))?;
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
//! # What is on the wire
//!
//! The pointer says the class: the [descriptor](super::schemas) of its form, which covers its
//! name and structure. The receiver looks it up among the classes that *it* has registered, checks
//! the object as one of that class, and makes the pointer with a cast of its own. No address and no
//! table of functions comes from the message.
//!
//! - What is not registered is not written:
//!   [`WriteError::Unregistered`](crate::WriteError::Unregistered).
//! - A class that the receiver does not know is an error that names the trait and the number.
//! - Two types of one name and structure can't be told apart, so neither is written or read. Rename
//!   one.
//!
//! # Registration in other crates
//!
//! Any crate may register implementations of any transportable trait; the receiver needs no list.
//! But a linker leaves out a crate that a program depends on and never mentions, and with it what
//! it registers. `use that_crate as _;` in the program mentions it, and
//! [`implementations`](crate::implementations) lists what is there, so that a test can ask.
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
//! # What a transportable trait can't have
//!
//! Type parameters and associated types: nothing on the wire would tell which are meant. Where a
//! trait object is in the graph, [`with_mut`](crate::Received::with_mut) asks for `Sync` as a
//! supertrait, since a class may have cells that lead back. An owner with a field of `dyn Trait`
//! has no `to_owned`, as nothing says which owner belongs to a form.
