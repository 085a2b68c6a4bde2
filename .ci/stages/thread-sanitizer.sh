# Stage of .ci/run, which sources this file.

# Races between the threads of the transport. Without an instrumented std, every lock of std looks like one: Debian's
# compiler comes with the sources of std.
stage_thread-sanitizer() {
    debian_rust newest rust-web-src libclang-rt-22-dev
    # The compiler looks for the runtime among its own libraries, under a name of its own.
    cp "$debian"/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.tsan-x86_64.a \
        "$debian/usr/lib/rustlib/$host/lib/librustc-stable_rt.tsan.a"
    # Simulations have one thread, so a few say what all would.
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=thread TSAN_OPTIONS=halt_on_error=1 JSTREAM_SCHEDULES=2 PROPTEST_CASES=4 \
        run timeout 1800 cargo test -Zbuild-std --target $host --target-dir "$target/tsan" \
        "${layers[@]}" -p jstream-transport --lib --test active --test conformance --test endpoints --test ranks
}
