# Stage of .ci/run, which sources this file.

stage_test() {
    # Tests of several hosts need a server of ssh, and skip themselves if it can't be installed.
    if ((EUID == 0)) && command -v apt-get >/dev/null; then
        (apt_install sshd openssh-server openssh-client) || true
    fi
    # What nothing uses without the features is a warning that the stage `lint` does not see.
    run cargo test --workspace --no-run 2>&1 | tee "$target/ci/compiled"
    ! grep -A 8 '^warning' "$target/ci/compiled" || fail "there are warnings without the features"
    # What must not compile is ignored here: it has a stage of its own.
    run cargo test --workspace
}
