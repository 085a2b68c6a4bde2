# Stage of .ci/run, which sources this file.

stage_test() {
    # What must not compile has a stage of its own.
    JSTREAM_UI=off run cargo test --workspace
    # What stands behind features that need no other package.
    run cargo test -p jstream --all-features --lib --test buffers --test format --test inspect \
        --test messages --test steady_state --test sweep
    run cargo test -p jstream --all-features --doc
    local features=jstream-transport/cli,jstream-transport/tls,jstream-rmi/cli,jstream-rmi/metrics,jstream-rmi/tls
    run cargo test -p jstream-transport -p jstream-rmi --features $features --bins --test features --test jperf \
        --test tls
    run cargo test -p jstream-transport -p jstream-rmi --features $features --test conformance tls::
}
