//! Compile-fail tests: programs that break a rule must not compile, and the error must name the
//! rule.

#[path = "compile_fail/cases.rs"]
mod cases;

#[test]
fn each_rule_is_enforced() {
    cases::run();
}
