//! Twin types whose plain arrays may be owned or borrowed.

use super::{EntityType, Guidance, Transform, walk_fields};

/// Twin of the data set that owns its arrays.
pub(in super::super) type Owned =
    Updates<Vec<Update<Vec<Contact<Vec<bool>, Vec<u16>>>, Vec<TerrainUpdate<Vec<u8>>>>>>;

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in super::super) struct Updates<U> {
    updates: U,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in super::super) struct Update<C, T> {
    contacts: C,
    score: u32,
    world_radius: f32,
    terrain_updates: T,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in super::super) struct Contact<R, A> {
    damage: u8,
    entity_id: u32,
    entity_type: Option<EntityType>,
    guidance: Guidance,
    player_id: Option<u16>,
    reloads: R,
    transform: Transform,
    turret_angles: A,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in super::super) struct TerrainUpdate<D> {
    chunk_id: (i8, i8),
    data: D,
}

walk_fields!([U] Updates<U> => updates);
walk_fields!([C, T] Update<C, T> => contacts score world_radius terrain_updates);
walk_fields!([R, A] Contact<R, A>
    => damage entity_id entity_type guidance player_id reloads transform turret_angles);
walk_fields!([D] TerrainUpdate<D> => chunk_id data);
