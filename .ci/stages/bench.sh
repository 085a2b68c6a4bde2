# Stage of .ci/run, which sources this file.

stage_bench() {
    local rows=$target/ci-bench.json
    local suite
    apt_install python3 python3-minimal
    build_benches
    for suite in serialization buffers transport rmi; do
        rm -f "$rows"
        run "$target/release/jstream-benches" "$suite" --quick --json "$rows"
        assert_rows "$rows"
    done
}

# Compiles the program of the benchmarks, together with what the stage `counts` needs: with the same features.
build_benches() {
    run cargo build --release -p jstream-benches --bin jstream-benches --bench counts
}

# assert_rows FILE: it holds rows as --json writes them.
assert_rows() {
    run python3 - "$1" <<'EOF'
import json, sys
with open(sys.argv[1]) as file:
    rows = json.load(file)
assert isinstance(rows, list) and rows, "no rows"
assert all(isinstance(row, dict) and row for row in rows), "a row without columns"
print(len(rows), "rows, each with", ", ".join(rows[0]))
EOF
}
