# Stage of .ci/run, which sources this file.

stage_lint() {
    run cargo metadata --locked --format-version 1 >/dev/null
    run cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
    run cargo metadata --locked --format-version 1 --manifest-path benches/mpi-peer/Cargo.toml >/dev/null
    run cargo clippy --workspace --all-targets --all-features -- -D warnings
    # Without the devices and parts that can be left out.
    run cargo clippy -p jstream -p jstream-transport -p jstream-rmi --no-default-features -- -D warnings
}
