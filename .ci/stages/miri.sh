# Stage of .ci/run, which sources this file.

stage_miri() {
    need_nightly
    cargo +nightly miri --version 2>/dev/null || skip "this nightly has no Miri"
    [[ -d $(rustc +nightly --print sysroot)/lib/rustlib/src ]] ||
        skip "Miri needs the component rust-src"
    MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 \
        run timeout 900 cargo +nightly miri test --target-dir "$target/miri" -p jstream --lib
}
