# Stage of .ci/run, which sources this file.

stage_test() {
    # Tests of several hosts need a server of ssh, and skip themselves if it can't be installed.
    if ((EUID == 0)) && command -v apt-get >/dev/null; then
        (apt_install sshd openssh-server openssh-client) || true
    fi
    # Twice as many random cases and schedules as by default.
    export JSTREAM_EFFORT=2
    # What must not compile is ignored here: it has a stage of its own.
    run cargo test --workspace
    # What stands behind features that need no other package.
    run cargo test -p jstream --all-features
    # Integration tests of what stands behind a feature are in modules of the name `features`.
    local features=jstream-transport/cli,jstream-transport/tls,jstream-rmi/cli,jstream-rmi/metrics,jstream-rmi/tls
    run cargo test -p jstream-transport -p jstream-rmi --features $features --bins
    run cargo test -p jstream-transport -p jstream-rmi --features $features --test '*' -- features::
}
