//! Times of choices at points, and the search for the best choice.

/// Measured times, with a row for each point and a column for each choice.
#[derive(Debug, Clone)]
pub(crate) struct TimeTable {
    /// The points: lengths in bytes, or times in nanoseconds.
    pub(crate) points: Vec<u64>,
    pub(crate) choices: Vec<String>,
    /// Times of all rounds in picoseconds, by point and then by choice.
    rounds: Vec<Vec<u64>>,
}

impl TimeTable {
    pub(crate) fn new(points: Vec<u64>, choices: Vec<String>) -> Self {
        let cells = points.len().saturating_mul(choices.len());
        Self {
            points,
            choices,
            rounds: vec![Vec::new(); cells],
        }
    }

    pub(crate) fn add(&mut self, point: usize, choice: usize, ps: u64) {
        let cell = self.cell(point, choice);
        if let Some(rounds) = self.rounds.get_mut(cell) {
            rounds.push(ps);
            rounds.sort_unstable();
        }
    }

    fn cell(&self, point: usize, choice: usize) -> usize {
        point
            .saturating_mul(self.choices.len())
            .saturating_add(choice)
    }

    /// Returns the median of all rounds, in picoseconds.
    pub(crate) fn time(&self, point: usize, choice: usize) -> u64 {
        let rounds = self.rounds.get(self.cell(point, choice));
        let middle = rounds.and_then(|rounds| rounds.get(rounds.len() / 2));
        middle.copied().unwrap_or(0)
    }

    /// Returns the geometric mean over all points, with the choice that `rule` selects for each.
    pub(crate) fn mean(&self, rule: impl Fn(usize) -> usize) -> f64 {
        let logs = (0..self.points.len()).map(|point| {
            let time = self.time(point, rule(point)).max(1);
            (time as f64).ln()
        });
        (logs.sum::<f64>() / self.points.len().max(1) as f64).exp()
    }

    /// Returns the first choice whose mean is at most `slack` times that of the best.
    pub(crate) fn first_good(&self, slack: f64) -> usize {
        let mean = |choice: usize| self.mean(|_| choice);
        let all = 0..self.choices.len();
        let best = all.clone().map(mean).fold(f64::INFINITY, f64::min);
        all.into_iter()
            .find(|choice| mean(*choice) <= best * slack)
            .unwrap_or(0)
    }

    /// Returns the number of points, counted from the first, that should use choice 0. The others
    /// use choice 1.
    pub(crate) fn best_split(&self) -> usize {
        let mean = |split: usize| self.mean(|point| usize::from(point >= split));
        let splits = 0..=self.points.len();
        splits
            .min_by(|a, b| mean(*a).total_cmp(&mean(*b)))
            .unwrap_or(0)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "test code")]
mod tests {
    use super::*;

    fn table(times: &[[u64; 2]]) -> TimeTable {
        let points = (0..times.len() as u64).collect();
        let mut table = TimeTable::new(points, vec!["a".to_owned(), "b".to_owned()]);
        for (point, row) in times.iter().enumerate() {
            for (choice, time) in row.iter().enumerate() {
                // A single disturbed round has no effect.
                for time in [*time, 100 * time, *time] {
                    table.add(point, choice, time);
                }
            }
        }
        table
    }

    #[test]
    fn the_best_split_is_found() {
        assert_eq!(table(&[[1, 2], [2, 3], [9, 4], [20, 5]]).best_split(), 2);
        assert_eq!(table(&[[1, 2], [2, 3]]).best_split(), 2);
        assert_eq!(table(&[[3, 2], [4, 3]]).best_split(), 0);
        // A single outlier does not decide.
        assert_eq!(
            table(&[[10, 30], [21, 20], [10, 30], [90, 10]]).best_split(),
            3
        );
    }

    #[test]
    fn the_first_that_is_good_enough() {
        let times = table(&[[105, 100], [105, 100]]);
        assert_eq!(times.first_good(1.1), 0);
        assert_eq!(times.first_good(1.01), 1);
        assert!((times.mean(|_| 0) / times.mean(|_| 1) - 1.05).abs() < 1e-9);
    }
}
