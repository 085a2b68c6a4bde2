//! Case `minecraft_savedata` with FlatBuffers.

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, Vector, WIPOffset};

use crate::suites::serialization::generated::minecraft_flat::minecraft as flat;
use crate::suites::serialization::subjects::{Flat, Short, walk_accessors};
use crate::suites::serialization::walk::Walk;

/// A list of tables.
type List<'b, T> = WIPOffset<Vector<'b, ForwardsUOffset<T>>>;

impl Flat for super::Players {
    type Root<'a> = flat::Players<'a>;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Players<'b>> {
        let players: Vec<_> = self
            .players
            .iter()
            .map(|player| player.build(into))
            .collect();
        let players = Some(into.create_vector(&players));
        flat::Players::create(into, &flat::PlayersArgs { players })
    }
}

impl super::Player {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Player<'b>> {
        let abilities = &self.abilities;
        let position = self.entered_nether_position.map(point);
        let mut entity = |entity: &Option<super::Entity>| entity.as_ref().map(|it| it.build(into));
        let shoulder_entity_left = entity(&self.shoulder_entity_left);
        let shoulder_entity_right = entity(&self.shoulder_entity_right);
        let root_vehicle = self.root_vehicle.as_ref().map(|(id, entity)| {
            let entity = Some(entity.build(into));
            let uuid = Some(&uuid(*id));
            flat::Vehicle::create(into, &flat::VehicleArgs { uuid, entity })
        });
        let args = flat::PlayerArgs {
            game_type: self.game_type.into(),
            previous_game_type: self.previous_game_type.into(),
            score: self.score,
            dimension: Some(into.create_string(&self.dimension)),
            selected_item_slot: self.selected_item_slot,
            selected_item: Some(self.selected_item.build(into)),
            spawn_dimension: self
                .spawn_dimension
                .as_ref()
                .map(|it| into.create_string(it)),
            spawn_x: self.spawn_x,
            spawn_y: self.spawn_y,
            spawn_z: self.spawn_z,
            spawn_forced: self.spawn_forced,
            sleep_timer: self.sleep_timer,
            food_exhaustion_level: self.food_exhaustion_level,
            food_saturation_level: self.food_saturation_level,
            food_tick_timer: self.food_tick_timer,
            xp_level: self.xp_level,
            xp_p: self.xp_p,
            xp_total: self.xp_total,
            xp_seed: self.xp_seed,
            inventory: Some(items(&self.inventory, into)),
            ender_items: Some(items(&self.ender_items, into)),
            abilities: Some(&flat::Abilities::new(
                abilities.walk_speed,
                abilities.fly_speed,
                abilities.may_fly,
                abilities.flying,
                abilities.invulnerable,
                abilities.may_build,
                abilities.instabuild,
            )),
            entered_nether_position: position.as_ref(),
            root_vehicle,
            shoulder_entity_left,
            shoulder_entity_right,
            seen_credits: self.seen_credits,
            recipe_book: Some(self.recipe_book.build(into)),
        };
        flat::Player::create(into, &args)
    }
}

fn items<'b>(items: &[super::Item], into: &mut FlatBufferBuilder<'b>) -> List<'b, flat::Item<'b>> {
    let items: Vec<_> = items.iter().map(|item| item.build(into)).collect();
    into.create_vector(&items)
}

fn strings<'b>(
    strings: &[String],
    into: &mut FlatBufferBuilder<'b>,
) -> WIPOffset<Vector<'b, ForwardsUOffset<&'b str>>> {
    let strings: Vec<_> = strings
        .iter()
        .map(|string| into.create_string(string))
        .collect();
    into.create_vector(&strings)
}

fn point((x, y, z): (f64, f64, f64)) -> flat::Point {
    flat::Point::new(x, y, z)
}

fn uuid([x0, x1, x2, x3]: [u32; 4]) -> flat::Uuid {
    flat::Uuid::new(x0, x1, x2, x3)
}

impl From<super::GameType> for flat::GameType {
    fn from(known: super::GameType) -> Self {
        Self(known as u8)
    }
}

impl super::Item {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Item<'b>> {
        let args = flat::ItemArgs {
            count: self.count,
            slot: self.slot,
            id: Some(into.create_string(&self.id)),
        };
        flat::Item::create(into, &args)
    }
}

