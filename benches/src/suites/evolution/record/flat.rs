//! Case `record` with FlatBuffers.

use flatbuffers::{FlatBufferBuilder, WIPOffset};

use crate::suites::serialization::generated::versions_flat::versions as flat;
use crate::suites::serialization::subjects::{Flat, Short, walk_accessors};
use crate::suites::serialization::walk::Walk;

impl Flat for super::Record {
    type Root<'a> = flat::Record<'a>;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Record<'b>> {
        let args = flat::RecordArgs {
            id: self.id,
            kind: flat::Kind(self.kind as u8),
            flags: self.flags,
            priority: self.priority,
            price: self.price,
            quantity: self.quantity,
            discount: self.discount,
            tax: self.tax,
            created: self.created,
            updated: self.updated,
            active: self.active,
            archived: self.archived,
            name: Some(into.create_string(&self.name)),
            street: Some(into.create_string(&self.street)),
            city: Some(into.create_string(&self.city)),
            country: Some(into.create_string(&self.country)),
            email: Some(into.create_string(&self.email)),
            note: self.note.as_ref().map(|note| into.create_string(note)),
            tags: Some(into.create_vector(&self.tags)),
            weight: self.weight,
        };
        flat::Record::create(into, &args)
    }
}

walk_accessors!(flat::Record<'_>
    => id kind flags priority price quantity discount tax created updated active archived name
    street city country email note tags weight);
walk_accessors!(Short<flat::Record<'_>>
    => id kind flags priority price quantity discount tax created updated active archived name
    street city country email note tags);

impl Walk for flat::Kind {
    #[inline(always)]
    fn walk(&self) -> u64 {
        self.0.walk()
    }
}
