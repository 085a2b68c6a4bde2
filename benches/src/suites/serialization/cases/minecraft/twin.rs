//! Twin types whose strings may be owned or borrowed.

use super::{Abilities, GameType, walk_fields};
use crate::suites::serialization::subjects::Lend;

/// Twin of the data set with strings of type `S`.
pub(in crate::suites) type Of<S> = Players<Vec<PlayerOf<S>>>;

type PlayerOf<S> = Player<
    S,
    Option<S>,
    Item<S>,
    Vec<Item<S>>,
    Option<Vehicle<EntityOf<S>>>,
    Option<EntityOf<S>>,
    RecipeBook<Vec<S>>,
>;
type EntityOf<S> = Entity<S, Option<S>>;

impl Lend for super::Players {
    type Lent<'a> = Of<&'a str>;
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Players<P> {
    players: P,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Player<S, O, I, L, V, E, R> {
    game_type: GameType,
    previous_game_type: GameType,
    score: i64,
    dimension: S,
    selected_item_slot: u32,
    selected_item: I,
    spawn_dimension: O,
    spawn_x: i64,
    spawn_y: i64,
    spawn_z: i64,
    spawn_forced: Option<bool>,
    sleep_timer: u16,
    food_exhaustion_level: f32,
    food_saturation_level: f32,
    food_tick_timer: u32,
    xp_level: u32,
    xp_p: f32,
    xp_total: i32,
    xp_seed: i32,
    inventory: L,
    ender_items: L,
    abilities: Abilities,
    entered_nether_position: Option<(f64, f64, f64)>,
    root_vehicle: V,
    shoulder_entity_left: E,
    shoulder_entity_right: E,
    seen_credits: bool,
    recipe_book: R,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Item<S> {
    count: i8,
    slot: u8,
    id: S,
}

/// A vehicle, which is a tuple in the original.
#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Vehicle<E> {
    uuid: [u32; 4],
    entity: E,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct Entity<S, O> {
    id: S,
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
    custom_name: O,
    custom_name_visible: bool,
    silent: bool,
    glowing: bool,
}

#[derive(bitcode::Decode, epserde::Epserde)]
pub(in crate::suites) struct RecipeBook<V> {
    recipes: V,
    to_be_displayed: V,
    is_filtering_craftable: bool,
    is_gui_open: bool,
    is_furnace_filtering_craftable: bool,
    is_furnace_gui_open: bool,
    is_blasting_furnace_filtering_craftable: bool,
    is_blasting_furnace_gui_open: bool,
    is_smoker_filtering_craftable: bool,
    is_smoker_gui_open: bool,
}

walk_all!(
    ([P] Players<P>)
    ([S, O, I, L, V, E, R] Player<S, O, I, L, V, E, R>)
    ([S] Item<S>)
    ([S, O] Entity<S, O>)
    ([V] RecipeBook<V>)
);
walk_fields!([E] Vehicle<E> => uuid entity);
