# Stage of .ci/run, which sources this file.

stage_compile-fail() {
    # Words differ from one compiler to the next, and with the sources of std; elsewhere the tests
    # compare the errors' codes.
    if [[ $(rustc --version) == "rustc 1.95."* && ! -d $(rustc --print sysroot)/lib/rustlib/src ]]; then
        export JSTREAM_UI_TEXT=1
    fi
    # As a part of the whole workspace, whose packages are compiled already.
    run cargo test --workspace --test compile_fail -- --include-ignored
}
