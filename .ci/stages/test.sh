# Stage of .ci/run, which sources this file.

stage_test() {
    # Tests of several hosts need a server of ssh, and skip themselves if it can't be installed.
    if ((EUID == 0)) && command -v apt-get >/dev/null; then
        (apt_install sshd openssh-server openssh-client) || true
    fi
    # What nothing uses without the features is a warning that the stage `lint` does not see.
    run cargo test --workspace --no-run 2>&1 | tee "$target/ci/compiled"
    ! grep -A 8 '^warning' "$target/ci/compiled" || fail "there are warnings without the features"
    # What must not compile is ignored here: it has a stage of its own.
    run cargo test --workspace
    # What stands behind features: the stage `address-sanitizer` runs the other tests of `jstream`.
    run cargo test -p jstream --all-features --doc
    # Integration tests of what stands behind a feature are in modules of the name `features`.
    local features=jstream-transport/cli,jstream-transport/tls,jstream-rmi/cli,jstream-rmi/metrics,jstream-rmi/tls
    run cargo test -p jstream-transport -p jstream-rmi --features $features --bins
    local programs
    programs=$(grep -l '^mod features' {transport,rmi}/tests/*/main.rs | sed -E 's|.*/(\w+)/main.rs|--test \1|' | sort -u)
    # shellcheck disable=SC2086
    run cargo test -p jstream-transport -p jstream-rmi --features $features $programs -- features::
}
