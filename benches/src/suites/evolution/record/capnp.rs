//! Case `record` with Cap'n Proto.

use crate::suites::serialization::generated::versions_capnp::{Kind, record};
use crate::suites::serialization::subjects::{Segmented, Short, Sum, sum_getters};

impl Segmented for super::Record {
    type Root = record::Owned;

    fn fill(&self, mut root: record::Builder<'_>) {
        root.set_id(self.id);
        root.set_kind(match self.kind {
            super::Kind::Quote => Kind::Quote,
            super::Kind::Order => Kind::Order,
            super::Kind::Trade => Kind::Trade,
            super::Kind::Cancel => Kind::Cancel,
        });
        root.set_flags(self.flags);
        root.set_priority(self.priority);
        root.set_price(self.price);
        root.set_quantity(self.quantity);
        root.set_discount(self.discount);
        root.set_tax(self.tax);
        root.set_created(self.created);
        root.set_updated(self.updated);
        root.set_active(self.active);
        root.set_archived(self.archived);
        root.set_name(&self.name);
        root.set_street(&self.street);
        root.set_city(&self.city);
        root.set_country(&self.country);
        root.set_email(&self.email);
        if let Some(note) = &self.note {
            root.set_note(note);
        }
        root.set_weight(self.weight);
        let mut tags = root.init_tags(self.tags.len() as u32);
        for (i, tag) in (0..).zip(&self.tags) {
            tags.set(i, *tag);
        }
    }

    fn sum(root: record::Reader<'_>) -> capnp::Result<u64> {
        root.sum()
    }
}

sum_getters!(record::Reader<'_>
    => get_id get_flags get_priority get_price get_quantity get_discount get_tax get_created
    get_updated get_active get_archived get_weight;
    get_kind get_name get_street get_city get_country get_email get_tags;
    has_note get_note);
sum_getters!(Short<record::Reader<'_>>
    => get_id get_flags get_priority get_price get_quantity get_discount get_tax get_created
    get_updated get_active get_archived;
    get_kind get_name get_street get_city get_country get_email get_tags;
    has_note get_note);

impl Sum for Kind {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        Ok(self as u64)
    }
}
