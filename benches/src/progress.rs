//! Progress display on stderr.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line on stderr that the next step overwrites. It is erased at the end.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Suite and case of the last step.
    case: String,
}

impl Progress {
    /// Creates a display, which prints nothing unless `shown`.
    pub(crate) fn new(shown: bool) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        Self {
            bar,
            case: String::new(),
        }
    }

    /// Shows a bar of `cases` cases with the remaining time.
    pub(crate) fn expect(&mut self, cases: usize) {
        self.bar.set_length(cases as u64);
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len}, {eta} left  {msg}");
        // A template that is wrong leaves the default style, and a test renders this one.
        if let Ok(style) = style {
            self.bar.set_style(style);
        }
    }

    /// Replaces the line by `what`: suite and case, and possibly a metric behind a colon. A new
    /// case advances the bar.
    pub(crate) fn step(&mut self, what: &str) {
        let (case, _) = what.split_once(": ").unwrap_or((what, ""));
        if !self.case.is_empty() && self.case != case {
            self.bar.inc(1);
        }
        case.clone_into(&mut self.case);
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_case_advances_the_bar_and_a_new_metric_does_not() {
        let mut progress = Progress::new(false);
        progress.expect(2);
        for (what, done) in [("s / a: read", 0), ("s / a: write", 0), ("s / b", 1)] {
            progress.step(what);
            assert_eq!(progress.bar.position(), done, "{what}");
        }
        assert_eq!(progress.bar.length(), Some(2));
        assert!(ProgressStyle::with_template("{wide_bar} {pos}/{len}, {eta} left  {msg}").is_ok());
    }
}
