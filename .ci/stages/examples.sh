# Stage of .ci/run, which sources this file.

stage_examples() {
    # All programs are built at once, with the features that two of them need: each set of features compiles
    # everything anew.
    run cargo build --release --workspace --examples --features jstream-rmi/tokio,examples/axum
    local path name programs=$target/release/examples
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
    # As the README says it.
    # Cargo may have to wait for another stage that compiles.
    run timeout 1800 cargo run --release --example quickstart
    run "$programs/quickstart" --help
    must_fail "$programs/quickstart" "$target/ci/no-such-file"
    echo 'no = [lock' >"$target/ci/malformed"
    must_fail "$programs/quickstart" "$target/ci/malformed"
    head -c 4096 /dev/urandom >"$target/ci/noise"
    must_fail "$programs/quickstart" "$target/ci/noise"
}
