# What Cap'n Proto's Rust generator understands of annotations, as far as it is used here.

@0x83b3c14c3c8dd083;

annotation parentModule @0xabee386cd1450364 (file) :Text;
