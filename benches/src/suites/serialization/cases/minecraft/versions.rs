//! Case `minecraft_savedata` in other versions.

use super::{
    Abilities, AbilitiesRef, Entity, EntityRef, GameType, GameTypeRef, Item, ItemRef, Player,
    Players, RecipeBook, RecipeBookRef, value, walk_fields,
};
use crate::suites::serialization::cases::versions::{Extended, Versions, Widened, version_types};
#[cfg(feature = "peers")]
use crate::suites::serialization::subjects::registered;

/// Defines versions by the names of their types, the fields that not all have, and the types that
/// differ.
macro_rules! players {
    ($($players:ident $player:ident {
        $game_type:ty, $dimension:ident $($sleep_timer:ident)?, $xp_level:ty
    })*) => {$(
        version_types! {
            pub(in crate::suites) struct $players {
                players: Vec<$player>,
            }

            struct $player {
                game_type: $game_type,
                previous_game_type: $game_type,
                score: i64,
                #[cfg_attr(feature = "peers", fory(id = 1))]
                $dimension: String,
                selected_item_slot: u32,
                selected_item: Item,
                spawn_dimension: Option<String>,
                spawn_x: i64,
                spawn_y: i64,
                spawn_z: i64,
                spawn_forced: Option<bool>,
                $($sleep_timer: u16,)?
                food_exhaustion_level: f32,
                food_saturation_level: f32,
                food_tick_timer: u32,
                xp_level: $xp_level,
                xp_p: f32,
                xp_total: i32,
                xp_seed: i32,
                inventory: Vec<Item>,
                ender_items: Vec<Item>,
                abilities: Abilities,
                entered_nether_position: Option<(f64, f64, f64)>,
                root_vehicle: Option<([u32; 4], Entity)>,
                shoulder_entity_left: Option<Entity>,
                shoulder_entity_right: Option<Entity>,
                seen_credits: bool,
                recipe_book: RecipeBook,
            }
        }

        #[cfg(feature = "peers")]
        registered!($players: $player $game_type Item Abilities Entity RecipeBook;);

        impl From<Players> for $players {
            fn from(of: Players) -> Self {
                Self {
                    players: of.players.into_iter().map($player::from).collect(),
                }
            }
        }

        impl From<Player> for $player {
            fn from(of: Player) -> Self {
                Self {
                    game_type: of.game_type.into(),
                    previous_game_type: of.previous_game_type.into(),
                    score: of.score,
                    $dimension: of.dimension,
                    selected_item_slot: of.selected_item_slot,
                    selected_item: of.selected_item,
                    spawn_dimension: of.spawn_dimension,
                    spawn_x: of.spawn_x,
                    spawn_y: of.spawn_y,
                    spawn_z: of.spawn_z,
                    spawn_forced: of.spawn_forced,
                    $($sleep_timer: of.sleep_timer,)?
                    food_exhaustion_level: of.food_exhaustion_level,
                    food_saturation_level: of.food_saturation_level,
                    food_tick_timer: of.food_tick_timer,
                    xp_level: of.xp_level as $xp_level,
                    xp_p: of.xp_p,
                    xp_total: of.xp_total,
                    xp_seed: of.xp_seed,
                    inventory: of.inventory,
                    ender_items: of.ender_items,
                    abilities: of.abilities,
                    entered_nether_position: of.entered_nether_position,
                    root_vehicle: of.root_vehicle,
                    shoulder_entity_left: of.shoulder_entity_left,
                    shoulder_entity_right: of.shoulder_entity_right,
                    seen_credits: of.seen_credits,
                    recipe_book: of.recipe_book,
                }
            }
        }
    )*};
}

players! {
    PlayersWithout PlayerWithout { GameType, dimension, u32 }
    PlayersNarrow PlayerNarrow { GameType, dimension sleep_timer, u16 }
    PlayersRenamed PlayerRenamed { GameType, world sleep_timer, u32 }
    PlayersFewer PlayerFewer { GameTypeFewer, dimension sleep_timer, u32 }
}

#[cfg(feature = "peers")]
registered!(Players: Player GameType Item Abilities Entity RecipeBook;);

walk_fields!(PlayersWithout, PlayersWithoutRef<'_> => players);
walk_fields!(PlayerWithout, PlayerWithoutRef<'_>
    => game_type previous_game_type score dimension selected_item_slot selected_item
    spawn_dimension spawn_x spawn_y spawn_z spawn_forced food_exhaustion_level
    food_saturation_level food_tick_timer xp_level xp_p xp_total xp_seed inventory ender_items
    abilities entered_nether_position root_vehicle shoulder_entity_left shoulder_entity_right
    seen_credits recipe_book);

/// The types of games before the last one was added.
#[derive(jstream::Transportable, serde::Serialize, Clone, Copy, Default)]
#[cfg_attr(feature = "peers", derive(fory::ForyEnum))]
#[repr(u8)]
enum GameTypeFewer {
    #[default]
    Survival,
    Creative,
    Adventure,
}

impl From<GameType> for GameTypeFewer {
    fn from(of: GameType) -> Self {
        match of {
            GameType::Survival => Self::Survival,
            GameType::Creative => Self::Creative,
            GameType::Adventure | GameType::Spectator => Self::Adventure,
        }
    }
}

impl Versions for Players {
    type Without = PlayersWithout;
    type Renamed = PlayersRenamed;

    const ABOUT: &'static str = "players of a game with 28 fields each";
    const FIELD: &'static str = "u16";

    fn draw(size: usize) -> Self {
        value(size)
    }

    fn reset(&mut self) {
        for player in &mut self.players {
            player.sleep_timer = 0;
        }
    }
}

impl Widened for Players {
    type Narrow = PlayersNarrow;

    fn narrow(&mut self) {
        for player in &mut self.players {
            player.xp_level = u32::from(player.xp_level as u16);
        }
    }
}

impl Extended for Players {
    type Fewer = PlayersFewer;

    fn replace(&mut self) {
        for player in &mut self.players {
            for game_type in [&mut player.game_type, &mut player.previous_game_type] {
                if let GameType::Spectator = game_type {
                    *game_type = GameType::Adventure;
                }
            }
        }
    }
}
