# Stage of .ci/run, which sources this file.

stage_bench() {
    local rows=$target/ci-bench.json
    local suite
    apt_install python3 python3-minimal
    build_benches
    for suite in serialization evolution buffers transport rmi; do
        rm -f "$rows"
        run "$target/release/jstream-benches" "$suite" --quick --json "$rows"
        assert_rows "$rows"
    done
    # Tests of the program that measure for long without optimisation.
    run cargo test --release --workspace --test suites -- --ignored
}

# Compiles the program of the benchmarks, and what the stage `counts` needs. The features are those of the workspace,
# with which the quickstart is compiled too.
build_benches() {
    run cargo build --release --workspace --bin jstream-benches --bench counts
}

# assert_rows FILE: it holds rows as --json writes them, and no case has only zeros.
assert_rows() {
    run python3 - "$1" <<'EOF'
import json, math, sys
with open(sys.argv[1]) as file:
    rows = json.load(file)
assert isinstance(rows, list) and rows, "no rows"
for row in rows:
    assert math.isfinite(row["value"]) and row["value"] >= 0, row
cases = {row["case"] for row in rows}
with_figures = {row["case"] for row in rows if row["value"] > 0}
assert cases == with_figures, f"only zeros in {sorted(cases - with_figures)}"
print(len(rows), "rows, each with", ", ".join(rows[0]))
EOF
}
