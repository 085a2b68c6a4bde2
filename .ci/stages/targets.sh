# Stage of .ci/run, which sources this file.

# Platforms beside that of this machine. The table of the README has the same lists, which `tidy` compares.
# Where the crates without a transport compile.
objects_compile=(aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-msvc)
# Where the transport and remote calls compile, and where one error says that they can't run.
transport_compiles=(aarch64-unknown-linux-gnu)
transport_refused=(aarch64-apple-darwin x86_64-pc-windows-msvc)

# Other platforms: Debian's compiler builds std for them from its sources. Checking needs no linker of the platform.
stage_targets() {
    debian_rust newest rust-web-src
    export RUSTC_BOOTSTRAP=1
    local cargo=(--locked -Zbuild-std --target-dir "$target/targets")
    run cargo check "${cargo[@]}" "${objects_compile[@]/#/--target=}" -p jstream -p jstream-derive
    run cargo check "${cargo[@]}" "${transport_compiles[@]/#/--target=}" -p jstream-transport -p jstream-rmi
    local one
    for one in "${transport_refused[@]}"; do
        refuses_transport "${cargo[@]}" --target="$one"
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
