# Stage of .ci/run, which sources this file.

# Races between the threads of the transport. Without an instrumented std, every lock of std looks like one: Debian's
# compiler comes with the sources of std.
stage_thread-sanitizer() {
    debian_rust newest rust-web-src
    # The runtime belongs to the LLVM of this compiler.
    local llvm
    llvm=$(dpkg -f "$debian/packages"/libstd-rust-web-[0-9]*.deb Depends | grep -om1 'libllvm[0-9]*')
    debian_rust newest "libclang-rt-${llvm#libllvm}-dev"
    # The compiler looks for the runtime among its own libraries, under a name of its own.
    cp "$debian"/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.tsan-x86_64.a \
        "$debian/usr/lib/rustlib/$host/lib/librustc-stable_rt.tsan.a"
    # Simulations have one thread. Nor do comparisons with an oracle, and long ways of one message, say more about threads
    # than the other tests do. The sanitizer takes memory, which two tests measure.
    local skipped=(sim:: oracle:: a_stream_of_many_messages an_abandoned_message_breaks_the_direction
        a_limit_of_locked_memory_degrades million thousand
        case_20_idle_connections_cost_little case_5_a_cap_over_all_connections)
    RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=thread TSAN_OPTIONS=halt_on_error=1 JSTREAM_SCHEDULES=2 PROPTEST_CASES=4 \
        run timeout 2400 cargo test -Zbuild-std --target $host --target-dir "$target/tsan" \
        "${layers[@]}" -p jstream-transport --lib --test active --test conformance --test endpoints --test ranks \
        -- "${skipped[@]/#/--skip=}"
}
