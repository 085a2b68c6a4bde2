//! Case `mk48` with FlatBuffers.

use flatbuffers::{FlatBufferBuilder, WIPOffset};

use crate::suites::serialization::generated::mk48_flat::mk_48 as flat;
use crate::suites::serialization::subjects::{Flat, Short, walk_accessors};
use crate::suites::serialization::walk::Walk;

impl Flat for super::Updates {
    type Root<'a> = flat::Updates<'a>;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Updates<'b>> {
        let updates: Vec<_> = self
            .updates
            .iter()
            .map(|update| update.build(into))
            .collect();
        let updates = Some(into.create_vector(&updates));
        flat::Updates::create(into, &flat::UpdatesArgs { updates })
    }
}

impl super::Update {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Update<'b>> {
        let contacts: Vec<_> = self.contacts.iter().map(|part| part.build(into)).collect();
        let terrain: Vec<_> = self
            .terrain_updates
            .iter()
            .map(|part| part.build(into))
            .collect();
        let args = flat::UpdateArgs {
            contacts: Some(into.create_vector(&contacts)),
            score: self.score,
            world_radius: self.world_radius,
            terrain_updates: Some(into.create_vector(&terrain)),
        };
        flat::Update::create(into, &args)
    }
}

impl super::Contact {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Contact<'b>> {
        let (guidance, transform) = (&self.guidance, &self.transform);
        let (x, y) = transform.position;
        let args = flat::ContactArgs {
            damage: self.damage,
            entity_id: self.entity_id,
            entity_type: self.entity_type.map(|it| flat::EntityType(it as u8)),
            guidance: Some(&flat::Guidance::new(
                guidance.angle,
                guidance.submerge,
                guidance.velocity,
            )),
            player_id: self.player_id,
            reloads: Some(into.create_vector(&self.reloads)),
            transform: Some(&flat::Transform::new(
                transform.altitude,
                transform.angle,
                x,
                y,
                transform.velocity,
            )),
            turret_angles: Some(into.create_vector(&self.turret_angles)),
        };
        flat::Contact::create(into, &args)
    }
}

impl super::TerrainUpdate {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::TerrainUpdate<'b>> {
        let (x, y) = self.chunk_id;
        let args = flat::TerrainUpdateArgs {
            chunk_id: Some(&flat::ChunkId::new(x, y)),
            data: Some(into.create_vector(&self.data)),
        };
        flat::TerrainUpdate::create(into, &args)
    }
}

walk_accessors!(flat::Updates<'_> => updates);
walk_accessors!(flat::Update<'_> => contacts score world_radius terrain_updates);
walk_accessors!(flat::Contact<'_>
    => damage entity_id entity_type guidance player_id reloads transform turret_angles);
walk_accessors!(flat::Guidance => angle submerge velocity);
walk_accessors!(flat::Transform => altitude angle x y velocity);
walk_accessors!(flat::TerrainUpdate<'_> => chunk_id data);
walk_accessors!(flat::ChunkId => x y);

impl Walk for flat::EntityType {
    #[inline(always)]
    fn walk(&self) -> u64 {
        self.0.walk()
    }
}

walk_accessors!(Short<flat::Contact<'_>>
    => entity_id entity_type guidance player_id reloads transform turret_angles);

impl Walk for Short<flat::Updates<'_>> {
    #[inline(always)]
    fn walk(&self) -> u64 {
        let updates = self.updates().iter();
        updates.fold(0, |sum, update| sum.wrapping_add(Short(update).walk()))
    }
}

impl Walk for Short<flat::Update<'_>> {
    #[inline(always)]
    fn walk(&self) -> u64 {
        let contacts = self.contacts().iter();
        let contacts = contacts.fold(0, |sum: u64, part| sum.wrapping_add(Short(part).walk()));
        contacts
            .wrapping_add(self.score().walk())
            .wrapping_add(self.world_radius().walk())
            .wrapping_add(self.terrain_updates().walk())
    }
}
