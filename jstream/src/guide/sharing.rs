//! Shared objects and cycles.
//!
//! In a message, a plain reference or a `Box` is the only pointer to its target: if two of them
//! refer to one object, the object is sent twice. `Rc` and `Arc` preserve the identity of their
//! targets. They are received as [`Shared`](crate::Shared), a reference that can be compared with
//! others for identity.
//!
//! ```
//! use std::rc::Rc;
//!
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Team {
//!     members: Vec<Rc<Member>>,
//!     lead: Rc<Member>,
//! }
//!
//! #[derive(Transportable)]
//! struct Member {
//!     name: String,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ada = Rc::new(Member { name: "Ada".to_owned() });
//! let grace = Rc::new(Member { name: "Grace".to_owned() });
//! let team = Team { members: vec![ada.clone(), grace], lead: ada };
//!
//! let message = Writer::new().write(&team, EmptyBuffer::heap(1024))?;
//! let received = Reader::default().read::<Team>(message)?;
//! let form: &TeamRef<'_> = received.get();
//! assert!(form.lead.ptr_eq(form.members[0]));
//! assert!(!form.lead.ptr_eq(form.members[1]));
//! assert_eq!(form.lead.name, "Ada");
//!
//! // Conversion to the owned type preserves the sharing.
//! let again = form.to_owned()?;
//! assert!(Rc::ptr_eq(&again.lead, &again.members[0]));
//! # Ok(())
//! # }
//! ```
//!
//! Plain references preserve identity if their field is marked `shared`. The field is still a plain
//! reference in the form.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Edge<'b> {
//!     #[transportable(shared)]
//!     from: &'b str,
//!     #[transportable(shared)]
//!     to: &'b str,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, b) = ("a long name of a node".to_owned(), "b".to_owned());
//! let edges = [Edge { from: &a, to: &b }, Edge { from: &b, to: &a }];
//! let message = Writer::new().write(&edges, EmptyBuffer::heap(1024))?;
//! let received = Reader::default().read::<[Edge; 2]>(message)?;
//! let edges = received.get();
//! assert!(std::ptr::eq(edges[0].from, edges[1].to));
//! # Ok(())
//! # }
//! ```
//!
//! # Cycles
//!
//! An object can refer back to itself only through a field that is set after the object was
//! created: a `Cell<Option<&'b T>>`. Such a field preserves identity without a mark. A message with
//! a cycle that contains no cell is refused: no program could have built it, and functions that
//! walk the objects would not terminate.
//!
//! ```
//! use std::cell::Cell;
//!
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! /// A node of a ring.
//! #[derive(Transportable)]
//! struct Link<'b> {
//!     value: u32,
//!     next: Cell<Option<&'b Link<'b>>>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, b) = (Link { value: 1, next: Cell::new(None) }, Link { value: 2, next: Cell::new(None) });
//! a.next.set(Some(&b));
//! b.next.set(Some(&a));
//!
//! let message = Writer::new().write(&a, EmptyBuffer::heap(1024))?;
//! let received = Reader::default().read::<Link>(message)?;
//! let ring = received.with(|first| {
//!     let second = first.next.get().unwrap();
//!     assert!(std::ptr::eq(second.next.get().unwrap(), first));
//!     [first.value, second.value]
//! });
//! assert_eq!(ring, [1, 2]);
//! # Ok(())
//! # }
//! ```
//!
//! A type with such a cell is not covariant. [`Received::get`](crate::Received::get) and
//! [`with_mut`](crate::Received::with_mut) are not available for it. Use
//! [`with`](crate::Received::with), which passes the object to a closure with a lifetime that no
//! other code can name. Mark a type that refers to a type with cells as
//! `#[transportable(invariant)]`. Such a type can't be used behind a trait object.
//!
//! Do not derive `Debug`, `PartialEq` or `Hash` for a type with cells. The derived implementations
//! follow the cells, and in a cycle they recurse until the stack overflows. Implement these traits
//! by hand, with a bound on how far cells are followed.
