# Stage of .ci/run, which sources this file.

stage_test() {
    # Tests of several hosts need a server of ssh, and skip themselves if it can't be installed.
    if ((EUID == 0)) && command -v apt-get >/dev/null; then
        (apt_install sshd openssh-server openssh-client) || true
    fi
    # What must not compile is ignored here: it has a stage of its own.
    run cargo test --workspace
    # What stands behind features: of `jstream`, the stages `layout` and `address-sanitizer` run the other tests.
    run cargo test -p jstream --all-features --doc
    # Integration tests of what stands behind a feature are in modules of the name `features`.
    local features=jstream-transport/cli,jstream-transport/tls,jstream-rmi/cli,jstream-rmi/metrics,jstream-rmi/tls
    run cargo test -p jstream-transport -p jstream-rmi --features $features --bins
    run cargo test -p jstream-transport -p jstream-rmi --features $features --test '*' -- features::
}
