//! Programs that break a rule must not compile, and the error must say which rule it was.

#[path = "../../jstream/tests/compile_fail/cases.rs"]
mod cases;

#[test]
fn each_rule_is_enforced() {
    cases::run();
}
