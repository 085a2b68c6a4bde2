# Stage of .ci/run, which sources this file.

stage_examples() {
    # They are compiled with the tests, but for two that need features.
    run cargo test --workspace --no-run
    run cargo build -p examples -p jstream-rmi --example axum --example coming_from_hello \
        --features examples/axum,jstream-rmi/tokio
    local path name programs=$target/debug/examples
    for path in */examples/* examples/quickstart examples/axum; do
        name=$(basename "$path" .rs)
        # That workspace is another one.
        [[ $path != fuzz/* ]] || continue
        if [[ $path == *.rs || -f $path/main.rs ]]; then
            run timeout 300 "$programs/$name"
        fi
    done
    for path in */examples/coming_from/*.rs; do
        run timeout 300 "$programs/coming_from_$(basename "$path" .rs)"
    done
    # As the README says it. Cargo may have to wait for another stage that compiles.
    run timeout 1800 cargo run --release --example quickstart
    run "$programs/quickstart" --help
    must_fail "$programs/quickstart" "$target/ci/no-such-file"
    echo 'no = [lock' >"$target/ci/malformed"
    must_fail "$programs/quickstart" "$target/ci/malformed"
    head -c 4096 /dev/urandom >"$target/ci/noise"
    must_fail "$programs/quickstart" "$target/ci/noise"
}
