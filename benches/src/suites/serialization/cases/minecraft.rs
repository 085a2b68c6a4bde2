//! Case `minecraft_savedata`: players of a game with their inventories.

use super::draw::{Draw, Random, exactly, one_name, random, several, several_with};
use super::{Case, forever, values};
use crate::Failure;
use crate::suites::serialization::walk::{walk_fields, walk_number};
use crate::table::number;

values! {
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    pub(in crate::suites) struct Players {
        players: Vec<Player>,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Player {
        game_type: GameType,
        previous_game_type: GameType,
        score: i64,
        #[transportable(renamed_from = "world")]
        #[cfg_attr(feature = "peers", fory(id = 1))]
        dimension: String,
        selected_item_slot: u32,
        selected_item: Item,
        spawn_dimension: Option<String>,
        spawn_x: i64,
        spawn_y: i64,
        spawn_z: i64,
        spawn_forced: Option<bool>,
        #[transportable(default)]
        sleep_timer: u16,
        food_exhaustion_level: f32,
        food_saturation_level: f32,
        food_tick_timer: u32,
        xp_level: u32,
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

    #[derive(Clone, Copy, Default)]
    #[rkyv(derive(Clone, Copy))]
    #[repr(u8)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(deep_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyEnum))]
    enum GameType {
        #[default]
        Survival,
        Creative,
        Adventure,
        Spectator,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Item {
        count: i8,
        slot: u8,
        id: String,
    }

    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(deep_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Abilities {
        walk_speed: f32,
        fly_speed: f32,
        may_fly: bool,
        flying: bool,
        invulnerable: bool,
        may_build: bool,
        instabuild: bool,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Entity {
        id: String,
        pos: (f64, f64, f64),
        motion: (f64, f64, f64),
        rotation: (f32, f32),
        fall_distance: f32,
        fire: u16,
        air: u16,
        on_ground: bool,
        no_gravity: bool,
        invulnerable: bool,
        portal_cooldown: i32,
        uuid: [u32; 4],
        custom_name: Option<String>,
        custom_name_visible: bool,
        silent: bool,
        glowing: bool,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct RecipeBook {
        recipes: Vec<String>,
        to_be_displayed: Vec<String>,
        is_filtering_craftable: bool,
        is_gui_open: bool,
        is_furnace_filtering_craftable: bool,
        is_furnace_gui_open: bool,
        is_blasting_furnace_filtering_craftable: bool,
        is_blasting_furnace_gui_open: bool,
        is_smoker_filtering_craftable: bool,
        is_smoker_gui_open: bool,
    }
}

/// Implements `Walk` for the types that have several forms.
macro_rules! walk_all {
    (($($players:tt)+) ($($player:tt)+) ($($item:tt)+) ($($entity:tt)+) ($($recipe_book:tt)+)) => {
        walk_fields!($($players)+ => players);
        walk_fields!($($player)+ => game_type previous_game_type score dimension selected_item_slot
            selected_item spawn_dimension spawn_x spawn_y spawn_z spawn_forced sleep_timer
            food_exhaustion_level food_saturation_level food_tick_timer xp_level xp_p xp_total
            xp_seed inventory ender_items abilities entered_nether_position root_vehicle
            shoulder_entity_left shoulder_entity_right seen_credits recipe_book);
        walk_fields!($($item)+ => count slot id);
        walk_fields!($($entity)+ => id pos motion rotation fall_distance fire air on_ground no_gravity
            invulnerable portal_cooldown uuid custom_name custom_name_visible silent glowing);
        walk_fields!($($recipe_book)+ => recipes to_be_displayed is_filtering_craftable is_gui_open
            is_furnace_filtering_craftable is_furnace_gui_open
            is_blasting_furnace_filtering_craftable is_blasting_furnace_gui_open
            is_smoker_filtering_craftable is_smoker_gui_open);
    };
}

walk_all!((Players)(Player)(Item)(Entity)(RecipeBook));
walk_all!((PlayersRef<'_>) (PlayerRef<'_>) (ItemRef<'_>) (EntityRef<'_>) (RecipeBookRef<'_>));
walk_all!((ArchivedPlayers)(ArchivedPlayer)(ArchivedItem)(
    ArchivedEntity
)(ArchivedRecipeBook));
walk_fields!(Abilities, ArchivedAbilities
    => walk_speed fly_speed may_fly flying invulnerable may_build instabuild);
walk_number!(GameType, ArchivedGameType);

const DIMENSIONS: [&str; 3] = ["overworld", "nether", "end"];
const ITEMS: [&str; 8] = [
    "dirt",
    "stone",
    "pickaxe",
    "sand",
    "gravel",
    "shovel",
    "chestplate",
    "steak",
];
const ENTITIES: [&str; 8] = [
    "cow", "sheep", "zombie", "skeleton", "spider", "creeper", "parrot", "bee",
];
const NAMES: [&str; 8] = [
    "rainbow", "princess", "steve", "johnny", "missy", "coward", "fairy", "howard",
];
const RECIPES: [&str; 8] = [
    "pickaxe",
    "torch",
    "bow",
    "crafting table",
    "furnace",
    "shears",
    "arrow",
    "tnt",
];

fn maybe_one_name<const N: usize>(random: &mut Random, from: &[&str; N]) -> Option<String> {
    bool::draw(random).then(|| one_name(random, from))
}

/// Draws the number of recipes, and then each recipe.
fn recipes(random: &mut Random, most: usize) -> Vec<String> {
    several_with(random, 0..most, |random| one_name(random, &RECIPES))
}

impl Draw for GameType {
    fn draw(random: &mut Random) -> Self {
        use GameType::{Adventure, Creative, Spectator, Survival};
        // The type of the drawn number affects the sequence, so it has to be `i32`.
        match rand::Rng::gen_range(random, 0..4i32) {
            0 => Survival,
            1 => Creative,
            2 => Adventure,
            _ => Spectator,
        }
    }
}

impl Draw for Item {
    fn draw(random: &mut Random) -> Self {
        Self {
            count: Draw::draw(random),
            slot: Draw::draw(random),
            id: one_name(random, &ITEMS),
        }
    }
}

impl Draw for Abilities {
    fn draw(random: &mut Random) -> Self {
        Self {
            walk_speed: Draw::draw(random),
            fly_speed: Draw::draw(random),
            may_fly: Draw::draw(random),
            flying: Draw::draw(random),
            invulnerable: Draw::draw(random),
            may_build: Draw::draw(random),
            instabuild: Draw::draw(random),
        }
    }
}

impl Draw for Entity {
    fn draw(random: &mut Random) -> Self {
        Self {
            id: one_name(random, &ENTITIES),
            pos: Draw::draw(random),
            motion: Draw::draw(random),
            rotation: Draw::draw(random),
            fall_distance: Draw::draw(random),
            fire: Draw::draw(random),
            air: Draw::draw(random),
            on_ground: Draw::draw(random),
            no_gravity: Draw::draw(random),
            invulnerable: Draw::draw(random),
            portal_cooldown: Draw::draw(random),
            uuid: Draw::draw(random),
            custom_name: maybe_one_name(random, &NAMES),
            custom_name_visible: Draw::draw(random),
            silent: Draw::draw(random),
            glowing: Draw::draw(random),
        }
    }
}

impl Draw for RecipeBook {
    fn draw(random: &mut Random) -> Self {
        Self {
            recipes: recipes(random, 30),
            to_be_displayed: recipes(random, 10),
            is_filtering_craftable: Draw::draw(random),
            is_gui_open: Draw::draw(random),
            is_furnace_filtering_craftable: Draw::draw(random),
            is_furnace_gui_open: Draw::draw(random),
            is_blasting_furnace_filtering_craftable: Draw::draw(random),
            is_blasting_furnace_gui_open: Draw::draw(random),
            is_smoker_filtering_craftable: Draw::draw(random),
            is_smoker_gui_open: Draw::draw(random),
        }
    }
}

impl Draw for Player {
    fn draw(random: &mut Random) -> Self {
        Self {
            game_type: Draw::draw(random),
            previous_game_type: Draw::draw(random),
            score: Draw::draw(random),
            dimension: one_name(random, &DIMENSIONS),
            selected_item_slot: Draw::draw(random),
            selected_item: Draw::draw(random),
            spawn_dimension: maybe_one_name(random, &DIMENSIONS),
            spawn_x: Draw::draw(random),
            spawn_y: Draw::draw(random),
            spawn_z: Draw::draw(random),
            spawn_forced: Draw::draw(random),
            sleep_timer: Draw::draw(random),
            food_exhaustion_level: Draw::draw(random),
            food_saturation_level: Draw::draw(random),
            food_tick_timer: Draw::draw(random),
            xp_level: Draw::draw(random),
            xp_p: Draw::draw(random),
            xp_total: Draw::draw(random),
            xp_seed: Draw::draw(random),
            inventory: several(random, 0..40),
            ender_items: several(random, 0..27),
            abilities: Draw::draw(random),
            entered_nether_position: Draw::draw(random),
            root_vehicle: Draw::draw(random),
            shoulder_entity_left: Draw::draw(random),
            shoulder_entity_right: Draw::draw(random),
            seen_credits: Draw::draw(random),
            recipe_book: Draw::draw(random),
        }
    }
}

fn value(size: usize) -> Players {
    Players {
        players: exactly(&mut random(), size),
    }
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let value = forever(value(size));
    let about = format!(
        "{} players of a game: 28 fields each, up to 65 items, 3 entities, 38 recipes",
        number(size as f64)
    );
    let case = Case::new(about, value)?.and_restored(value)?;
    #[cfg(feature = "peers")]
    let case = case
        .and_peers(value)?
        .and_borrow(value)?
        .and_schemas(value)?
        .and_twin::<_, twin::Of<String>>(value)?;
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
        let players = value(500).players;
        assert_eq!(players.len(), 500);
        let mut items = 0;
        let mut entities = 0;
        let mut strings = 0;
        for player in &players {
            let carried = player.inventory.len() + player.ender_items.len();
            let root = player.root_vehicle.as_ref().map(|(_, entity)| entity);
            let with = [
                root,
                player.shoulder_entity_left.as_ref(),
                player.shoulder_entity_right.as_ref(),
            ];
            let with: Vec<&Entity> = with.into_iter().flatten().collect();
            let book = &player.recipe_book;
            items += carried;
            entities += with.len();
            // The dimension, and the item in hand.
            strings += 2 + usize::from(player.spawn_dimension.is_some()) + carried;
            strings += with
                .iter()
                .map(|e| 1 + usize::from(e.custom_name.is_some()))
                .sum::<usize>();
            strings += book.recipes.len() + book.to_be_displayed.len();
        }
        assert_eq!((items, entities, strings), (15_897, 733, 28_094));
    }
}
