# Stage of .ci/run, which sources this file.

stage_examples() {
    run cargo build --release --workspace --examples
    local path name
    for path in */examples/* examples/quickstart; do
        name=$(basename "$path" .rs)
        # That workspace is another one.
        [[ $path != fuzz/* ]] || continue
        if [[ $path == *.rs || -f $path/main.rs ]]; then
            run timeout 300 cargo run --release --example "$name"
        fi
    done
    for path in */examples/coming_from/*.rs; do
        name=$(basename "$path" .rs)
        # A program for tokio, in a package that does not need it otherwise.
        [[ $name == hello ]] && continue
        run timeout 300 cargo run --release --example "coming_from_$name"
    done
    run timeout 300 cargo run --release -p jstream-rmi --features tokio --example coming_from_hello
    run timeout 300 cargo run --release -p examples --features axum --example axum
    run cargo run --release --example quickstart -- --help
    must_fail cargo run --release --example quickstart -- "$target/ci/no-such-file"
    echo 'no = [lock' >"$target/ci/malformed"
    must_fail cargo run --release --example quickstart -- "$target/ci/malformed"
    head -c 4096 /dev/urandom >"$target/ci/noise"
    must_fail cargo run --release --example quickstart -- "$target/ci/noise"
}
