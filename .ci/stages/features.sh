# Stage of .ci/run, which sources this file.

# Tests of what stands behind features; the stage `address-sanitizer` runs the other tests of `jstream` with all of them.
stage_features() {
    run cargo test -p jstream --all-features --doc
    # Integration tests of what stands behind a feature are in modules of the name `features`.
    local features=jstream-transport/cli,jstream-transport/tls,jstream-rmi/cli,jstream-rmi/metrics,jstream-rmi/tls
    run cargo test -p jstream-transport -p jstream-rmi --features $features --bins
    local programs
    programs=$(grep -l '^mod features' {transport,rmi}/tests/*/main.rs | sed -E 's|.*/(\w+)/main.rs|--test \1|' | sort -u)
    # shellcheck disable=SC2086
    run cargo test -p jstream-transport -p jstream-rmi --features $features $programs -- features::
}
