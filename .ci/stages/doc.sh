# Stage of .ci/run, which sources this file.

stage_doc() {
    RUSTDOCFLAGS=-Dwarnings run cargo doc --workspace --no-deps --all-features
}
