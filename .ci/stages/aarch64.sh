# Stage of .ci/run, which sources this file.

# Where the tests of `jstream` run in an emulator. The table of the README has the same list, which `tidy` compares.
objects_emulated=(aarch64-unknown-linux-gnu)

# Tests of `jstream` on aarch64: built by Debian's compiler, which builds std from its sources, and run by qemu.
stage_aarch64() {
    debian_rust newest rust-web-src
    apt_install qemu-aarch64 qemu-user
    apt_install aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    export RUSTC_BOOTSTRAP=1 PROPTEST_CASES=2
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    local tests=(cargo test --locked -Zbuild-std --target-dir "$target/targets"
        --target="${objects_emulated[0]}" -p jstream)
    # The emulator takes 20 to 50 times as long. Left out are the tests that memcheck leaves out, for the same reason, sweeps
    # over random layouts and damages, and tests that start their own program, which the system would not run.
    run timeout 2400 "${tests[@]}" --lib --test storage --test format -- "${slow_units[@]}" \
        --skip a_message_survives_the_way_through_random_layouts --skip damage_gives_errors_or_messages \
        --skip buffers::exhaustion:: --skip files::crash::
    run timeout 2400 "${tests[@]}" --test messages -- "${slow_messages[@]}"
    run timeout 2400 "${tests[@]}" --test evolution -- --skip hostile::
}
