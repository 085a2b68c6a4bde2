# The case `log` for Cap'n Proto.

@0xe1b0bb3dbdd0a7f1;

using Rust = import "rust.capnp";
$Rust.parentModule("suites::serialization::generated");

struct Log {
  # A struct would be behind a pointer; a group is not.
  address :group { x0 @0 :UInt8; x1 @1 :UInt8; x2 @2 :UInt8; x3 @3 :UInt8; }
  identity @4 :Text;
  userid @5 :Text;
  date @6 :Text;
  request @7 :Text;
  code @8 :UInt16;
  size @9 :UInt64;
}

struct Logs {
  logs @0 :List(Log);
}