impl super::Entity {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Entity<'b>> {
        let (yaw, pitch) = self.rotation;
        let args = flat::EntityArgs {
            id: Some(into.create_string(&self.id)),
            pos: Some(&point(self.pos)),
            motion: Some(&point(self.motion)),
            rotation: Some(&flat::Rotation::new(yaw, pitch)),
            fall_distance: self.fall_distance,
            fire: self.fire,
            air: self.air,
            on_ground: self.on_ground,
            no_gravity: self.no_gravity,
            invulnerable: self.invulnerable,
            portal_cooldown: self.portal_cooldown,
            uuid: Some(&uuid(self.uuid)),
            custom_name: self.custom_name.as_ref().map(|it| into.create_string(it)),
            custom_name_visible: self.custom_name_visible,
            silent: self.silent,
            glowing: self.glowing,
        };
        flat::Entity::create(into, &args)
    }
}

impl super::RecipeBook {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::RecipeBook<'b>> {
        let args = flat::RecipeBookArgs {
            recipes: Some(strings(&self.recipes, into)),
            to_be_displayed: Some(strings(&self.to_be_displayed, into)),
            is_filtering_craftable: self.is_filtering_craftable,
            is_gui_open: self.is_gui_open,
            is_furnace_filtering_craftable: self.is_furnace_filtering_craftable,
            is_furnace_gui_open: self.is_furnace_gui_open,
            is_blasting_furnace_filtering_craftable: self.is_blasting_furnace_filtering_craftable,
            is_blasting_furnace_gui_open: self.is_blasting_furnace_gui_open,
            is_smoker_filtering_craftable: self.is_smoker_filtering_craftable,
            is_smoker_gui_open: self.is_smoker_gui_open,
        };
        flat::RecipeBook::create(into, &args)
    }
}

walk_accessors!(flat::Players<'_> => players);
walk_accessors!(flat::Player<'_> => game_type previous_game_type score dimension selected_item_slot
    selected_item spawn_dimension spawn_x spawn_y spawn_z spawn_forced sleep_timer
    food_exhaustion_level food_saturation_level food_tick_timer xp_level xp_p xp_total xp_seed
    inventory ender_items abilities entered_nether_position root_vehicle shoulder_entity_left
    shoulder_entity_right seen_credits recipe_book);
walk_accessors!(flat::Abilities
    => walk_speed fly_speed may_fly flying invulnerable may_build instabuild);
walk_accessors!(flat::Item<'_> => count slot id);
walk_accessors!(flat::Entity<'_> => id pos motion rotation fall_distance fire air on_ground
    no_gravity invulnerable portal_cooldown uuid custom_name custom_name_visible silent glowing);
walk_accessors!(flat::Vehicle<'_> => uuid entity);
walk_accessors!(flat::Uuid => x0 x1 x2 x3);
walk_accessors!(flat::Point => x y z);
walk_accessors!(flat::Rotation => yaw pitch);
walk_accessors!(flat::RecipeBook<'_> => recipes to_be_displayed is_filtering_craftable is_gui_open
    is_furnace_filtering_craftable is_furnace_gui_open is_blasting_furnace_filtering_craftable
    is_blasting_furnace_gui_open is_smoker_filtering_craftable is_smoker_gui_open);

impl Walk for flat::GameType {
    #[inline(always)]
    fn walk(&self) -> u64 {
        self.0.walk()
    }
}

walk_accessors!(Short<flat::Player<'_>>
    => game_type previous_game_type score dimension selected_item_slot selected_item
    spawn_dimension spawn_x spawn_y spawn_z spawn_forced food_exhaustion_level
    food_saturation_level food_tick_timer xp_level xp_p xp_total xp_seed inventory ender_items
    abilities entered_nether_position root_vehicle shoulder_entity_left shoulder_entity_right
    seen_credits recipe_book);

impl Walk for Short<flat::Players<'_>> {
    #[inline(always)]
    fn walk(&self) -> u64 {
        let players = self.players().iter();
        players.fold(0, |sum, player| sum.wrapping_add(Short(player).walk()))
    }
}
