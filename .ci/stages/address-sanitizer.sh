# Stage of .ci/run, which sources this file.

stage_address-sanitizer() {
    need_nightly
    local tests
    # What is forgotten on purpose is a leak, and what the sanitizer itself takes is no measure of memory.
    # Sweeps over every byte take minutes; the fuzz targets damage messages under the sanitizer too. Tests that
    # count allocations look at what others do.
    mapfile -t tests < <(integration_tests "$elsewhere|inspect|sweep|*allocations" jstream transport rmi)
    RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=1 JSTREAM_SCHEDULES=5 PROPTEST_CASES=6 \
        run cargo +nightly test --target $host --target-dir "$target/asan" --all-features \
        "${layers[@]}" -p jstream -p jstream-transport -p jstream-rmi --lib "${tests[@]}" -- \
        --skip damaged_results --skip one_damaged_byte_gives_an_error_or_valid_objects \
        --skip tls:: --skip a_forgotten_future --skip what_was_forgotten_comes_back \
        --skip failed_connections_give_everything_back --skip idle_connections_cost_little \
        --skip a_million_structures_have_a_million_descriptors --skip every_prefix_and_every_damaged_byte
}
