//! Case `minecraft_savedata` with Cap'n Proto.

use capnp::{struct_list, text_list};

use crate::suites::serialization::generated::minecraft_capnp::{
    GameType, entity, item, player, players, point, recipe_book, vehicle,
};
use crate::suites::serialization::subjects::{Segmented, Short, Sum, sum_getters};

impl Segmented for super::Players {
    type Root = players::Owned;

    fn fill(&self, root: players::Builder<'_>) {
        let mut players = root.init_players(self.players.len() as u32);
        for (i, player) in (0..).zip(&self.players) {
            player.fill(players.reborrow().get(i));
        }
    }

    fn sum(root: players::Reader<'_>) -> capnp::Result<u64> {
        root.sum()
    }
}

/// Sets a point. Each point is a group or struct with its own type, hence a macro.
macro_rules! set_point {
    ($point:expr, $from:expr) => {{
        let mut point = $point;
        point.set_x($from.0);
        point.set_y($from.1);
        point.set_z($from.2);
    }};
}

/// Sets a UUID. Each UUID has its own type, too.
macro_rules! set_uuid {
    ($uuid:expr, $from:expr) => {{
        let mut uuid = $uuid;
        let [x0, x1, x2, x3] = $from;
        uuid.set_x0(x0);
        uuid.set_x1(x1);
        uuid.set_x2(x2);
        uuid.set_x3(x3);
    }};
}

impl super::Player {
    fn fill(&self, mut into: player::Builder<'_>) {
        into.set_game_type(self.game_type.into());
        into.set_previous_game_type(self.previous_game_type.into());
        into.set_score(self.score);
        into.set_dimension(&self.dimension);
        into.set_selected_item_slot(self.selected_item_slot);
        self.selected_item
            .fill(into.reborrow().init_selected_item());
        if let Some(dimension) = &self.spawn_dimension {
            into.set_spawn_dimension(dimension);
        }
        into.set_spawn_x(self.spawn_x);
        into.set_spawn_y(self.spawn_y);
        into.set_spawn_z(self.spawn_z);
        let mut spawn_forced = into.reborrow().init_spawn_forced();
        match self.spawn_forced {
            Some(forced) => spawn_forced.set_some(forced),
            None => spawn_forced.set_none(()),
        }
        into.set_sleep_timer(self.sleep_timer);
        into.set_food_exhaustion_level(self.food_exhaustion_level);
        into.set_food_saturation_level(self.food_saturation_level);
        into.set_food_tick_timer(self.food_tick_timer);
        into.set_xp_level(self.xp_level);
        into.set_xp_p(self.xp_p);
        into.set_xp_total(self.xp_total);
        into.set_xp_seed(self.xp_seed);
        let len = self.inventory.len() as u32;
        fill_items(&self.inventory, into.reborrow().init_inventory(len));
        let len = self.ender_items.len() as u32;
        fill_items(&self.ender_items, into.reborrow().init_ender_items(len));
        let mut abilities = into.reborrow().init_abilities();
        abilities.set_walk_speed(self.abilities.walk_speed);
        abilities.set_fly_speed(self.abilities.fly_speed);
        abilities.set_may_fly(self.abilities.may_fly);
        abilities.set_flying(self.abilities.flying);
        abilities.set_invulnerable(self.abilities.invulnerable);
        abilities.set_may_build(self.abilities.may_build);
        abilities.set_instabuild(self.abilities.instabuild);
        if let Some(position) = self.entered_nether_position {
            set_point!(into.reborrow().init_entered_nether_position(), position);
        }
        if let Some((uuid, entity)) = &self.root_vehicle {
            let mut vehicle = into.reborrow().init_root_vehicle();
            set_uuid!(vehicle.reborrow().init_uuid(), *uuid);
            entity.fill(vehicle.init_entity());
        }
        if let Some(entity) = &self.shoulder_entity_left {
            entity.fill(into.reborrow().init_shoulder_entity_left());
        }
        if let Some(entity) = &self.shoulder_entity_right {
            entity.fill(into.reborrow().init_shoulder_entity_right());
        }
        into.set_seen_credits(self.seen_credits);
        self.recipe_book.fill(into.init_recipe_book());
    }
}

fn fill_items(items: &[super::Item], mut into: struct_list::Builder<'_, item::Owned>) {
    for (i, item) in (0..).zip(items) {
        item.fill(into.reborrow().get(i));
    }
}

fn fill_texts(texts: &[String], mut into: text_list::Builder<'_>) {
    for (i, text) in (0..).zip(texts) {
        into.set(i, text);
    }
}

impl From<super::GameType> for GameType {
    fn from(known: super::GameType) -> Self {
        match known {
            super::GameType::Survival => Self::Survival,
            super::GameType::Creative => Self::Creative,
            super::GameType::Adventure => Self::Adventure,
            super::GameType::Spectator => Self::Spectator,
        }
    }
}

impl super::Item {
    fn fill(&self, mut into: item::Builder<'_>) {
        into.set_count(self.count);
        into.set_slot(self.slot);
        into.set_id(&self.id);
    }
}

