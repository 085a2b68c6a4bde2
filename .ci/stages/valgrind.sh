# Stage of .ci/run, which sources this file.

stage_valgrind() {
    apt_install valgrind valgrind
    # Only what is lost for certain: std keeps its threads' data by pointers into the middle of it.
    local memcheck="valgrind -q --error-exitcode=99 --leak-check=full"
    memcheck+=" --errors-for-leak-kinds=definite --show-leak-kinds=definite"
    # Integration tests say by `cfg(valgrind)` where they do not run. The unit tests that are skipped are sweeps
    # over every byte, statistics, and schemas by the million: they say nothing new here, and take minutes.
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$memcheck RUSTFLAGS="--cfg valgrind" PROPTEST_CASES=2 \
        run timeout 1200 cargo test --target-dir "$target/valgrind" -p jstream --features testing \
        --lib --test '*' -- --skip schema::tests:: --skip buckets_fill_evenly
}
