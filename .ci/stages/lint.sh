# Stages of .ci/run, which sources this file.

# All but the peers of the benchmark program, whose 120 packages and generated codecs take half of the time.
stage_lint() {
    run cargo metadata --locked --format-version 1 >/dev/null
    run cargo metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
    run cargo metadata --locked --format-version 1 --manifest-path benches/mpi-peer/Cargo.toml >/dev/null
    local features
    features=$(features_but_peers)
    run cargo clippy --workspace --all-targets --features "$features" -- -D warnings
    # Tests that run only if they are named are not among all targets.
    run cargo clippy --workspace --test suites --features "$features" -- -D warnings
    # Without the devices and parts that can be left out.
    run cargo clippy -p jstream -p jstream-transport -p jstream-rmi --no-default-features -- -D warnings
}

# The benchmark program with its peers.
stage_lint-peers() {
    run cargo clippy --workspace --all-targets --all-features -- -D warnings
}

# Prints the features of all packages of the workspace but `peers`, as cargo takes them.
features_but_peers() {
    local manifest package features=
    for manifest in $(git ls-files '*Cargo.toml'); do
        # These are other workspaces.
        [[ $manifest != fuzz/* && $manifest != benches/mpi-peer/* ]] || continue
        package=$(sed -n '/^name = /{s/^name = "\(.*\)"$/\1/p;q}' "$manifest")
        features+=$(sed -n '/^\[features\]$/,/^\[/{/^peers = /!s#^\([a-z0-9_-]*\) = .*#'"$package"'/\1,#p}' "$manifest")
    done
    # An empty answer would lint without features.
    [[ $features == *jstream-rmi/tls,* ]] || fail "no features in the manifests"
    tr -d '\n' <<<"$features"
}
