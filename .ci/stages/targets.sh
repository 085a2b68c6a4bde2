# Stage of .ci/run, which sources this file.

# Platforms beside that of this machine. The table of the README has the same lists, which `tidy` compares.
# Where the crates without a transport compile, and where their tests run, too.
objects_compile=(aarch64-apple-darwin x86_64-pc-windows-msvc)
objects_run=(aarch64-unknown-linux-gnu)
# Where the transport and remote calls compile, and where one error says that they can't run.
transport_compiles=(aarch64-unknown-linux-gnu)
transport_refused=(aarch64-apple-darwin x86_64-pc-windows-msvc)

# Other platforms: Debian's compiler builds std for them from its sources. Checking needs no linker of the platform. The
# tests of aarch64 run in an emulator.
stage_targets() {
    debian_rust newest rust-web-src
    export RUSTC_BOOTSTRAP=1
    local cargo=(--locked -Zbuild-std --target-dir "$target/targets")
    local targets=("${objects_compile[@]}" "${objects_run[@]}")
    run cargo check "${cargo[@]}" "${targets[@]/#/--target=}" -p jstream -p jstream-derive
    run cargo check "${cargo[@]}" "${transport_compiles[@]/#/--target=}" -p jstream-transport -p jstream-rmi
    local one
    for one in "${transport_refused[@]}"; do
        refuses_transport "${cargo[@]}" --target="$one"
    done
    apt_install aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    apt_install qemu-aarch64 qemu-user
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    # The emulator is slow, so there are few random cases. A test that starts its own program, statistics, and objects
    # by the million say nothing about the platform.
    export PROPTEST_CASES=2
    for one in "${objects_run[@]}"; do
        run timeout 1800 cargo test "${cargo[@]}" --target="$one" -p jstream --lib -- \
            --skip million --skip every_prefix --skip buckets_fill_evenly --skip text_moves_behind
        run timeout 1800 cargo test "${cargo[@]}" --target="$one" -p jstream --test messages -- \
            --skip million --skip every_byte_corrupted --skip one_corrupted_byte --skip allocat
    done
}

# Checks that the transport has one error on the platform, which says where it runs.
refuses_transport() {
    local said status=0
    echo "+ ! cargo check $* -p jstream-transport"
    said=$(cargo check "$@" -p jstream-transport 2>&1) || status=$?
    grep -q '^error: the transport of jstream needs Linux' <<<"$said" ||
        fail "no sentence says that the transport does not run there:"$'\n'"$said"
    # The other line is cargo's own, which says that the crate does not compile.
    if ((status == 0 || $(grep -c '^error' <<<"$said") != 2)); then
        fail "other errors than the sentence:"$'\n'"$said"
    fi
}
