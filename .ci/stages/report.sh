# Stage of .ci/run, which sources this file.

stage_report() {
    local page=$target/ci/report.html compared=$target/ci/compared.html
    apt_install python3 python3-minimal
    apt_install chromium chromium
    build_benches
    local program=$target/release/jstream-benches
    echo "+ $program report docs/performance.json --out $page"
    "$program" report docs/performance.json --out "$page" >/dev/null
    run "$program" compare docs/performance.json docs/performance.json --fail-above 0% --page "$compared"
    run python3 .ci/stages/check_page.py "$page" --plots
    run python3 .ci/stages/check_page.py "$compared"
}
