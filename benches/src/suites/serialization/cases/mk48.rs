//! Case `mk48`: updates of ships and terrain that a game server sends to its clients.

use rand::Rng;
use rand::distributions::WeightedIndex;

use super::draw::{Draw, Random, exactly, random, several};
use super::{Case, forever, values};
use crate::Failure;
use crate::suites::serialization::walk::{walk_fields, walk_number};
use crate::table::number;

values! {
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    pub(in crate::suites) struct Updates {
        updates: Vec<Update>,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Update {
        contacts: Vec<Contact>,
        score: u32,
        world_radius: f32,
        terrain_updates: Vec<TerrainUpdate>,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Contact {
        #[transportable(default)]
        damage: u8,
        entity_id: u32,
        entity_type: Option<EntityType>,
        guidance: Guidance,
        player_id: Option<u16>,
        reloads: Vec<bool>,
        #[transportable(renamed_from = "pose")]
        #[cfg_attr(feature = "peers", fory(id = 1))]
        transform: Transform,
        turret_angles: Vec<u16>,
    }

    #[derive(Clone, Copy, Default)]
    #[rkyv(derive(Clone, Copy))]
    #[repr(u8)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(deep_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyEnum))]
    enum EntityType {
        #[default]
        ArleighBurke,
        Bismarck,
        Clemenceau,
        Fletcher,
        G5,
        Iowa,
        Kolkata,
        Osa,
        Yasen,
        Zubr,
    }

    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(deep_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Guidance {
        angle: u16,
        submerge: bool,
        velocity: i16,
    }

    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(deep_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Transform {
        altitude: i8,
        angle: u16,
        position: (f32, f32),
        velocity: i16,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct TerrainUpdate {
        chunk_id: (i8, i8),
        data: Vec<u8>,
    }
}

walk_fields!(Updates, UpdatesRef<'_>, ArchivedUpdates => updates);
walk_fields!(Update, UpdateRef<'_>, ArchivedUpdate
    => contacts score world_radius terrain_updates);
walk_fields!(Contact, ContactRef<'_>, ArchivedContact
    => damage entity_id entity_type guidance player_id reloads transform turret_angles);
walk_number!(EntityType, ArchivedEntityType);
walk_fields!(Guidance, ArchivedGuidance => angle submerge velocity);
walk_fields!(Transform, ArchivedTransform => altitude angle position velocity);
walk_fields!(TerrainUpdate, TerrainUpdateRef<'_>, ArchivedTerrainUpdate => chunk_id data);

use EntityType::{
    ArleighBurke, Bismarck, Clemenceau, Fletcher, G5, Iowa, Kolkata, Osa, Yasen, Zubr,
};

/// Ships with their frequency and their numbers of turrets and weapons.
const SHIPS: [(EntityType, f32, usize, usize); 10] = [
    (ArleighBurke, 2.14, 1, 20),
    (Bismarck, 0.52, 4, 10),
    (Clemenceau, 0.97, 4, 16),
    (Fletcher, 1.46, 4, 18),
    (G5, 13.16, 0, 2),
    (Iowa, 1.55, 3, 28),
    (Kolkata, 0.83, 1, 15),
    (Osa, 7.25, 2, 6),
    (Yasen, 4.06, 0, 14),
    (Zubr, 12.92, 3, 11),
];

/// A ship that was drawn.
#[derive(Clone, Copy)]
struct Ship {
    entity_type: EntityType,
    turrets: usize,
    weapons: usize,
}

impl Draw for Ship {
    fn draw(random: &mut Random) -> Self {
        let index = WeightedIndex::new(SHIPS.map(|ship| ship.1)).map(|by| random.sample(by));
        let ship = index.ok().and_then(|i| SHIPS.get(i));
        let Some(&(entity_type, _, turrets, weapons)) = ship else {
            unreachable!("frequencies are positive, and drawn below the length")
        };
        Self {
            entity_type,
            turrets,
            weapons,
        }
    }
}

fn submerge(random: &mut Random, ship: Ship) -> bool {
    matches!(ship.entity_type, Yasen) && random.gen_bool(0.9)
}

fn velocity(random: &mut Random) -> i16 {
    match random.gen_range(0..100) {
        0..=79 => random.gen_range(140..900),
        80..=89 => 0,
        _ => random.gen_range(-225..-35),
    }
}

impl Guidance {
    fn draw(random: &mut Random, ship: Ship) -> Self {
        Self {
            angle: Draw::draw(random),
            submerge: submerge(random, ship),
            velocity: velocity(random),
        }
    }
}

impl Transform {
    fn draw(random: &mut Random, ship: Ship) -> Self {
        let altitude = if submerge(random, ship) {
            random.gen_range(-120..-35)
        } else {
            0
        };
        Self {
            altitude,
            angle: Draw::draw(random),
            position: (
                random.gen_range(-750.0..750.0),
                random.gen_range(-750.0..750.0),
            ),
            velocity: velocity(random),
        }
    }
}

fn reloads(random: &mut Random, ship: Ship) -> Vec<bool> {
    let ready = random.gen_range(0.0..1.0);
    (0..ship.weapons).map(|_| random.gen_bool(ready)).collect()
}

fn turret_angles(random: &mut Random, ship: Ship) -> Vec<u16> {
    let base = u16::draw(random);
    let mut angle = |_| {
        if random.gen_bool(0.75) {
            base.wrapping_add_signed(random.gen_range(-200..200))
        } else {
            Draw::draw(random)
        }
    };
    (0..ship.turrets).map(&mut angle).collect()
}

impl Contact {
    fn draw(random: &mut Random, players: u16) -> Self {
        let ship = Ship::draw(random);
        let visible = random.gen_bool(0.7);
        Self {
            damage: if visible && random.gen_bool(0.6) {
                0
            } else {
                random.gen_range(0..200)
            },
            entity_id: random.gen_range(0..u32::from(players) * 20),
            entity_type: visible.then_some(ship.entity_type),
            guidance: Guidance::draw(random, ship),
            player_id: visible.then(|| random.gen_range(0..players)),
            reloads: if visible {
                reloads(random, ship)
            } else {
                Vec::new()
            },
            transform: Transform::draw(random, ship),
            turret_angles: if visible {
                turret_angles(random, ship)
            } else {
                Vec::new()
            },
        }
    }
}

impl TerrainUpdate {
    fn draw(random: &mut Random, radius: i8) -> Self {
        let new = random.gen_bool(0.02);
        Self {
            chunk_id: (
                random.gen_range(-radius..radius),
                random.gen_range(-radius..radius),
            ),
            data: several(random, if new { 900..1100 } else { 3..9 }),
        }
    }
}

impl Draw for Update {
    fn draw(random: &mut Random) -> Self {
        let players: i32 = random.gen_range(200..400);
        let players = players as u16;
        let world_radius =
            (f32::from(players) * 15_000.0).sqrt() + random.gen_range(-50.0f32..50.0);
        let terrain_radius = (world_radius / 1_600.0).ceil() as i8;
        let contacts: i32 = random.gen_range(20..40);
        Self {
            contacts: (0..contacts)
                .map(|_| Contact::draw(random, players))
                .collect(),
            score: (f32::draw(random).powi(4) * 5_000.0) as u32 + random.gen_range(0..50u32),
            world_radius,
            terrain_updates: {
                let count: i32 = random.gen_range(3..10);
                (0..count)
                    .map(|_| TerrainUpdate::draw(random, terrain_radius))
                    .collect()
            },
        }
    }
}

fn value(size: usize) -> Updates {
    Updates {
        updates: exactly(&mut random(), size),
    }
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let value = forever(value(size));
    let about = format!(
        "{} updates of a game: 20 to 39 contacts with optional parts, up to 28 bools and 4 x u16 \
         each, and terrain",
        number(size as f64)
    );
    let case = Case::new(about, value)?.and_restored(value)?;
    #[cfg(feature = "peers")]
    let case = case
        .and_peers(value)?
        .and_schemas(value)?
        .and_twin::<_, twin::Owned>(value)?;
    Ok(case)
}

#[cfg(feature = "peers")]
mod capnp;
#[cfg(feature = "peers")]
mod flat;
#[cfg(feature = "peers")]
mod protobuf;
#[cfg(feature = "peers")]
mod twin;
mod versions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_data_set_that_others_measure() {
        let updates = value(1_000).updates;
        assert_eq!(updates.len(), 1_000);
        let contacts: Vec<_> = updates.iter().flat_map(|update| &update.contacts).collect();
        assert_eq!(contacts.len(), 29_655);
        let terrain: usize = updates.iter().map(|u| u.terrain_updates.len()).sum();
        // The list of updates, two lists per update, two per contact, and one per piece of terrain.
        let vectors = 1 + 2 * updates.len() + 2 * contacts.len() + terrain;
        assert_eq!(vectors, 67_375);
        let bools: usize = contacts.iter().map(|contact| contact.reloads.len()).sum();
        assert_eq!(bools, 193_984);
    }
}
