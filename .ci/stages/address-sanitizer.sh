# Stage of .ci/run, which sources this file.

# The crates with unsafe code, with all features, and with types laid out at random: what no layout may break
# does not need another build. Of the calls, which have no unsafe code, the tests with hostile peers run.
stage_address-sanitizer() {
    need_nightly
    # Integration tests say by `cfg(address_sanitizer)` where they do not run. The tests that are skipped leak on
    # purpose, sweep for minutes over bytes that the fuzz targets damage under the sanitizer too, or count what
    # millions of objects and messages take.
    RUSTFLAGS="-Zsanitizer=address --cfg address_sanitizer -Zrandomize-layout -Zlayout-seed=20240607" \
        ASAN_OPTIONS=detect_leaks=1 JSTREAM_SCHEDULES=5 PROPTEST_CASES=6 \
        run cargo +nightly test --target $host --target-dir "$target/asan" --all-features \
        -pjstream{,-sync,-base,-device,-endpoint,-rank,-channel,-transport,-rmi} --lib \
        --test format --test messages --test storage --test active --test conformance --test endpoints --test ranks \
        --test resources -- \
        --skip tls:: --skip what_was_forgotten_comes_back \
        --skip million --skip case_17 --skip every_prefix_and_every_damaged_byte
}
