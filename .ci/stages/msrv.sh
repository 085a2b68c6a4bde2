# Stage of .ci/run, which sources this file.

# The compiler of `rust-version`, as Debian packages it.
stage_msrv() {
    debian_rust "$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)"
    run cargo check --locked --target-dir "$target/msrv" \
        -p jstream -p jstream-derive -p jstream-transport -p jstream-rmi
}
