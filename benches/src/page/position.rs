//! The first screen: ratios to every peer, with the targets.

use super::markup::{cells, push_table};
use super::plot::{Figure, Strip, strips};
use super::{Page, colour};
use crate::headlines::{HEADLINES, cost_ratio};
use crate::row::{Row, distinct};
use crate::{Failure, apps};

/// Returns true if the subject is not one of ours.
fn is_peer(subject: &str) -> bool {
    !subject.starts_with("jstream")
}

/// Ratios to one peer in one suite.
struct Position<'a> {
    suite: &'a str,
    peer: &'a str,
    /// Ratios with the names of their figures, in ascending order.
    ratios: Vec<(f64, String)>,
}

/// Returns the ratios of `jstream` to every peer, for figures with a distribution.
fn positions(rows: &[Row]) -> Vec<Position<'_>> {
    let mut found: Vec<Position<'_>> = Vec::new();
    let is_timed = |row: &&Row| matches!(row.unit.as_str(), "ns" | "1/s" | "B/s");
    for ours in rows
        .iter()
        .filter(is_timed)
        // Applications have a section of their own: most of their subjects are no peers.
        .filter(|row| row.suite != apps::SUITE)
        .filter(|r| r.subject == "jstream")
    {
        let same = |row: &&Row| {
            row.suite == ours.suite
                && row.case == ours.case
                && row.metric == ours.metric
                && is_peer(&row.subject)
        };
        for peer in rows.iter().filter(same) {
            let Some(ratio) = cost_ratio(ours, peer) else {
                continue;
            };
            let named = (ratio, format!("{}, {}", ours.case, ours.metric));
            let (suite, subject) = (ours.suite.as_str(), peer.subject.as_str());
            match found
                .iter_mut()
                .find(|p| p.suite == suite && p.peer == subject)
            {
                Some(position) => position.ratios.push(named),
                None => found.push(Position {
                    suite,
                    peer: subject,
                    ratios: vec![named],
                }),
            }
        }
    }
    for position in &mut found {
        position.ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    found
}

impl Position<'_> {
    /// Returns the geometric mean of the ratios.
    fn mean(&self) -> f64 {
        let logarithms: f64 = self.ratios.iter().map(|(ratio, _)| ratio.ln()).sum();
        (logarithms / self.ratios.len() as f64).exp()
    }

    fn line(&self) -> Vec<String> {
        let faster = self.ratios.iter().filter(|(ratio, _)| *ratio < 1.0).count();
        let end = |of: Option<&(f64, String)>| {
            of.map_or_else(String::new, |(ratio, name)| format!("{ratio:.2} ({name})"))
        };
        vec![
            self.peer.to_owned(),
            self.suite.to_owned(),
            format!("{:.2}", self.mean()),
            format!("{faster} of {}", self.ratios.len()),
            end(self.ratios.first()),
            end(self.ratios.last()),
        ]
    }
}

/// Appends the headlines with their targets, and the ratios to every peer.
pub(super) fn push(page: &mut Page, rows: &[Row]) -> Result<(), Failure> {
    page.paragraph(
        "Ratio of our cost (time, or inverse rate) to the peer's in the same run; less is better, \
         and 1 is equal.",
    );
    let lines: Vec<Vec<String>> = HEADLINES
        .iter()
        .filter_map(|headline| {
            let ratio = headline.ratio(rows)?;
            let (target, met) = match headline.target {
                // What is shown decides.
                Some(target) if (ratio * 100.0).round() <= (target * 100.0).round() => {
                    (format!("{target:.2}"), "yes")
                }
                Some(target) => (format!("{target:.2}"), "no"),
                None => (String::new(), ""),
            };
            Some(vec![
                headline.what.to_owned(),
                headline.peer.to_owned(),
                format!("{ratio:.2}"),
                target,
                met.to_owned(),
            ])
        })
        .collect();
    if !lines.is_empty() {
        let header = cells(["operation", "peer", "ratio", "target", "met"]);
        push_table(&mut page.out, &header, &lines);
    }
    let found = positions(rows);
    if found.is_empty() {
        return Ok(());
    }
    page.heading("Every peer");
    let subjects = distinct(rows, |row| &row.subject);
    page.out.push_str("<div class=\"plots\">\n");
    for suite in distinct(rows, |row| &row.suite) {
        let of: Vec<&Position<'_>> = found.iter().filter(|p| p.suite == suite).collect();
        if of.is_empty() {
            continue;
        }
        let mut lines = Vec::new();
        for position in &of {
            let colour = colour(&subjects, position.peer);
            let ratios = position.ratios.iter().map(|(ratio, _)| (*ratio, colour));
            lines.push(Strip {
                name: position.peer,
                ratios: ratios.collect(),
            });
        }
        page.figure(Figure {
            number: 0,
            title: format!("{suite}: our cost / the peer's, a mark for each figure"),
            description: format!(
                "Ratios of our cost to that of {} peers, on a logarithmic axis with a line at 1",
                of.len()
            ),
            svg: strips(&lines)?,
            legend: Vec::new(),
            header: cells(["peer", "suite", "mean", "faster in", "best", "worst"]),
            lines: of.iter().map(|p| p.line()).collect(),
        });
    }
    page.out.push_str("</div>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn a_position_is_the_geometric_mean_of_the_ratios() {
        let rows = [
            row("s/a", "jstream", "read", 1.0),
            row("s/a", "rkyv", "read", 2.0),
            row("s/a", "jstream-trusted", "read", 9.0),
            row("s/b", "jstream", "read", 8.0),
            row("s/b", "rkyv", "read", 1.0),
            row("s/b", "other", "read", 0.0),
        ];
        let found = positions(&rows);
        assert_eq!(found.len(), 1);
        assert!((found[0].mean() - 2.0).abs() < 1e-9);
        let line = found[0].line();
        assert_eq!(line[..4], ["rkyv", "s", "2.00", "1 of 2"]);
        assert_eq!(line[4..], ["0.50 (a, read)", "8.00 (b, read)"]);
    }
}
