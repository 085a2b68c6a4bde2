# The case `mk48` for Cap'n Proto.

@0xc5a1d0b7f2e39481;

using Rust = import "rust.capnp";
$Rust.parentModule("suites::serialization::generated");

enum EntityType {
  arleighBurke @0; bismarck @1; clemenceau @2; fletcher @3; g5 @4;
  iowa @5; kolkata @6; osa @7; yasen @8; zubr @9;
}

struct Contact {
  damage @0 :UInt8;
  entityId @1 :UInt32;
  entityType :union { none @2 :Void; some @3 :EntityType; }
  guidance :group { angle @4 :UInt16; submerge @5 :Bool; velocity @6 :Int16; }
  playerId :union { none @7 :Void; some @8 :UInt16; }
  reloads @9 :List(Bool);
  transform :group {
    altitude @10 :Int8;
    angle @11 :UInt16;
    x @12 :Float32;
    y @13 :Float32;
    velocity @14 :Int16;
  }
  turretAngles @15 :List(UInt16);
}

struct TerrainUpdate {
  x @0 :Int8;
  y @1 :Int8;
  data @2 :Data;
}

struct Update {
  contacts @0 :List(Contact);
  score @1 :UInt32;
  worldRadius @2 :Float32;
  terrainUpdates @3 :List(TerrainUpdate);
}

struct Updates {
  updates @0 :List(Update);
}
