//! Output of measurements.

use jstream::command_line;
use jstream_transport::Address;
use serde_json::json as object;

use crate::arguments::Run;
use crate::failure::Failure;
use crate::times::Times;
use crate::work::{Op, Work};
use crate::{chart, machine, output, units};

/// The result of a measurement.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) work: Work,
    pub(crate) connections: usize,
    pub(crate) times: Times,
    pub(crate) messages_per_second: f64,
}

impl Row {
    fn bytes_per_second(&self) -> f64 {
        self.messages_per_second * self.work.size as f64
    }
}

/// Printer for the rows of a run.
pub(crate) struct Report<'r> {
    arguments: &'r Run,
    address: &'r Address,
}

impl<'r> Report<'r> {
    pub(crate) fn begin(arguments: &'r Run, address: &'r Address) -> Result<Self, Failure> {
        let report = Self { arguments, address };
        if !arguments.json && !arguments.quiet {
            output::line(&command_line::title(&report.title()))?;
            output::line(&command_line::title(&heading(arguments.op.is_latency())))?;
        }
        Ok(report)
    }

    fn title(&self) -> String {
        let arguments = self.arguments;
        let mut title = format!("# {} over {}", arguments.op.name(), self.address);
        title.push_str(&format!(", received {}", arguments.receive.name()));
        title.push_str(&format!(", touched {}", arguments.touch.name()));
        if arguments.cold {
            title.push_str(", cold");
        }
        if arguments.check {
            title.push_str(", checked");
        }
        if arguments.connections > 1 {
            title.push_str(&format!(", {} connections", arguments.connections));
        }
        if arguments.op.has_window() {
            title.push_str(&format!(", window {}", arguments.window()));
        }
        if arguments.op == Op::Tags {
            title.push_str(&format!(", order {}", arguments.order.name()));
            title.push_str(&format!(", depth {}", arguments.depth));
        }
        title.push_str(&format!(
            "; reading the clock takes {}",
            units::time(machine::clock())
        ));
        title
    }

    pub(crate) fn row(&self, row: &Row) -> Result<(), Failure> {
        if self.arguments.json {
            return output::line(&self.json(row));
        }
        output::line(&text(row))?;
        if self.arguments.histogram {
            for line in chart::lines(&row.times) {
                output::line(&line)?;
            }
        }
        Ok(())
    }

    fn json(&self, row: &Row) -> String {
        let ns = |ps: u64| ps as f64 / 1e3;
        let (work, times) = (&row.work, &row.times);
        object!({
            "op": work.op.name(),
            "address": self.address.to_string(),
            "scheme": self.address.scheme(),
            "bytes": work.size,
            "receive": work.receive.name(),
            "touch": work.touch.name(),
            "cold": self.arguments.cold,
            "check": work.check,
            "connections": row.connections,
            "window": work.op.has_window().then_some(work.window),
            "order": (work.op == Op::Tags).then_some(work.order.name()),
            "depth": (work.op == Op::Tags).then_some(work.depth),
            "samples": times.count(),
            "min_ns": ns(times.min()),
            "p50_ns": ns(times.quantile(500)),
            "p99_ns": ns(times.quantile(990)),
            "max_ns": ns(times.max()),
            "mean_ns": ns(times.mean()),
            "messages_per_second": row.messages_per_second,
            "bytes_per_second": row.bytes_per_second(),
        })
        .to_string()
    }
}

fn heading(is_latency: bool) -> String {
    if is_latency {
        columns("bytes", "min", "p50", "p99", "max", "B/s", "samples")
    } else {
        columns("bytes", "B/s", "msg/s", "p50", "p99", "max", "samples")
    }
}

fn text(row: &Row) -> String {
    let times = &row.times;
    let size = units::bytes(row.work.size as u64);
    let speed = units::speed(row.bytes_per_second());
    let rate = units::rate(row.messages_per_second);
    let [min, p50, p99, max] = [
        times.min(),
        times.quantile(500),
        times.quantile(990),
        times.max(),
    ]
    .map(units::time);
    let samples = times.count().to_string();
    if row.work.op.is_latency() {
        columns(&size, &min, &p50, &p99, &max, &speed, &samples)
    } else {
        columns(&size, &speed, &rate, &p50, &p99, &max, &samples)
    }
}

fn columns(a: &str, b: &str, c: &str, d: &str, e: &str, f: &str, g: &str) -> String {
    format!("{a:>8} {b:>12} {c:>12} {d:>12} {e:>12} {f:>12} {g:>10}")
}
