# Stage of .ci/run, which sources this file.

# All interleavings of what has no locks, up to so many forced switches between threads. The time for compiling
# depends on the stages beside this one, and does not count.
stage_loom() {
    export RUSTFLAGS="--cfg loom" LOOM_MAX_PREEMPTIONS=3
    # Nearly all of the time goes into compiling, so nothing is optimised.
    local tests=(cargo test --target-dir "$target/loom" --lib -pjstream{,-sync,-device,-rank,-active,-channel})
    run "${tests[@]}" --no-run
    run timeout 600 "${tests[@]}" models::
}
