//! Histograms of times, drawn with characters.
#![allow(
    clippy::cast_possible_truncation,
    reason = "figures of a picture, which are small"
)]

use crate::times::Times;
use crate::units;

/// Maximum number of lines, without the one for the longest times.
const LINES: usize = 20;
/// Length of the longest bar, in characters.
const WIDTH: usize = 40;
/// Number of times, out of a thousand, that the regular lines cover. The few longest are often so
/// long that the others would be invisible.
const SHOWN: u64 = 999;

/// Returns a line for each range of times, of equal width on a logarithmic scale, and one line for
/// the longest.
pub(crate) fn lines(times: &Times) -> Vec<String> {
    let (min, shown) = (times.min().max(1), times.quantile(SHOWN).max(1));
    let octaves = (shown as f64 / min as f64).log2();
    // Ranges per octave: the largest number for which the lines suffice.
    let fits = |per_octave: &f64| octaves * per_octave < (LINES as f64) - 1.0;
    let per_octave = [16.0, 8.0, 4.0, 2.0, 1.0, 0.5].into_iter().find(fits);
    let per_octave = per_octave.unwrap_or(0.25);
    let mut counts = vec![0u64; LINES];
    let mut rest = 0u64;
    for (ps, count) in times.buckets() {
        let line = ((ps.max(1) as f64 / min as f64).log2() * per_octave).max(0.0) as usize;
        let sum = match counts.get_mut(line) {
            Some(sum) if ps <= shown => sum,
            _ => &mut rest,
        };
        *sum = sum.saturating_add(count);
    }
    while counts.last() == Some(&0) {
        counts.pop();
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(rest);
    let from = |line: usize| min as f64 * (line as f64 / per_octave).exp2();
    let mut lines: Vec<_> = counts
        .iter()
        .enumerate()
        .map(|(line, count)| {
            let from = units::time(from(line) as u64);
            format!("{from:>12} {count:>10} {}", bar(*count, most))
        })
        .collect();
    if rest > 0 {
        let from = format!("> {}", units::time(shown));
        let line = format!("{from:>12} {rest:>10} {}", bar(rest, most));
        lines.push(line);
    }
    lines
}

/// Returns a bar with a resolution of an eighth of a character. Counts above 0 are always visible.
fn bar(count: u64, most: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = count as f64 / most.max(1) as f64 * (WIDTH as f64) * 8.0;
    let eighths = match count {
        0 => 0,
        _ => (eighths as usize).max(1),
    };
    let rest = PARTS.get(eighths % 8).copied().unwrap_or("");
    format!("{}{rest}", "█".repeat(eighths / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &[String]) -> u64 {
        let count = |line: &String| {
            let words: Vec<_> = line.split_whitespace().collect();
            let at = if words[0] == ">" { 3 } else { 2 };
            words[at].parse::<u64>().unwrap()
        };
        lines.iter().map(count).sum()
    }

    #[test]
    fn everything_is_shown() {
        let mut times = Times::default();
        for n in 0..10_000 {
            times.add(180_000 + n * 10);
        }
        times.add(5_000_000_000);
        let lines = lines(&times);
        assert!(lines.len() <= LINES + 1, "{lines:#?}");
        assert!(lines[0].contains("180 ns"), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains(&"█".repeat(WIDTH))));
        assert!(lines.last().unwrap().starts_with("    > "), "{lines:#?}");
        assert!(lines.last().unwrap().ends_with('▏'), "{lines:#?}");
        assert_eq!(all(&lines), 10_001);
    }

    #[test]
    fn one_time_is_one_line() {
        let mut times = Times::default();
        times.add(1_000);
        let lines = lines(&times);
        assert_eq!((lines.len(), all(&lines)), (1, 1));
    }
}
