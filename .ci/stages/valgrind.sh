# Stage of .ci/run, which sources this file.

stage_valgrind() {
    apt_install valgrind valgrind
    # Only what is lost for certain: std keeps its threads' data by pointers into the middle of it.
    local memcheck="valgrind -q --error-exitcode=99 --leak-check=full"
    memcheck+=" --errors-for-leak-kinds=definite --show-leak-kinds=definite"
    # Ten million nodes, counted allocations, sweeps over every byte, statistics, and schemas, maps and
    # shared objects by the million say nothing new here, and take minutes.
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$memcheck PROPTEST_CASES=2 \
        run timeout 600 cargo test --target-dir "$target/valgrind" -p jstream --features testing \
        --lib -- --skip schema::tests:: --skip buckets_fill_evenly
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$memcheck PROPTEST_CASES=2 \
        run timeout 600 cargo test --target-dir "$target/valgrind" -p jstream --features testing \
        --test messages --test steady_state -- round_trip:: hostile:: hostile_cases:: shared:: \
        dynamic:: fields:: owned:: maps:: forward streams:: --skip maps_hostile:: \
        --skip streams_hostile:: --skip damaged_results --skip big_maps_and_keys_that_hash_alike \
        --skip a_million_shared_objects_each_met_twice \
        --skip forwarding_allocates_nothing_in_steady_state
}