impl super::Entity {
    fn fill(&self, mut into: entity::Builder<'_>) {
        into.set_id(&self.id);
        set_point!(into.reborrow().init_pos(), self.pos);
        set_point!(into.reborrow().init_motion(), self.motion);
        let mut rotation = into.reborrow().init_rotation();
        rotation.set_yaw(self.rotation.0);
        rotation.set_pitch(self.rotation.1);
        into.set_fall_distance(self.fall_distance);
        into.set_fire(self.fire);
        into.set_air(self.air);
        into.set_on_ground(self.on_ground);
        into.set_no_gravity(self.no_gravity);
        into.set_invulnerable(self.invulnerable);
        into.set_portal_cooldown(self.portal_cooldown);
        set_uuid!(into.reborrow().init_uuid(), self.uuid);
        if let Some(name) = &self.custom_name {
            into.set_custom_name(name);
        }
        into.set_custom_name_visible(self.custom_name_visible);
        into.set_silent(self.silent);
        into.set_glowing(self.glowing);
    }
}

impl super::RecipeBook {
    fn fill(&self, mut into: recipe_book::Builder<'_>) {
        let len = self.recipes.len() as u32;
        fill_texts(&self.recipes, into.reborrow().init_recipes(len));
        let len = self.to_be_displayed.len() as u32;
        fill_texts(
            &self.to_be_displayed,
            into.reborrow().init_to_be_displayed(len),
        );
        into.set_is_filtering_craftable(self.is_filtering_craftable);
        into.set_is_gui_open(self.is_gui_open);
        into.set_is_furnace_filtering_craftable(self.is_furnace_filtering_craftable);
        into.set_is_furnace_gui_open(self.is_furnace_gui_open);
        into.set_is_blasting_furnace_filtering_craftable(
            self.is_blasting_furnace_filtering_craftable,
        );
        into.set_is_blasting_furnace_gui_open(self.is_blasting_furnace_gui_open);
        into.set_is_smoker_filtering_craftable(self.is_smoker_filtering_craftable);
        into.set_is_smoker_gui_open(self.is_smoker_gui_open);
    }
}

sum_getters!(players::Reader<'_> => ; get_players);
sum_getters!(player::Reader<'_>
    => get_score get_selected_item_slot get_spawn_x get_spawn_y get_spawn_z get_spawn_forced
    get_sleep_timer get_food_exhaustion_level get_food_saturation_level get_food_tick_timer
    get_xp_level get_xp_p get_xp_total get_xp_seed get_abilities get_seen_credits;
    get_game_type get_previous_game_type get_dimension get_selected_item get_inventory
    get_ender_items get_recipe_book;
    has_spawn_dimension get_spawn_dimension,
    has_entered_nether_position get_entered_nether_position,
    has_root_vehicle get_root_vehicle,
    has_shoulder_entity_left get_shoulder_entity_left,
    has_shoulder_entity_right get_shoulder_entity_right);
sum_getters!(player::abilities::Reader<'_> => get_walk_speed get_fly_speed get_may_fly get_flying
    get_invulnerable get_may_build get_instabuild);
sum_getters!(item::Reader<'_> => get_count get_slot; get_id);
sum_getters!(entity::Reader<'_>
    => get_pos get_motion get_rotation get_fall_distance get_fire get_air get_on_ground
    get_no_gravity get_invulnerable get_portal_cooldown get_uuid get_custom_name_visible get_silent
    get_glowing;
    get_id;
    has_custom_name get_custom_name);
sum_getters!(entity::pos::Reader<'_> => get_x get_y get_z);
sum_getters!(entity::motion::Reader<'_> => get_x get_y get_z);
sum_getters!(entity::rotation::Reader<'_> => get_yaw get_pitch);
sum_getters!(entity::uuid::Reader<'_> => get_x0 get_x1 get_x2 get_x3);
sum_getters!(point::Reader<'_> => get_x get_y get_z);
sum_getters!(vehicle::Reader<'_> => get_uuid; get_entity);
sum_getters!(vehicle::uuid::Reader<'_> => get_x0 get_x1 get_x2 get_x3);
sum_getters!(recipe_book::Reader<'_>
    => get_is_filtering_craftable get_is_gui_open get_is_furnace_filtering_craftable
    get_is_furnace_gui_open get_is_blasting_furnace_filtering_craftable
    get_is_blasting_furnace_gui_open get_is_smoker_filtering_craftable get_is_smoker_gui_open;
    get_recipes get_to_be_displayed);

impl Sum for player::spawn_forced::Reader<'_> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        Ok(match self.which()? {
            player::spawn_forced::None(()) => 0,
            player::spawn_forced::Some(forced) => u64::from(forced) + 1,
        })
    }
}

impl Sum for GameType {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        Ok(self as u64)
    }
}

sum_getters!(Short<player::Reader<'_>>
    => get_score get_selected_item_slot get_spawn_x get_spawn_y get_spawn_z get_spawn_forced
    get_food_exhaustion_level get_food_saturation_level get_food_tick_timer
    get_xp_level get_xp_p get_xp_total get_xp_seed get_abilities get_seen_credits;
    get_game_type get_previous_game_type get_dimension get_selected_item get_inventory
    get_ender_items get_recipe_book;
    has_spawn_dimension get_spawn_dimension,
    has_entered_nether_position get_entered_nether_position,
    has_root_vehicle get_root_vehicle,
    has_shoulder_entity_left get_shoulder_entity_left,
    has_shoulder_entity_right get_shoulder_entity_right);

impl Sum for Short<players::Reader<'_>> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        let players = self.get_players()?;
        players.iter().try_fold(0, |sum: u64, player| {
            Ok(sum.wrapping_add(Short(player).sum()?))
        })
    }
}
