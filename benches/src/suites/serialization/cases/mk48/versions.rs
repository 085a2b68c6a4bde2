//! Case `mk48` in other versions.

use super::{
    Contact, EntityType, EntityTypeRef, Guidance, GuidanceRef, TerrainUpdate, TerrainUpdateRef,
    Transform, TransformRef, Update, Updates, value, walk_fields,
};
use crate::suites::serialization::cases::versions::{Extended, Versions, Widened, version_types};
#[cfg(feature = "peers")]
use crate::suites::serialization::subjects::registered;

/// Defines versions by the names of their types, the fields that not all have, and the types that
/// differ.
macro_rules! updates {
    ($($updates:ident $update:ident $contact:ident {
        $transform:ident $($damage:ident)?, $entity_id:ty, $entity_type:ty
    })*) => {$(
        version_types! {
            pub(in crate::suites) struct $updates {
                updates: Vec<$update>,
            }

            struct $update {
                contacts: Vec<$contact>,
                score: u32,
                world_radius: f32,
                terrain_updates: Vec<TerrainUpdate>,
            }

            struct $contact {
                $($damage: u8,)?
                entity_id: $entity_id,
                entity_type: Option<$entity_type>,
                guidance: Guidance,
                player_id: Option<u16>,
                reloads: Vec<bool>,
                #[cfg_attr(feature = "peers", fory(id = 1))]
                $transform: Transform,
                turret_angles: Vec<u16>,
            }
        }

        #[cfg(feature = "peers")]
        registered!(
            $updates: $update $contact $entity_type Guidance Transform TerrainUpdate;
        );

        impl From<Updates> for $updates {
            fn from(of: Updates) -> Self {
                Self {
                    updates: of.updates.into_iter().map($update::from).collect(),
                }
            }
        }

        impl From<Update> for $update {
            fn from(of: Update) -> Self {
                Self {
                    contacts: of.contacts.into_iter().map($contact::from).collect(),
                    score: of.score,
                    world_radius: of.world_radius,
                    terrain_updates: of.terrain_updates,
                }
            }
        }

        impl From<Contact> for $contact {
            fn from(of: Contact) -> Self {
                Self {
                    $($damage: of.damage,)?
                    entity_id: of.entity_id as $entity_id,
                    entity_type: of.entity_type.map(Into::into),
                    guidance: of.guidance,
                    player_id: of.player_id,
                    reloads: of.reloads,
                    $transform: of.transform,
                    turret_angles: of.turret_angles,
                }
            }
        }
    )*};
}

updates! {
    UpdatesWithout UpdateWithout ContactWithout { transform, u32, EntityType }
    UpdatesNarrow UpdateNarrow ContactNarrow { transform damage, u16, EntityType }
    UpdatesRenamed UpdateRenamed ContactRenamed { pose damage, u32, EntityType }
    UpdatesFewer UpdateFewer ContactFewer { transform damage, u32, EntityTypeFewer }
}

#[cfg(feature = "peers")]
registered!(Updates: Update Contact EntityType Guidance Transform TerrainUpdate;);

walk_fields!(UpdatesWithout, UpdatesWithoutRef<'_> => updates);
walk_fields!(UpdateWithout, UpdateWithoutRef<'_> => contacts score world_radius terrain_updates);
walk_fields!(ContactWithout, ContactWithoutRef<'_>
    => entity_id entity_type guidance player_id reloads transform turret_angles);

/// The types of ships before the last one was added.
#[derive(jstream::Transportable, serde::Serialize, Clone, Copy, Default)]
#[cfg_attr(feature = "peers", derive(fory::ForyEnum))]
#[repr(u8)]
enum EntityTypeFewer {
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
}

impl From<EntityType> for EntityTypeFewer {
    fn from(of: EntityType) -> Self {
        match of {
            EntityType::ArleighBurke => Self::ArleighBurke,
            EntityType::Bismarck => Self::Bismarck,
            EntityType::Clemenceau => Self::Clemenceau,
            EntityType::Fletcher => Self::Fletcher,
            EntityType::G5 => Self::G5,
            EntityType::Iowa => Self::Iowa,
            EntityType::Kolkata => Self::Kolkata,
            EntityType::Osa => Self::Osa,
            EntityType::Yasen | EntityType::Zubr => Self::Yasen,
        }
    }
}

impl Updates {
    fn contacts_mut(&mut self) -> impl Iterator<Item = &mut Contact> {
        let updates = self.updates.iter_mut();
        updates.flat_map(|update| &mut update.contacts)
    }
}

impl Versions for Updates {
    type Without = UpdatesWithout;
    type Renamed = UpdatesRenamed;

    const ABOUT: &'static str = "updates of a game with 20 to 39 contacts";
    const FIELD: &'static str = "u8";

    fn draw(size: usize) -> Self {
        value(size)
    }

    fn reset(&mut self) {
        for contact in self.contacts_mut() {
            contact.damage = 0;
        }
    }
}

impl Widened for Updates {
    type Narrow = UpdatesNarrow;

    fn narrow(&mut self) {
        for contact in self.contacts_mut() {
            contact.entity_id = u32::from(contact.entity_id as u16);
        }
    }
}

impl Extended for Updates {
    type Fewer = UpdatesFewer;

    fn replace(&mut self) {
        for contact in self.contacts_mut() {
            if let Some(EntityType::Zubr) = contact.entity_type {
                contact.entity_type = Some(EntityType::Yasen);
            }
        }
    }
}
