# Stages of .ci/run, which sources this file.

# Each target for a moment, under the address sanitizer.
stage_fuzz() {
    fuzz_targets 2
}

# Each target for longer, then all inputs once more without a fuzzer, on the stable compiler, with a check that the
# seeds are still messages.
stage_fuzz-long() {
    fuzz_targets 20
    CARGO_TARGET_DIR=$target/fuzz run cargo test --manifest-path fuzz/Cargo.toml
}

# fuzz_targets SECONDS: runs each target for so long.
fuzz_targets() {
    local seconds=$1
    need_nightly
    apt_install c++ g++
    cargo_install cargo-fuzz 0.13.2
    # What the runs find stays out of the sources.
    local found=$target/ci/corpus name dictionary leaks
    # In runs this short, most of the time goes into optimisation.
    export CARGO_PROFILE_RELEASE_OPT_LEVEL=1
    (
        cd fuzz
        run cargo +nightly fuzz build
        for name in $(cargo +nightly fuzz list); do
            dictionary=messages.dict
            if [[ $name == schema ]]; then
                dictionary=schema.dict
            fi
            # Threads that are still ending when an input has ended look like leaks of that input.
            leaks=
            if grep -q peers:: "fuzz_targets/$name.rs" || [[ $name == calls ]]; then
                leaks=-detect_leaks=0
            fi
            mkdir -p "$found/$name"
            run cargo +nightly fuzz run "$name" "$found/$name" "corpus/$name" -- "-max_total_time=$seconds" \
                -max_len=8192 -timeout=10 -dict="$dictionary" -print_final_stats=1 $leaks
        done
    )
}
