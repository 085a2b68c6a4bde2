//! Progress display on the standard error output.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on the standard error output, which is erased at the end. Nothing is printed if this is
/// not a terminal.
#[derive(Debug)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    const TEMPLATE: &str = "{wide_bar} {pos}/{len} objects, {eta} left";

    /// Shows a bar of `objects` objects, the first `done` of which are done. Prints nothing unless
    /// `shown`.
    pub(super) fn new(objects: u64, done: u64, shown: bool) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(objects), target).with_position(done);
        bar.reset_eta();
        // A template that is wrong leaves the default style, and a test parses this one.
        if let Ok(style) = ProgressStyle::with_template(Self::TEMPLATE) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Counts an object.
    pub(super) fn advance(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_an_earlier_run_are_done() {
        assert!(ProgressStyle::with_template(Progress::TEMPLATE).is_ok());
        let progress = Progress::new(9, 4, false);
        progress.advance();
        assert_eq!((progress.0.position(), progress.0.length()), (5, Some(9)));
    }
}
