# The types of the suite `evolution` that the cases of serialization do not have, for Cap'n Proto.

@0xd2c5a90e7f3b1864;

using Rust = import "rust.capnp";
$Rust.parentModule("suites::serialization::generated");

enum Kind { quote @0; order @1; trade @2; cancel @3; }

struct Record {
  id @0 :UInt64;
  kind @1 :Kind;
  flags @2 :UInt32;
  priority @3 :UInt8;
  price @4 :Float64;
  quantity @5 :UInt32;
  discount @6 :Float32;
  tax @7 :Float32;
  created @8 :UInt64;
  updated @9 :UInt64;
  active @10 :Bool;
  archived @11 :Bool;
  name @12 :Text;
  street @13 :Text;
  city @14 :Text;
  country @15 :Text;
  email @16 :Text;
  # A null pointer if it is missing.
  note @17 :Text;
  tags @18 :List(UInt32);
  weight @19 :Int32;
}

# A struct would be behind a pointer; a group is not.
struct Triangle {
  v0 :group { x @0 :Float32; y @1 :Float32; z @2 :Float32; }
  v1 :group { x @3 :Float32; y @4 :Float32; z @5 :Float32; }
  v2 :group { x @6 :Float32; y @7 :Float32; z @8 :Float32; }
  normal :group { x @9 :Float32; y @10 :Float32; z @11 :Float32; }
}

struct Model {
  triangles @0 :List(Triangle);
  material @1 :UInt32;
}
