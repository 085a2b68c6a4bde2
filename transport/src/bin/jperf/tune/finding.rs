//! Results of studies, and their output.

use std::time::Duration;

use serde_json::{Value as Json, json as object};

use super::table::TimeTable;
use crate::units;

/// Minimum gain for which a setting is recommended. Smaller gains vary from run to run.
const WORTH: f64 = 1.05;

/// The value of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Setting {
    Time(Duration),
    /// A threshold in bytes; `None` if it is above the longest measured payload.
    Bytes(Option<u64>),
    Is(bool),
}

impl Setting {
    fn text(self) -> String {
        match self {
            Self::Time(time) => units::time(
                u64::try_from(time.as_nanos())
                    .unwrap_or(0)
                    .saturating_mul(1000),
            ),
            Self::Bytes(Some(bytes)) => units::bytes(bytes),
            Self::Bytes(None) => "none".to_owned(),
            Self::Is(is) => is.to_string(),
        }
    }

    fn json(self) -> Json {
        match self {
            Self::Time(time) => Json::from(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            Self::Bytes(bytes) => Json::from(bytes),
            Self::Is(is) => Json::from(is),
        }
    }
}

/// The best value of a setting for one device.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) scheme: &'static str,
    pub(crate) subject: &'static str,
    /// The unit of the points of the table.
    pub(crate) at: &'static str,
    /// The default of the library, if there is one.
    pub(crate) usual: Option<Setting>,
    pub(crate) found: Setting,
    /// The time of the default, divided by the time of the best setting.
    pub(crate) gain: Option<f64>,
    /// The line of code for a program.
    pub(crate) code: String,
    pub(crate) table: TimeTable,
}

pub(crate) fn heading() -> String {
    columns("device", "setting", "default", "here", "gain")
}

impl Finding {
    /// Returns true if the setting is better than the default.
    pub(crate) fn pays(&self) -> bool {
        self.usual != Some(self.found) && self.gain.is_none_or(|gain| gain >= WORTH)
    }

    fn unit(&self) -> fn(u64) -> String {
        match self.at {
            "bytes" => units::bytes,
            _ => |ns| units::time(ns.saturating_mul(1000)),
        }
    }

    pub(crate) fn lines(&self, with_points: bool) -> Vec<String> {
        let usual = self.usual.map_or("-".to_owned(), Setting::text);
        let gain = self
            .gain
            .map_or("-".to_owned(), |gain| format!("{gain:.2} x"));
        let mut line = columns(self.scheme, self.subject, &usual, &self.found.text(), &gain);
        if self.usual.is_some() && !self.pays() {
            line.push_str("  the default is as good");
        }
        let mut lines = vec![line];
        if with_points {
            let heads = self
                .table
                .choices
                .iter()
                .map(|choice| format!("{choice:>12}"));
            lines.push(format!(
                "{:>12} {}",
                self.at,
                heads.collect::<Vec<_>>().join(" ")
            ));
            for (index, at) in self.table.points.iter().enumerate() {
                let times = (0..self.table.choices.len())
                    .map(|choice| format!("{:>12}", units::time(self.table.time(index, choice))));
                let times = times.collect::<Vec<_>>().join(" ");
                lines.push(format!("{:>12} {times}", (self.unit())(*at)));
            }
        }
        lines
    }

    pub(crate) fn json(&self) -> String {
        let points = self.table.points.iter().enumerate().map(|(index, at)| {
            let times = self.table.choices.iter().enumerate().map(|(choice, name)| {
                let ns = self.table.time(index, choice) as f64 / 1e3;
                (name.clone(), Json::from(ns))
            });
            let times: serde_json::Map<_, _> = times.collect();
            object!({ "at": at, "ns": times })
        });
        object!({
            "scheme": self.scheme,
            "setting": self.subject,
            "default": self.usual.map(Setting::json),
            "here": self.found.json(),
            "gain": self.gain,
            "pays": self.pays(),
            "at": self.at,
            "points": points.collect::<Vec<_>>(),
        })
        .to_string()
    }
}

fn columns(a: &str, b: &str, c: &str, d: &str, e: &str) -> String {
    format!("{a:<8} {b:<22} {c:>10} {d:>10} {e:>8}")
}
