//! Shared objects and circles.
//!
//! A plain reference, or a `Box`, is the only way to its target as far as a message is concerned:
//! an object that two of them lead to is sent twice. `Rc` and `Arc` keep their identity, and arrive
//! as [`Shared`](crate::Shared): a reference that can be asked whether another one leads to the
//! same object.
//!
//! ```
//! use std::rc::Rc;
//!
//! use jstream::{Reader, Spent, Transportable, Writer};
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
//! let message = Writer::new().write(&team, Spent::heap(1024))?;
//! let received = Reader::default().read::<Team>(message)?;
//! let form: &TeamRef<'_> = received.get();
//! assert!(form.lead.ptr_eq(form.members[0]));
//! assert!(!form.lead.ptr_eq(form.members[1]));
//! assert_eq!(form.lead.name, "Ada");
//!
//! // Made an owner again, it has the same sharing.
//! let again = form.to_owned()?;
//! assert!(Rc::ptr_eq(&again.lead, &again.members[0]));
//! # Ok(())
//! # }
//! ```
//!
//! Plain references keep their identity in a field that says so. It is still a plain reference to
//! those who use it.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
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
//! let message = Writer::new().write(&edges, Spent::heap(1024))?;
//! let received = Reader::default().read::<[Edge; 2]>(message)?;
//! let edges = received.get();
//! assert!(std::ptr::eq(edges[0].from, edges[1].to));
//! # Ok(())
//! # }
//! ```
//!
//! # Circles
//!
//! An object can lead back to itself only through something that changes after it was made: a
//! `Cell<Option<&'b T>>`. Such a field keeps identity by itself. A message in which an object
//! reaches itself without a cell is refused; no program could have built it, and every function
//! that walks the objects would go on for ever.
//!
//! ```
//! use std::cell::Cell;
//!
//! use jstream::{Reader, Spent, Transportable, Writer};
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
//! let message = Writer::new().write(&a, Spent::heap(1024))?;
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
//! A type with such a cell is not covariant: [`Received::get`](crate::Received::get) and
//! [`with_mut`](crate::Received::with_mut) are not there for it, but
//! [`with`](crate::Received::with) is, which visits it with a lifetime that nothing else can name.
//! A type that refers to one says `#[transportable(invariant)]`. It can't stand behind a trait
//! object.
//!
//! Don't derive `Debug`, `PartialEq` or `Hash` for a type with cells: what is derived follows them,
//! and goes round a circle until the stack is full. Print and compare what the cells lead to by
//! hand, or not at all.
