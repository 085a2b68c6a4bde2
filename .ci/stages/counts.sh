# Stage of .ci/run, which sources this file.

# Compares the instruction counts of the hot paths with benches/benches/counts/limits.json.
# `cargo bench --workspace --bench counts -- --update` sets the limits, and prints the change.
stage_counts() {
    apt_install valgrind valgrind
    # The benchmark and the program that runs it have the same version.
    local version
    version=$(sed -n '/^name = "gungraun-runner"$/{n;s/^version = "\(.*\)"$/\1/p}' Cargo.lock)
    if [[ $(gungraun-runner --version) != "gungraun-runner $version" ]]; then
        CARGO_TARGET_DIR=$target/ci/tools run cargo install gungraun-runner --version "$version" \
            --locked --debug --force
    fi
    # With the features of the workspace, as the quickstart: most is compiled already.
    run cargo bench --workspace --bench counts
    # The paths ran, but another compiler makes other counts.
    grep -qF "\"$(rustc --version)\"" benches/benches/counts/limits.json ||
        skip "the limits of the instruction counts are not of $(rustc --version)"
}
