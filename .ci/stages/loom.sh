# Stage of .ci/run, which sources this file.

# All interleavings of what has no locks, up to so many forced switches between threads.
stage_loom() {
    RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3 run timeout 300 cargo test --release \
        --target-dir "$target/loom" -p jstream --lib buffer::pool::models::
    RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3 run timeout 300 cargo test --release \
        --target-dir "$target/loom" "${layers[@]}" --lib models::
}
