# The case `mesh` for Cap'n Proto.

@0x9d4a1c1e3a7e5b62;

using Rust = import "rust.capnp";
$Rust.parentModule("suites::serialization::generated");

# A struct would be behind a pointer; a group is not.
struct Triangle {
  v0 :group { x @0 :Float32; y @1 :Float32; z @2 :Float32; }
  v1 :group { x @3 :Float32; y @4 :Float32; z @5 :Float32; }
  v2 :group { x @6 :Float32; y @7 :Float32; z @8 :Float32; }
  normal :group { x @9 :Float32; y @10 :Float32; z @11 :Float32; }
}

struct Mesh {
  triangles @0 :List(Triangle);
}
