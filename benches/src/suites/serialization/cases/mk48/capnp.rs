//! Case `mk48` with Cap'n Proto.

use crate::suites::serialization::generated::mk48_capnp::{
    EntityType, contact, terrain_update, update, updates,
};
use crate::suites::serialization::subjects::{Segmented, Short, Sum, sum_getters};

impl Segmented for super::Updates {
    type Root = updates::Owned;

    fn fill(&self, root: updates::Builder<'_>) {
        let mut updates = root.init_updates(self.updates.len() as u32);
        for (i, update) in (0..).zip(&self.updates) {
            update.fill(updates.reborrow().get(i));
        }
    }

    fn sum(root: updates::Reader<'_>) -> capnp::Result<u64> {
        root.sum()
    }
}

impl super::Update {
    fn fill(&self, mut into: update::Builder<'_>) {
        into.set_score(self.score);
        into.set_world_radius(self.world_radius);
        let len = self.contacts.len() as u32;
        let mut contacts = into.reborrow().init_contacts(len);
        for (i, contact) in (0..).zip(&self.contacts) {
            contact.fill(contacts.reborrow().get(i));
        }
        let len = self.terrain_updates.len() as u32;
        let mut terrain = into.init_terrain_updates(len);
        for (i, update) in (0..).zip(&self.terrain_updates) {
            update.fill(terrain.reborrow().get(i));
        }
    }
}

impl super::Contact {
    fn fill(&self, mut into: contact::Builder<'_>) {
        into.set_damage(self.damage);
        into.set_entity_id(self.entity_id);
        let mut entity_type = into.reborrow().init_entity_type();
        match self.entity_type {
            Some(known) => entity_type.set_some(known.into()),
            None => entity_type.set_none(()),
        }
        let mut guidance = into.reborrow().init_guidance();
        guidance.set_angle(self.guidance.angle);
        guidance.set_submerge(self.guidance.submerge);
        guidance.set_velocity(self.guidance.velocity);
        let mut player_id = into.reborrow().init_player_id();
        match self.player_id {
            Some(known) => player_id.set_some(known),
            None => player_id.set_none(()),
        }
        let mut reloads = into.reborrow().init_reloads(self.reloads.len() as u32);
        for (i, ready) in (0..).zip(&self.reloads) {
            reloads.set(i, *ready);
        }
        let mut transform = into.reborrow().init_transform();
        transform.set_altitude(self.transform.altitude);
        transform.set_angle(self.transform.angle);
        transform.set_x(self.transform.position.0);
        transform.set_y(self.transform.position.1);
        transform.set_velocity(self.transform.velocity);
        let mut angles = into.init_turret_angles(self.turret_angles.len() as u32);
        for (i, angle) in (0..).zip(&self.turret_angles) {
            angles.set(i, *angle);
        }
    }
}

impl super::TerrainUpdate {
    fn fill(&self, mut into: terrain_update::Builder<'_>) {
        into.set_x(self.chunk_id.0);
        into.set_y(self.chunk_id.1);
        into.set_data(&self.data);
    }
}

impl From<super::EntityType> for EntityType {
    fn from(known: super::EntityType) -> Self {
        match known {
            super::ArleighBurke => Self::ArleighBurke,
            super::Bismarck => Self::Bismarck,
            super::Clemenceau => Self::Clemenceau,
            super::Fletcher => Self::Fletcher,
            super::G5 => Self::G5,
            super::Iowa => Self::Iowa,
            super::Kolkata => Self::Kolkata,
            super::Osa => Self::Osa,
            super::Yasen => Self::Yasen,
            super::Zubr => Self::Zubr,
        }
    }
}

sum_getters!(updates::Reader<'_> => ; get_updates);
sum_getters!(update::Reader<'_> => get_score get_world_radius; get_contacts get_terrain_updates);
sum_getters!(contact::Reader<'_>
    => get_damage get_entity_id get_entity_type get_guidance get_player_id get_transform;
    get_reloads get_turret_angles);
sum_getters!(contact::guidance::Reader<'_> => get_angle get_submerge get_velocity);
sum_getters!(contact::transform::Reader<'_> => get_altitude get_angle get_x get_y get_velocity);
sum_getters!(terrain_update::Reader<'_> => get_x get_y; get_data);

impl Sum for contact::entity_type::Reader<'_> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        Ok(match self.which()? {
            contact::entity_type::None(()) => 0,
            contact::entity_type::Some(known) => known? as u64 + 1,
        })
    }
}

impl Sum for contact::player_id::Reader<'_> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        Ok(match self.which()? {
            contact::player_id::None(()) => 0,
            contact::player_id::Some(known) => u64::from(known) + 1,
        })
    }
}

sum_getters!(Short<contact::Reader<'_>>
    => get_entity_id get_entity_type get_guidance get_player_id get_transform;
    get_reloads get_turret_angles);

impl Sum for Short<updates::Reader<'_>> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        let updates = self.get_updates()?;
        updates.iter().try_fold(0, |sum: u64, update| {
            Ok(sum.wrapping_add(Short(update).sum()?))
        })
    }
}

impl Sum for Short<update::Reader<'_>> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        let contacts = self.get_contacts()?;
        let contacts = contacts.iter().try_fold(0, |sum: u64, part| {
            capnp::Result::Ok(sum.wrapping_add(Short(part).sum()?))
        })?;
        Ok(contacts
            .wrapping_add(self.get_score().sum()?)
            .wrapping_add(self.get_world_radius().sum()?)
            .wrapping_add(self.get_terrain_updates()?.sum()?))
    }
}
