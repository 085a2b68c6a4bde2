# What is called, for Cap'n Proto.

@0xd4f0b6a1c83e5a97;

using Rust = import "rust.capnp";
$Rust.parentModule("suites::rmi::generated");

struct Item {
  id @0 :UInt64;
  name @1 :Text;
  scores @2 :List(Float32);
}

interface Service {
  null @0 ();
  sum @1 (numbers :List(Float64)) -> (sum :Float64);
  structs @2 (items :List(Item)) -> (count :UInt64, sum :Float64);
}
