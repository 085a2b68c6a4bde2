//! Types of others, and types that no derive can do.
//!
//! # An adapter
//!
//! A type of another crate, or one whose fields are not to be seen, travels as another value: an
//! [`Adapter`](crate::Adapter) makes the one of the other. A field that is plain data arrives as
//! what it was; its wire value must fit into its memory. Any other names the form in which it
//! arrives.
//!
//! ```
//! use jstream::{Adapter, Reader, Spent, Transportable, Writer};
//!
//! // These two are of another crate.
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
//! let received = Reader::default().read::<Account>(Writer::new().write(&account, Spent::heap(256))?)?;
//! let form: &AccountRef<'_> = received.get();
//! assert_eq!(form.full, Percent(80), "made while the message was read");
//! assert_eq!(form.address, "ada@example.org", "as it was sent");
//! assert_eq!(form.to_owned()?.address, address, "made now");
//! # Ok(())
//! # }
//! ```
//!
//! Of a field that arrives as what it was, `from_wire` runs while the message is read, on a copy of
//! the wire value, and refuses the message with its error. Of the other kind it runs in `to_owned`.
//!
//! # By hand
//!
//! [`Transportable`](crate::Transportable) and the traits behind it are `unsafe`, and may change
//! with each release; the derive is the way to implement them. What a type of your own with private
//! fields needs is mostly less: derive for a plain type that has what is to be sent, and convert.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! /// A matrix that keeps an invariant: its rows have one length.
//! pub struct Matrix {
//!     columns: usize,
//!     values: Vec<f64>,
//! }
//!
//! /// What is sent of it.
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
//! let message = Writer::new().write(&matrix.view(), Spent::heap(256))?;
//! let received = Reader::default().read::<MatrixView>(message)?;
//! assert_eq!(received.get().row(1), Some(&[3.0, 4.0][..]));
//!
//! let broken = MatrixView { columns: 3, values: &matrix.values };
//! let message = Writer::new().write(&broken, Spent::heap(256))?;
//! assert!(Reader::default().read::<MatrixView>(message).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! # Macros
//!
//! A crate that re-exports `jstream` under another path names it:
//! `#[transportable(crate = my::jstream)]`. What the derive generates trusts that path, and nothing
//! else that is spelled.
