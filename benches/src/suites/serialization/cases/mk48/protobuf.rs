//! Case `mk48` with Protocol Buffers.

use super::walk_fields;
use crate::suites::serialization::subjects::Protobuf;

/// Defines the types of a version.
macro_rules! updates {
    ($($updates:ident $update:ident $contact:ident $($damage:ident)?;)*) => {$(
        #[derive(Clone, PartialEq, prost::Message)]
        pub(in crate::suites) struct $updates {
            #[prost(message, repeated, tag = "1")]
            updates: Vec<$update>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        struct $update {
            #[prost(message, repeated, tag = "1")]
            contacts: Vec<$contact>,
            #[prost(uint32, tag = "2")]
            score: u32,
            #[prost(float, tag = "3")]
            world_radius: f32,
            #[prost(message, repeated, tag = "4")]
            terrain_updates: Vec<TerrainUpdate>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        struct $contact {
            $(#[prost(uint32, tag = "1")]
            $damage: u32,)?
            #[prost(uint32, tag = "2")]
            entity_id: u32,
            #[prost(enumeration = "EntityType", optional, tag = "3")]
            entity_type: Option<i32>,
            #[prost(message, required, tag = "4")]
            guidance: Guidance,
            #[prost(uint32, optional, tag = "5")]
            player_id: Option<u32>,
            #[prost(bool, repeated, tag = "6")]
            reloads: Vec<bool>,
            #[prost(message, required, tag = "7")]
            transform: Transform,
            #[prost(uint32, repeated, tag = "8")]
            turret_angles: Vec<u32>,
        }

        walk_fields!($updates => updates);
        walk_fields!($update => contacts score world_radius terrain_updates);
        walk_fields!($contact
            => $($damage)? entity_id entity_type guidance player_id reloads transform
            turret_angles);
    )*};
}

updates! {
    Updates Update Contact damage;
    UpdatesShort UpdateShort ContactShort;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
enum EntityType {
    ArleighBurke = 0,
    Bismarck = 1,
    Clemenceau = 2,
    Fletcher = 3,
    G5 = 4,
    Iowa = 5,
    Kolkata = 6,
    Osa = 7,
    Yasen = 8,
    Zubr = 9,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Guidance {
    #[prost(uint32, tag = "1")]
    angle: u32,
    #[prost(bool, tag = "2")]
    submerge: bool,
    #[prost(sint32, tag = "3")]
    velocity: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Transform {
    #[prost(sint32, tag = "1")]
    altitude: i32,
    #[prost(uint32, tag = "2")]
    angle: u32,
    #[prost(float, tag = "3")]
    x: f32,
    #[prost(float, tag = "4")]
    y: f32,
    #[prost(sint32, tag = "5")]
    velocity: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TerrainUpdate {
    #[prost(sint32, tag = "1")]
    x: i32,
    #[prost(sint32, tag = "2")]
    y: i32,
    #[prost(bytes = "vec", tag = "3")]
    data: Vec<u8>,
}

walk_fields!(Guidance => angle submerge velocity);
walk_fields!(Transform => altitude angle x y velocity);
walk_fields!(TerrainUpdate => x y data);

impl Protobuf for super::Updates {
    type Message = Updates;
    type Short = UpdatesShort;

    fn message(&self) -> Updates {
        Updates {
            updates: self.updates.iter().map(Update::from).collect(),
        }
    }
}

impl From<&super::Update> for Update {
    fn from(of: &super::Update) -> Self {
        let terrain = of.terrain_updates.iter();
        Self {
            contacts: of.contacts.iter().map(Contact::from).collect(),
            score: of.score,
            world_radius: of.world_radius,
            terrain_updates: terrain.map(TerrainUpdate::from).collect(),
        }
    }
}

impl From<&super::Contact> for Contact {
    fn from(of: &super::Contact) -> Self {
        let (guidance, transform) = (&of.guidance, &of.transform);
        let (x, y) = transform.position;
        Self {
            damage: u32::from(of.damage),
            entity_id: of.entity_id,
            entity_type: of.entity_type.map(|known| known as i32),
            guidance: Guidance {
                angle: u32::from(guidance.angle),
                submerge: guidance.submerge,
                velocity: i32::from(guidance.velocity),
            },
            player_id: of.player_id.map(u32::from),
            reloads: of.reloads.clone(),
            transform: Transform {
                altitude: i32::from(transform.altitude),
                angle: u32::from(transform.angle),
                x,
                y,
                velocity: i32::from(transform.velocity),
            },
            turret_angles: of.turret_angles.iter().copied().map(u32::from).collect(),
        }
    }
}

impl From<&super::TerrainUpdate> for TerrainUpdate {
    fn from(of: &super::TerrainUpdate) -> Self {
        let (x, y) = of.chunk_id;
        Self {
            x: i32::from(x),
            y: i32::from(y),
            data: of.data.clone(),
        }
    }
}
