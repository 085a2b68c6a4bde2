//! Case `minecraft_savedata` with Protocol Buffers.

use super::walk_fields;
use crate::suites::serialization::subjects::Protobuf;

/// Defines the types of a version.
macro_rules! players {
    ($($players:ident $player:ident $($sleep_timer:ident)?;)*) => {$(
        #[derive(Clone, PartialEq, prost::Message)]
        pub(in crate::suites) struct $players {
            #[prost(message, repeated, tag = "1")]
            players: Vec<$player>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        struct $player {
            #[prost(enumeration = "GameType", tag = "1")]
            game_type: i32,
            #[prost(enumeration = "GameType", tag = "2")]
            previous_game_type: i32,
            #[prost(sint64, tag = "3")]
            score: i64,
            #[prost(string, tag = "4")]
            dimension: String,
            #[prost(uint32, tag = "5")]
            selected_item_slot: u32,
            #[prost(message, required, tag = "6")]
            selected_item: Item,
            #[prost(string, optional, tag = "7")]
            spawn_dimension: Option<String>,
            #[prost(sint64, tag = "8")]
            spawn_x: i64,
            #[prost(sint64, tag = "9")]
            spawn_y: i64,
            #[prost(sint64, tag = "10")]
            spawn_z: i64,
            #[prost(bool, optional, tag = "11")]
            spawn_forced: Option<bool>,
            $(#[prost(uint32, tag = "12")]
            $sleep_timer: u32,)?
            #[prost(float, tag = "13")]
            food_exhaustion_level: f32,
            #[prost(float, tag = "14")]
            food_saturation_level: f32,
            #[prost(uint32, tag = "15")]
            food_tick_timer: u32,
            #[prost(uint32, tag = "16")]
            xp_level: u32,
            #[prost(float, tag = "17")]
            xp_p: f32,
            #[prost(sint32, tag = "18")]
            xp_total: i32,
            #[prost(sint32, tag = "19")]
            xp_seed: i32,
            #[prost(message, repeated, tag = "20")]
            inventory: Vec<Item>,
            #[prost(message, repeated, tag = "21")]
            ender_items: Vec<Item>,
            #[prost(message, required, tag = "22")]
            abilities: Abilities,
            #[prost(message, optional, tag = "23")]
            entered_nether_position: Option<Point>,
            #[prost(message, optional, tag = "24")]
            root_vehicle: Option<Vehicle>,
            #[prost(message, optional, tag = "25")]
            shoulder_entity_left: Option<Entity>,
            #[prost(message, optional, tag = "26")]
            shoulder_entity_right: Option<Entity>,
            #[prost(bool, tag = "27")]
            seen_credits: bool,
            #[prost(message, required, tag = "28")]
            recipe_book: RecipeBook,
        }

        walk_fields!($players => players);
        walk_fields!($player
            => game_type previous_game_type score dimension selected_item_slot selected_item
            spawn_dimension spawn_x spawn_y spawn_z spawn_forced $($sleep_timer)?
            food_exhaustion_level food_saturation_level food_tick_timer xp_level xp_p xp_total
            xp_seed inventory ender_items abilities entered_nether_position root_vehicle
            shoulder_entity_left shoulder_entity_right seen_credits recipe_book);
    )*};
}

players! {
    Players Player sleep_timer;
    PlayersShort PlayerShort;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
enum GameType {
    Survival = 0,
    Creative = 1,
    Adventure = 2,
    Spectator = 3,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Point {
    #[prost(double, tag = "1")]
    x: f64,
    #[prost(double, tag = "2")]
    y: f64,
    #[prost(double, tag = "3")]
    z: f64,
}

impl From<(f64, f64, f64)> for Point {
    fn from((x, y, z): (f64, f64, f64)) -> Self {
        Self { x, y, z }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Rotation {
    #[prost(float, tag = "1")]
    yaw: f32,
    #[prost(float, tag = "2")]
    pitch: f32,
}

impl From<(f32, f32)> for Rotation {
    fn from((yaw, pitch): (f32, f32)) -> Self {
        Self { yaw, pitch }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Uuid {
    #[prost(fixed32, tag = "1")]
    x0: u32,
    #[prost(fixed32, tag = "2")]
    x1: u32,
    #[prost(fixed32, tag = "3")]
    x2: u32,
    #[prost(fixed32, tag = "4")]
    x3: u32,
}

impl From<[u32; 4]> for Uuid {
    fn from([x0, x1, x2, x3]: [u32; 4]) -> Self {
        Self { x0, x1, x2, x3 }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
struct Vehicle {
    #[prost(message, required, tag = "1")]
    uuid: Uuid,
    #[prost(message, required, tag = "2")]
    entity: Entity,
}

impl From<&([u32; 4], super::Entity)> for Vehicle {
    fn from((uuid, entity): &([u32; 4], super::Entity)) -> Self {
        Self {
            uuid: (*uuid).into(),
            entity: entity.into(),
        }
    }
}

walk_fields!(Point => x y z);
walk_fields!(Rotation => yaw pitch);
walk_fields!(Uuid => x0 x1 x2 x3);
walk_fields!(Vehicle => uuid entity);

#[derive(Clone, PartialEq, prost::Message)]
struct Item {
    #[prost(sint32, tag = "1")]
    count: i32,
    #[prost(uint32, tag = "2")]
    slot: u32,
    #[prost(string, tag = "3")]
    id: String,
}

impl From<&super::Item> for Item {
    fn from(of: &super::Item) -> Self {
        Self {
            count: i32::from(of.count),
            slot: u32::from(of.slot),
            id: of.id.clone(),
        }
    }
}

walk_fields!(Item => count slot id);

#[derive(Clone, PartialEq, prost::Message)]
struct Abilities {
    #[prost(float, tag = "1")]
    walk_speed: f32,
    #[prost(float, tag = "2")]
    fly_speed: f32,
    #[prost(bool, tag = "3")]
    may_fly: bool,
    #[prost(bool, tag = "4")]
    flying: bool,
    #[prost(bool, tag = "5")]
    invulnerable: bool,
    #[prost(bool, tag = "6")]
    may_build: bool,
    #[prost(bool, tag = "7")]
    instabuild: bool,
}

impl From<&super::Abilities> for Abilities {
    fn from(of: &super::Abilities) -> Self {
        Self {
            walk_speed: of.walk_speed,
            fly_speed: of.fly_speed,
            may_fly: of.may_fly,
            flying: of.flying,
            invulnerable: of.invulnerable,
            may_build: of.may_build,
            instabuild: of.instabuild,
        }
    }
}

walk_fields!(Abilities
    => walk_speed fly_speed may_fly flying invulnerable may_build instabuild);

#[derive(Clone, PartialEq, prost::Message)]
struct Entity {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(message, required, tag = "2")]
    pos: Point,
    #[prost(message, required, tag = "3")]
    motion: Point,
    #[prost(message, required, tag = "4")]
    rotation: Rotation,
    #[prost(float, tag = "5")]
    fall_distance: f32,
    #[prost(uint32, tag = "6")]
    fire: u32,
    #[prost(uint32, tag = "7")]
    air: u32,
    #[prost(bool, tag = "8")]
    on_ground: bool,
    #[prost(bool, tag = "9")]
    no_gravity: bool,
    #[prost(bool, tag = "10")]
    invulnerable: bool,
    #[prost(sint32, tag = "11")]
    portal_cooldown: i32,
    #[prost(message, required, tag = "12")]
    uuid: Uuid,
    #[prost(string, optional, tag = "13")]
    custom_name: Option<String>,
    #[prost(bool, tag = "14")]
    custom_name_visible: bool,
    #[prost(bool, tag = "15")]
    silent: bool,
    #[prost(bool, tag = "16")]
    glowing: bool,
}

impl From<&super::Entity> for Entity {
    fn from(of: &super::Entity) -> Self {
        Self {
            id: of.id.clone(),
            pos: of.pos.into(),
            motion: of.motion.into(),
            rotation: of.rotation.into(),
            fall_distance: of.fall_distance,
            fire: u32::from(of.fire),
            air: u32::from(of.air),
            on_ground: of.on_ground,
            no_gravity: of.no_gravity,
            invulnerable: of.invulnerable,
            portal_cooldown: of.portal_cooldown,
            uuid: of.uuid.into(),
            custom_name: of.custom_name.clone(),
            custom_name_visible: of.custom_name_visible,
            silent: of.silent,
            glowing: of.glowing,
        }
    }
}

walk_fields!(Entity
    => id pos motion rotation fall_distance fire air on_ground no_gravity invulnerable
    portal_cooldown uuid custom_name custom_name_visible silent glowing);

#[derive(Clone, PartialEq, prost::Message)]
struct RecipeBook {
    #[prost(string, repeated, tag = "1")]
    recipes: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    to_be_displayed: Vec<String>,
    #[prost(bool, tag = "3")]
    is_filtering_craftable: bool,
    #[prost(bool, tag = "4")]
    is_gui_open: bool,
    #[prost(bool, tag = "5")]
    is_furnace_filtering_craftable: bool,
    #[prost(bool, tag = "6")]
    is_furnace_gui_open: bool,
    #[prost(bool, tag = "7")]
    is_blasting_furnace_filtering_craftable: bool,
    #[prost(bool, tag = "8")]
    is_blasting_furnace_gui_open: bool,
    #[prost(bool, tag = "9")]
    is_smoker_filtering_craftable: bool,
    #[prost(bool, tag = "10")]
    is_smoker_gui_open: bool,
}

impl From<&super::RecipeBook> for RecipeBook {
    fn from(of: &super::RecipeBook) -> Self {
        Self {
            recipes: of.recipes.clone(),
            to_be_displayed: of.to_be_displayed.clone(),
            is_filtering_craftable: of.is_filtering_craftable,
            is_gui_open: of.is_gui_open,
            is_furnace_filtering_craftable: of.is_furnace_filtering_craftable,
            is_furnace_gui_open: of.is_furnace_gui_open,
            is_blasting_furnace_filtering_craftable: of.is_blasting_furnace_filtering_craftable,
            is_blasting_furnace_gui_open: of.is_blasting_furnace_gui_open,
            is_smoker_filtering_craftable: of.is_smoker_filtering_craftable,
            is_smoker_gui_open: of.is_smoker_gui_open,
        }
    }
}

walk_fields!(RecipeBook
    => recipes to_be_displayed is_filtering_craftable is_gui_open is_furnace_filtering_craftable
    is_furnace_gui_open is_blasting_furnace_filtering_craftable is_blasting_furnace_gui_open
    is_smoker_filtering_craftable is_smoker_gui_open);

impl Protobuf for super::Players {
    type Message = Players;
    type Short = PlayersShort;

    fn message(&self) -> Players {
        Players {
            players: self.players.iter().map(Player::from).collect(),
        }
    }
}

impl From<&super::Player> for Player {
    fn from(of: &super::Player) -> Self {
        Self {
            game_type: of.game_type as i32,
            previous_game_type: of.previous_game_type as i32,
            score: of.score,
            dimension: of.dimension.clone(),
            selected_item_slot: of.selected_item_slot,
            selected_item: Item::from(&of.selected_item),
            spawn_dimension: of.spawn_dimension.clone(),
            spawn_x: of.spawn_x,
            spawn_y: of.spawn_y,
            spawn_z: of.spawn_z,
            spawn_forced: of.spawn_forced,
            sleep_timer: u32::from(of.sleep_timer),
            food_exhaustion_level: of.food_exhaustion_level,
            food_saturation_level: of.food_saturation_level,
            food_tick_timer: of.food_tick_timer,
            xp_level: of.xp_level,
            xp_p: of.xp_p,
            xp_total: of.xp_total,
            xp_seed: of.xp_seed,
            inventory: of.inventory.iter().map(Item::from).collect(),
            ender_items: of.ender_items.iter().map(Item::from).collect(),
            abilities: Abilities::from(&of.abilities),
            entered_nether_position: of.entered_nether_position.map(Point::from),
            root_vehicle: of.root_vehicle.as_ref().map(Vehicle::from),
            shoulder_entity_left: of.shoulder_entity_left.as_ref().map(Entity::from),
            shoulder_entity_right: of.shoulder_entity_right.as_ref().map(Entity::from),
            seen_credits: of.seen_credits,
            recipe_book: RecipeBook::from(&of.recipe_book),
        }
    }
}
