# Stage of .ci/run, which sources this file.

stage_address-sanitizer() {
    need_nightly
    # Integration tests say by `cfg(address_sanitizer)` where they do not run. The unit tests that are skipped
    # leak on purpose, or sweep for minutes over bytes that the fuzz targets damage under the sanitizer too.
    RUSTFLAGS="-Zsanitizer=address --cfg address_sanitizer" ASAN_OPTIONS=detect_leaks=1 \
        JSTREAM_SCHEDULES=5 PROPTEST_CASES=6 \
        run cargo +nightly test --target $host --target-dir "$target/asan" --all-features \
        "${layers[@]}" -p jstream -p jstream-transport -p jstream-rmi --lib --test '*' -- \
        --skip tls:: --skip what_was_forgotten_comes_back \
        --skip a_million_structures_have_a_million_descriptors --skip every_prefix_and_every_damaged_byte
}
