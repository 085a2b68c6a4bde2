//! Case `record`: one record of 20 fields.

use crate::suites::serialization::cases::versions::{Extended, Versions, Widened, version_types};
#[cfg(feature = "peers")]
use crate::suites::serialization::subjects::registered;
use crate::suites::serialization::walk::{walk_fields, walk_number};

version_types! {
    #[derive(serde::Deserialize)]
    pub(super) struct Record {
        id: u64,
        kind: Kind,
        flags: u32,
        priority: u8,
        price: f64,
        quantity: u32,
        discount: f32,
        tax: f32,
        created: u64,
        updated: u64,
        active: bool,
        archived: bool,
        name: String,
        street: String,
        city: String,
        country: String,
        #[transportable(renamed_from = "mail")]
        #[cfg_attr(feature = "peers", fory(id = 1))]
        email: String,
        note: Option<String>,
        tags: Vec<u32>,
        #[serde(default)]
        #[transportable(default)]
        weight: i32,
    }
}

/// Defines the enum in a version.
macro_rules! kinds {
    ($($kind:ident { $($variant:ident)+ })+) => {$(
        #[derive(
            jstream::Transportable, serde::Serialize, serde::Deserialize, Clone, Copy, Default,
        )]
        #[cfg_attr(feature = "peers", derive(fory::ForyEnum))]
        #[repr(u8)]
        enum $kind {
            #[default]
            $($variant,)+
        }
    )+};
}

kinds! {
    Kind { Quote Order Trade Cancel }
    KindFewer { Quote Order Trade }
}

impl From<Kind> for KindFewer {
    fn from(of: Kind) -> Self {
        match of {
            Kind::Quote => Self::Quote,
            Kind::Order => Self::Order,
            Kind::Trade | Kind::Cancel => Self::Trade,
        }
    }
}

/// Defines versions by the names of their types, the fields that not all have, and the types that
/// differ.
macro_rules! records {
    ($($record:ident { $kind:ty, $flags:ty, $email:ident $($weight:ident)? })*) => {$(
        version_types! {
            pub(super) struct $record {
                id: u64,
                kind: $kind,
                flags: $flags,
                priority: u8,
                price: f64,
                quantity: u32,
                discount: f32,
                tax: f32,
                created: u64,
                updated: u64,
                active: bool,
                archived: bool,
                name: String,
                street: String,
                city: String,
                country: String,
                #[cfg_attr(feature = "peers", fory(id = 1))]
                $email: String,
                note: Option<String>,
                tags: Vec<u32>,
                $($weight: i32,)?
            }
        }

        #[cfg(feature = "peers")]
        registered!($record: $kind;);

        impl From<Record> for $record {
            fn from(of: Record) -> Self {
                Self {
                    id: of.id,
                    kind: of.kind.into(),
                    flags: of.flags as $flags,
                    priority: of.priority,
                    price: of.price,
                    quantity: of.quantity,
                    discount: of.discount,
                    tax: of.tax,
                    created: of.created,
                    updated: of.updated,
                    active: of.active,
                    archived: of.archived,
                    name: of.name,
                    street: of.street,
                    city: of.city,
                    country: of.country,
                    $email: of.email,
                    note: of.note,
                    tags: of.tags,
                    $($weight: of.weight,)?
                }
            }
        }
    )*};
}

records! {
    RecordWithout { Kind, u32, email }
    RecordNarrow { Kind, u16, email weight }
    RecordRenamed { Kind, u32, mail weight }
    RecordFewer { KindFewer, u32, email weight }
}

#[cfg(feature = "peers")]
registered!(Record: Kind;);

walk_number!(Kind);
walk_fields!(Record, RecordRef<'_>
    => id kind flags priority price quantity discount tax created updated active archived name
    street city country email note tags weight);
walk_fields!(RecordWithout, RecordWithoutRef<'_>
    => id kind flags priority price quantity discount tax created updated active archived name
    street city country email note tags);

impl Versions for Record {
    type Without = RecordWithout;
    type Renamed = RecordRenamed;

    const ABOUT: &'static str = "tags of a record of 20 fields, 6 of which are text";
    const FIELD: &'static str = "i32";

    fn draw(size: usize) -> Self {
        let tags = (0u32..).take(size).map(|n| n.wrapping_mul(2_654_435_761));
        Self {
            id: 7_340_112,
            kind: Kind::Cancel,
            flags: 0x0501,
            priority: 3,
            price: 1_043.25,
            quantity: 12,
            discount: 0.05,
            tax: 0.19,
            created: 1_748_736_000,
            updated: 1_751_328_000,
            active: true,
            archived: false,
            name: "Ada Lovelace".to_owned(),
            street: "12 St James's Square".to_owned(),
            city: "London".to_owned(),
            country: "United Kingdom".to_owned(),
            email: "ada@example.org".to_owned(),
            note: Some("deliver to the neighbours".to_owned()),
            tags: tags.collect(),
            weight: -250,
        }
    }

    fn reset(&mut self) {
        self.weight = 0;
    }
}

impl Widened for Record {
    type Narrow = RecordNarrow;

    fn narrow(&mut self) {
        self.flags = u32::from(self.flags as u16);
    }
}

impl Extended for Record {
    type Fewer = RecordFewer;

    fn replace(&mut self) {
        self.kind = Kind::Trade;
    }
}

#[cfg(feature = "peers")]
mod capnp;
#[cfg(feature = "peers")]
mod flat;
#[cfg(feature = "peers")]
mod protobuf;
