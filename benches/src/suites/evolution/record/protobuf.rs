//! Case `record` with Protocol Buffers.

use crate::suites::serialization::subjects::Protobuf;
use crate::suites::serialization::walk::walk_fields;

/// Defines the type of a version.
macro_rules! records {
    ($($record:ident $($weight:ident)?;)*) => {$(
        #[derive(Clone, PartialEq, prost::Message)]
        pub(in super::super) struct $record {
            #[prost(uint64, tag = "1")]
            id: u64,
            #[prost(enumeration = "Kind", tag = "2")]
            kind: i32,
            #[prost(uint32, tag = "3")]
            flags: u32,
            #[prost(uint32, tag = "4")]
            priority: u32,
            #[prost(double, tag = "5")]
            price: f64,
            #[prost(uint32, tag = "6")]
            quantity: u32,
            #[prost(float, tag = "7")]
            discount: f32,
            #[prost(float, tag = "8")]
            tax: f32,
            #[prost(uint64, tag = "9")]
            created: u64,
            #[prost(uint64, tag = "10")]
            updated: u64,
            #[prost(bool, tag = "11")]
            active: bool,
            #[prost(bool, tag = "12")]
            archived: bool,
            #[prost(string, tag = "13")]
            name: String,
            #[prost(string, tag = "14")]
            street: String,
            #[prost(string, tag = "15")]
            city: String,
            #[prost(string, tag = "16")]
            country: String,
            #[prost(string, tag = "17")]
            email: String,
            #[prost(string, optional, tag = "18")]
            note: Option<String>,
            #[prost(uint32, repeated, tag = "19")]
            tags: Vec<u32>,
            $(#[prost(sint32, tag = "20")]
            $weight: i32,)?
        }

        walk_fields!($record
            => id kind flags priority price quantity discount tax created updated active archived
            name street city country email note tags $($weight)?);
    )*};
}

records! {
    Record weight;
    RecordShort;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
enum Kind {
    Quote = 0,
    Order = 1,
    Trade = 2,
    Cancel = 3,
}

impl Protobuf for super::Record {
    type Message = Record;
    type Short = RecordShort;

    fn message(&self) -> Record {
        Record {
            id: self.id,
            kind: self.kind as i32,
            flags: self.flags,
            priority: u32::from(self.priority),
            price: self.price,
            quantity: self.quantity,
            discount: self.discount,
            tax: self.tax,
            created: self.created,
            updated: self.updated,
            active: self.active,
            archived: self.archived,
            name: self.name.clone(),
            street: self.street.clone(),
            city: self.city.clone(),
            country: self.country.clone(),
            email: self.email.clone(),
            note: self.note.clone(),
            tags: self.tags.clone(),
            weight: self.weight,
        }
    }
}
