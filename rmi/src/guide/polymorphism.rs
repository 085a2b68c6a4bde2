//! Arguments that are trait objects.
//!
//! Objects of a transportable trait are passed behind `&dyn`, directly or within another type. They
//! arrive with their own type, and the method can call them as usual. Both programs register the
//! types that implement the trait. A message contains a number for each type, and never code.
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
//! /// Borrows its corners, at the client from its own memory, at the server from the buffer.
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
//! let client = Client::connect(serving.address()).wait()?;
//! let surveyor = client.lookup::<dyn Surveyor>("surveyor").wait()?;
//! let (room, corners) = (Rectangle { width: 3.0, height: 4.0 }, [(0.0, 0.0), (4.0, 0.0), (0.0, 3.0)]);
//! let garden = Polygon { corners: &corners };
//! assert_eq!(*surveyor.area(&garden).wait()?.get(), 6.0);
//! assert_eq!(*surveyor.total(&[&room, &garden]).wait()?.get(), 18.0);
//! # Ok(())
//! # }
//! ```
//!
//! If the server does not know a type, it refuses the call, and
//! [`CallError::Refused`](crate::CallError::Refused) names the type.
//! [`jstream::guide::trait_objects`] covers generic types, owned trait objects, and checks that
//! every type is registered.
