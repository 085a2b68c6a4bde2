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
    # Tests of the whole program, of which some measure for long without optimisation.
    run cargo test --release --workspace --test suites -- --include-ignored
}

# Compiles the program of the benchmarks. The features are those of the workspace, with which the stages `counts` and
# `examples` have compiled the libraries.
build_benches() {
    run cargo build --release --workspace --bin jstream-benches 2>&1 | tee "$target/ci/benches"
    ! grep -A 8 '^warning' "$target/ci/benches" || fail "there are warnings in the program"
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
