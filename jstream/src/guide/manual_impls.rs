//! Types of other crates, and types that the derive does not support.
//!
//! # Adapters
//!
//! A field whose type belongs to another crate, or has private fields, can be sent as another
//! value. An [`Adapter`](crate::Adapter) converts between the two. If the field's type is plain
//! data, the field is received as its own type, and its wire value must fit into the field's
//! memory. For any other type, `form` names the type that the field is received as.
//!
//! ```
//! use jstream::{Adapter, EmptyBuffer, Reader, Transportable, Writer};
//!
//! // These two types belong to another crate.
//! #[derive(Debug, PartialEq, Clone, Copy)]
//! struct Percent(u8);
//! #[derive(Debug, PartialEq, Clone)]
//! struct Address { user: String, host: String }
//!
//! struct AsByte;
//!
//! impl Adapter<Percent> for AsByte {
//!     type Wire = u8;
//!     type Error = String;
//!
//!     fn to_wire(percent: &Percent) -> u8 {
//!         percent.0
//!     }
//!
//!     fn from_wire(byte: &u8) -> Result<Percent, String> {
//!         if *byte <= 100 { Ok(Percent(*byte)) } else { Err(format!("{byte} % is more than all")) }
//!     }
//! }
//!
//! struct AsText;
//!
//! impl Adapter<Address> for AsText {
//!     type Wire = String;
//!     type Error = &'static str;
//!
//!     fn to_wire(address: &Address) -> String {
//!         format!("{}@{}", address.user, address.host)
//!     }
//!
//!     fn from_wire(text: &&str) -> Result<Address, &'static str> {
//!         let (user, host) = text.split_once('@').ok_or("an address has an @")?;
//!         Ok(Address { user: user.to_owned(), host: host.to_owned() })
//!     }
//! }
//!
//! #[derive(Transportable)]
//! struct Account {
//!     #[transportable(with = AsByte)]
//!     full: Percent,
//!     #[transportable(with = AsText, form = &'b str)]
//!     address: Address,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = Address { user: "ada".to_owned(), host: "example.org".to_owned() };
//! let account = Account { full: Percent(80), address: address.clone() };
//! let received = Reader::default().read::<Account>(Writer::new().write(&account, EmptyBuffer::heap(256))?)?;
//! let form: &AccountRef<'_> = received.get();
//! assert_eq!(form.full, Percent(80), "made while the message was read");
//! assert_eq!(form.address, "ada@example.org", "as it was sent");
//! assert_eq!(form.to_owned()?.address, address, "made now");
//! # Ok(())
//! # }
//! ```
//!
//! If a field is received as its own type, `from_wire` runs while the message is read, on a copy of
//! the wire value. If it returns an error, the message is refused with that error. For other
//! fields, `from_wire` runs in `to_owned`.
//!
//! # Without an adapter
//!
//! [`Transportable`](crate::Transportable) and the traits behind it are `unsafe` and may change in
//! each release, so use the derive to implement them. If a type of your own has private fields, it
//! is usually enough to derive for a plain type that holds the data to send, and to convert to and
//! from it.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! /// A matrix with an invariant: all rows have the same length.
//! pub struct Matrix {
//!     columns: usize,
//!     values: Vec<f64>,
//! }
//!
//! /// The part of a matrix that is sent.
//! #[derive(Transportable, Clone, Copy)]
//! #[transportable(verify = MatrixView::check)]
//! pub struct MatrixView<'b> {
//!     columns: usize,
//!     values: &'b [f64],
//! }
//!
//! impl Matrix {
//!     pub fn view(&self) -> MatrixView<'_> {
//!         MatrixView { columns: self.columns, values: &self.values }
//!     }
//! }
//!
//! impl<'b> MatrixView<'b> {
//!     fn check(&self) -> Result<(), &'static str> {
//!         match self.values.len().checked_rem(self.columns) {
//!             Some(0) => Ok(()),
//!             _ => Err("the last row is not whole"),
//!         }
//!     }
//!
//!     pub fn row(&self, i: usize) -> Option<&'b [f64]> {
//!         self.values.chunks_exact(self.columns).nth(i)
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let matrix = Matrix { columns: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
//! let message = Writer::new().write(&matrix.view(), EmptyBuffer::heap(256))?;
//! let received = Reader::default().read::<MatrixView>(message)?;
//! assert_eq!(received.get().row(1), Some(&[3.0, 4.0][..]));
//!
//! let broken = MatrixView { columns: 3, values: &matrix.values };
//! let message = Writer::new().write(&broken, EmptyBuffer::heap(256))?;
//! assert!(Reader::default().read::<MatrixView>(message).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # Macros
//!
//! If a crate re-exports `jstream` under another path, name that path with
//! `#[transportable(crate = unsafe(my::jstream))]`. The generated code is sound only if the path
//! leads to this crate, which the word `unsafe` promises. Without the option it trusts the name
//! `::jstream`, and no other name that the program can define, not even `core` or `std`.
