//! Arguments that are trait objects.
//!
//! Objects of a transportable trait travel behind `&dyn`, alone or in any other type, and arrive as what they were: the
//! method calls them as it would call its own. Both programs register the types that implement the trait; what travels
//! is a number for each type, and never code.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::{Transportable, transportable};
//! use jstream_rmi::{Client, Server, remote};
//!
//! #[transportable]
//! trait Shape {
//!     fn area(&self) -> f64;
//! }
//!
//! #[derive(Transportable)]
//! #[transportable(implements(Shape))]
//! struct Rectangle {
//!     width: f64,
//!     height: f64,
//! }
//!
//! impl Shape for Rectangle {
//!     fn area(&self) -> f64 {
//!         self.width * self.height
//!     }
//! }
//!
//! /// Borrows its corners, from the caller's memory there and from the receive buffer here.
//! #[derive(Transportable)]
//! #[transportable(implements(Shape))]
//! struct Polygon<'b> {
//!     corners: &'b [(f64, f64)],
//! }
//!
//! impl Shape for Polygon<'_> {
//!     fn area(&self) -> f64 {
//!         let next = self.corners.iter().cycle().skip(1);
//!         let twice: f64 = self.corners.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
//!         twice / 2.0
//!     }
//! }
//!
//! #[remote]
//! trait Surveyor {
//!     fn area(&self, shape: &dyn Shape) -> f64;
//!     fn total(&self, shapes: &[&dyn Shape]) -> f64;
//! }
//!
//! struct Plain;
//!
//! impl Surveyor for Plain {
//!     fn area(&self, shape: &dyn Shape) -> f64 {
//!         shape.area()
//!     }
//!
//!     fn total(&self, shapes: &[&dyn Shape]) -> f64 {
//!         shapes.iter().map(|shape| shape.area()).sum()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::default();
//! # server.bind::<dyn Surveyor>("surveyor", Arc::new(Plain))?;
//! # let serving = server.listen(&"inproc://guide-polymorphic".parse()?)?;
//! let surveyor = Client::connect(serving.address())?.lookup::<dyn Surveyor>("surveyor")?;
//! let (room, corners) = (Rectangle { width: 3.0, height: 4.0 }, [(0.0, 0.0), (4.0, 0.0), (0.0, 3.0)]);
//! let garden = Polygon { corners: &corners };
//! assert_eq!(*surveyor.area(&garden).wait()?.get(), 6.0);
//! assert_eq!(*surveyor.total(&[&room, &garden]).wait()?.get(), 18.0);
//! # Ok(())
//! # }
//! ```
//!
//! A server that does not know a type refuses the call: [`CallError::Refused`](crate::CallError::Refused) names the
//! type. [`jstream::guide::trait_objects`] has the rest: generic types, owners, and checks that every type is registered.
