# Stage of .ci/run, which sources this file.

# Races between the threads of the transport. Without an instrumented std, every lock of std looks like one.
stage_thread-sanitizer() {
    need_nightly
    [[ -d $(rustc +nightly --print sysroot)/lib/rustlib/src ]] ||
        skip "ThreadSanitizer needs a std that is instrumented too, and for that the component rust-src"
    # Simulations have one thread, so a few say what all would.
    RUSTFLAGS=-Zsanitizer=thread TSAN_OPTIONS=halt_on_error=1 JSTREAM_SCHEDULES=2 PROPTEST_CASES=4 \
        run timeout 240 cargo +nightly test -Zbuild-std --target $host --target-dir "$target/tsan" \
        "${layers[@]}" -p jstream-transport --lib --test '*'
}
