# The case `minecraft_savedata` for Cap'n Proto.

@0xb3f04a0d6e1c9b27;

using Rust = import "rust.capnp";
$Rust.parentModule("suites::serialization::generated");

enum GameType { survival @0; creative @1; adventure @2; spectator @3; }

struct Item {
  count @0 :Int8;
  slot @1 :UInt8;
  id @2 :Text;
}

# What is always there stands in groups, which need no pointer.
struct Entity {
  id @0 :Text;
  pos :group { x @1 :Float64; y @2 :Float64; z @3 :Float64; }
  motion :group { x @4 :Float64; y @5 :Float64; z @6 :Float64; }
  rotation :group { yaw @7 :Float32; pitch @8 :Float32; }
  fallDistance @9 :Float32;
  fire @10 :UInt16;
  air @11 :UInt16;
  onGround @12 :Bool;
  noGravity @13 :Bool;
  invulnerable @14 :Bool;
  portalCooldown @15 :Int32;
  uuid :group { x0 @16 :UInt32; x1 @17 :UInt32; x2 @18 :UInt32; x3 @19 :UInt32; }
  customName @20 :Text;
  customNameVisible @21 :Bool;
  silent @22 :Bool;
  glowing @23 :Bool;
}

struct Point {
  x @0 :Float64;
  y @1 :Float64;
  z @2 :Float64;
}

struct Vehicle {
  uuid :group { x0 @0 :UInt32; x1 @1 :UInt32; x2 @2 :UInt32; x3 @3 :UInt32; }
  entity @4 :Entity;
}

struct RecipeBook {
  recipes @0 :List(Text);
  toBeDisplayed @1 :List(Text);
  isFilteringCraftable @2 :Bool;
  isGuiOpen @3 :Bool;
  isFurnaceFilteringCraftable @4 :Bool;
  isFurnaceGuiOpen @5 :Bool;
  isBlastingFurnaceFilteringCraftable @6 :Bool;
  isBlastingFurnaceGuiOpen @7 :Bool;
  isSmokerFilteringCraftable @8 :Bool;
  isSmokerGuiOpen @9 :Bool;
}

# Texts and structs that may be missing are null pointers.
struct Player {
  gameType @0 :GameType;
  previousGameType @1 :GameType;
  score @2 :Int64;
  dimension @3 :Text;
  selectedItemSlot @4 :UInt32;
  selectedItem @5 :Item;
  spawnDimension @6 :Text;
  spawnX @7 :Int64;
  spawnY @8 :Int64;
  spawnZ @9 :Int64;
  spawnForced :union { none @10 :Void; some @11 :Bool; }
  sleepTimer @12 :UInt16;
  foodExhaustionLevel @13 :Float32;
  foodSaturationLevel @14 :Float32;
  foodTickTimer @15 :UInt32;
  xpLevel @16 :UInt32;
  xpP @17 :Float32;
  xpTotal @18 :Int32;
  xpSeed @19 :Int32;
  inventory @20 :List(Item);
  enderItems @21 :List(Item);
  abilities :group {
    walkSpeed @22 :Float32;
    flySpeed @23 :Float32;
    mayFly @24 :Bool;
    flying @25 :Bool;
    invulnerable @26 :Bool;
    mayBuild @27 :Bool;
    instabuild @28 :Bool;
  }
  enteredNetherPosition @29 :Point;
  rootVehicle @30 :Vehicle;
  shoulderEntityLeft @31 :Entity;
  shoulderEntityRight @32 :Entity;
  seenCredits @33 :Bool;
  recipeBook @34 :RecipeBook;
}

struct Players {
  players @0 :List(Player);
}
