# Stage of .ci/run, which sources this file.

stage_report() {
    local page=$target/ci/report.html compared=$target/ci/compared.html rows=$target/ci-apps.json
    apt_install python3 python3-minimal
    apt_install chromium chromium
    build_benches
    local program=$target/release/jstream-benches
    echo "+ $program report docs/performance.json --out $page"
    "$program" report docs/performance.json --out "$page" >/dev/null
    run "$program" compare docs/performance.json docs/performance.json --fail-above 0% --page "$compared"
    run python3 .ci/stages/check_page.py "$page" --plots
    run python3 .ci/stages/check_page.py "$compared"
    # Measured for the report: each application, in one arrangement of nodes.
    rm -f "$rows"
    run "$program" report --suite apps --quick --quiet --out "$page" --json "$rows"
    assert_rows "$rows"
    run grep -q "threads-2: speed-up" "$page"
    must_fail grep -q "procs-2: speed-up" "$page"
    run python3 .ci/stages/check_page.py "$page" --plots
}
