# Stages of .ci/run, which sources this file.

# The tests of `jstream`, whose unsafe code reads what peers wrote, and the unit tests of the layers that have unsafe
# code outside their tests.
stage_address-sanitizer() {
    sanitize_addresses -pjstream{,-sync,-base,-device,-rank} --lib --test format --test messages --test storage
}

# The integration tests of the transport, and the unit tests of the layers with next to no unsafe code.
stage_address-sanitizer-transport() {
    sanitize_addresses -pjstream-{endpoint,channel,transport} --lib \
        --test active --test conformance --test endpoints --test ranks
}

# sanitize_addresses ARGUMENT...: runs test programs of crates with unsafe code, with all features, and with
# types laid out at random: what no layout may break does not need another build. Calls have no unsafe code, and a
# fuzz target attacks a server under the sanitizer.
sanitize_addresses() {
    need_nightly
    # Integration tests say by `cfg(address_sanitizer)` where they do not run. The tests that are skipped leak on
    # purpose, sweep for minutes over bytes that the fuzz targets damage under the sanitizer too, do by the thousand
    # what others do a few times, exchange between many ranks what others send between two, or simulate for long what
    # has no unsafe code.
    local skipped=(tls:: what_was_forgotten_comes_back case_17 every_prefix_and_every_damaged_byte
        each_byte_counts_or_does_no_harm each_byte_matters_or_means_nothing damage_gives_errors_or_valid_archives
        million thousand a_stream_of_many_messages a_limit_of_locked_memory_degrades
        who_waits_for_a_number_is_told_of_one
        collectives::{posted,results,failures,groups}:: worlds:: survival:: model::ways::
        messages_that_overtake_each_other_on_the_way_are_noticed all_that_are_left_agree
        nothing_exceeds_the_window_and_nothing_waits_for_ever)
    RUSTFLAGS="-Zsanitizer=address --cfg address_sanitizer -Zrandomize-layout -Zlayout-seed=20240607" \
        ASAN_OPTIONS=detect_leaks=1 JSTREAM_SCHEDULES=5 PROPTEST_CASES=6 \
        run cargo +nightly test --target $host --target-dir "$target/asan" --all-features \
        "$@" -- "${skipped[@]/#/--skip=}"
}
