# Stage of .ci/run, which sources this file.

stage_format() {
    run cargo fmt --all --check
    # `--all` would include the packages that this one depends on by path: all of the above.
    run cargo fmt --check --manifest-path fuzz/Cargo.toml
}
