# Stage of .ci/run, which sources this file.

# All interleavings of what has no locks, up to so many forced switches between threads. The time for compiling
# depends on the stages beside this one, and does not count.
stage_loom() {
    export RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3
    # Nearly all of the time goes into compiling, so nothing is optimised.
    local tests=(cargo test --target-dir "$target/loom" --lib)
    local packages=(-pjstream-{sync,device,rank,active,channel})
    run "${tests[@]}" --no-run -p jstream
    run timeout 600 "${tests[@]}" -p jstream buffer::pool::models::
    run "${tests[@]}" --no-run "${packages[@]}"
    run timeout 600 "${tests[@]}" "${packages[@]}" models::
}
