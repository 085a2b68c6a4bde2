# Stage of .ci/run, which sources this file.

# Licenses and sources of the dependencies, by deny.toml.
stage_deny() {
    cargo_install cargo-deny 0.20.2
    run cargo deny --locked check bans licenses sources
}
