# Stage of .ci/run, which sources this file.

# All interleavings of what has no locks, up to so many forced switches between threads. The time for compiling
# depends on the stages beside this one, and does not count.
stage_loom() {
    export RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3
    local tests=(cargo test --release --target-dir "$target/loom" --lib)
    run "${tests[@]}" --no-run -p jstream
    run timeout 300 "${tests[@]}" -p jstream buffer::pool::models::
    run "${tests[@]}" --no-run "${layers[@]}"
    run timeout 300 "${tests[@]}" "${layers[@]}" models::
}
