//! Plots as inline SVG, drawn by `plotters`.
//!
//! A plot is as wide as a phone, so that its text stays legible there. Its colours are variables of
//! the page, which differ between the light and the dark scheme.

use std::fmt::Write;
use std::ops::Range;

use plotters::coord::combinators::{BindKeyPoints, LogCoord, WithKeyPoints};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::markup::{escape, push_details};
use crate::Failure;
use crate::distribution::Distribution;

/// Number of colours of the page for subjects. They repeat after the last one.
pub(super) const COLOURS: usize = 8;
/// Width of a plot in pixels, as on a phone.
const WIDTH: u32 = 360;
/// Space for the names of the lines of a box plot, in pixels.
const NAMES: u32 = 136;
/// Height of a line of a box plot, in pixels.
const LINE: u32 = 24;
/// Size of the text in pixels, of which `plotters` makes 1.24 times less.
const TEXT: u32 = 14;

/// A plot with its text and the table that says the same.
pub(super) struct Figure {
    /// Number of the figure, unique on the page.
    pub(super) number: usize,
    pub(super) title: String,
    /// Description for readers who do not see the plot.
    pub(super) description: String,
    pub(super) svg: String,
    /// Names and colours of the series, if the plot does not name them itself.
    pub(super) legend: Vec<(String, usize)>,
    pub(super) header: Vec<String>,
    pub(super) lines: Vec<Vec<String>>,
}

impl Figure {
    /// Appends the figure to the page.
    pub(super) fn push(&self, out: &mut String) {
        let Self { number, title, .. } = self;
        let title = escape(title);
        // The size and the name space of the SVG are not needed in a page.
        let (_, body) = self.svg.split_once('>').unwrap_or_default();
        let open = self.svg.split('"').nth(5).unwrap_or_default();
        // Writing to a `String` cannot fail, neither here nor below.
        let _ = write!(
            out,
            "<figure>\n<figcaption>{title}</figcaption>\n\
             <svg viewBox=\"{open}\" role=\"img\" aria-labelledby=\"t{number} d{number}\">\n\
             <title id=\"t{number}\">{title}</title><desc id=\"d{number}\">{}</desc>{}",
            escape(&self.description),
            themed(body.trim_end()),
        );
        if !self.legend.is_empty() {
            out.push_str("\n<p class=\"legend\">");
            for (name, colour) in &self.legend {
                let name = escape(name);
                let _ = write!(out, "<span><i class=\"c{colour}\"></i>{name}</span> ");
            }
            out.push_str("</p>");
        }
        out.push('\n');
        push_details(out, "Figures", &self.header, &self.lines);
        out.push_str("</figure>\n");
    }
}

/// Returns the colour that stands for the variable `--c{index}` until the plot is complete.
fn series(index: usize) -> RGBColor {
    RGBColor(1, 2, (index % COLOURS) as u8)
}

/// Colours that stand for those of the text and of lines in the background.
const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(1, 1, 2);

/// Replaces the colours of the plot by variables of the page.
fn themed(svg: &str) -> String {
    let mut svg = svg
        .replace("\"#010101\"", "\"var(--text)\"")
        .replace("\"#010102\"", "\"var(--grid)\"");
    for index in 0..COLOURS {
        let RGBColor(r, g, b) = series(index);
        let stand_in = format!("\"#{r:02X}{g:02X}{b:02X}\"");
        svg = svg.replace(&stand_in, &format!("\"var(--c{index})\""));
    }
    // Attributes that have their default, or are the page's.
    for default in [
        " opacity=\"1\"",
        " font-family=\"sans-serif\"",
        " stroke-width=\"1\"",
    ] {
        svg = svg.replace(default, "");
    }
    svg
}

/// A curve: points with positive coordinates, and its colour.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
}

/// Returns the range of positive values, widened by a tenth of its length on a logarithmic scale.
/// The range of nothing is that from 1 to 10.
fn log_range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let positive = values.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return 1.0..10.0;
    }
    let widened = (high / low).powf(0.1).max(1.05);
    low / widened..high * widened
}

/// Returns at most `most` values for the labels of a logarithmic axis: powers of ten, or the finest
/// round multiples of them that are not more. No two of them are so close that labels overlap.
fn ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    // Steps between the multiples of a power, in tenths of it. The powers alone come last.
    let multiples = |step: usize| (10..100).step_by(step).map(|tenths| tenths as f64 / 10.0);
    let mut sets: Vec<Vec<f64>> = [1, 2, 5, 10].map(|step| multiples(step).collect()).into();
    sets.extend([vec![1.0, 2.0, 5.0], vec![1.0, 3.0], vec![1.0]]);
    let powers = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
    let within = |multiples: &[f64], every: usize| -> Vec<f64> {
        let powers = powers.clone().step_by(every);
        let all = powers.flat_map(|power| multiples.iter().map(move |m| m * 10f64.powi(power)));
        all.filter(|value| range.contains(value)).collect()
    };
    let by_multiples = sets.iter().map(|multiples| within(multiples, 1));
    let by_powers = (2..10).map(|every| within(&[1.0], every));
    let mut found = by_multiples.chain(by_powers);
    // A logarithmic axis of this length has room for `most` labels and one more.
    let closest = (range.end / range.start).powf(1.0 / (most + 1) as f64);
    let are_apart = |ticks: &[f64]| {
        let mut pairs = ticks.iter().zip(ticks.iter().skip(1));
        pairs.all(|(one, next)| next / one >= closest)
    };
    found
        .find(|ticks| ticks.len() <= most && are_apart(ticks))
        .unwrap_or_default()
}

/// Draws curves over the size, with logarithmic axes.
pub(super) fn curves(curves: &[Curve], size: Unit, unit: Unit) -> Result<String, Failure> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = log_range(points().map(|(x, _)| *x));
    let y = log_range(points().map(|(_, y)| *y));
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, 230)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(4)
            .margin_right(12)
            .x_label_area_size(24)
            .y_label_area_size(66)
            .build_cartesian_2d(
                x.log_scale().base(16.0),
                y.clone().log_scale().with_key_points(ticks(&y, 6)),
            )?;
        chart
            .configure_mesh()
            .x_labels(6)
            .max_light_lines(0)
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", TEXT, &INK))
            .x_label_formatter(&|value| size.format(*value))
            .y_label_formatter(&|value| unit.format(*value))
            .draw()?;
        for curve in curves {
            let colour = series(curve.colour);
            let line = LineSeries::new(curve.points.iter().copied(), colour.stroke_width(2));
            chart.draw_series(line)?;
            let marks = curve.points.iter();
            chart.draw_series(marks.map(|at| Circle::new(*at, 3, colour.filled())))?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// A line of a plot whose horizontal axis is logarithmic: its name, and its colour.
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) colour: usize,
}

type Horizontal<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<WithKeyPoints<LogCoord<f64>>, RangedCoordf64>>;

/// Draws named lines above a horizontal logarithmic axis; `draw` draws the marks.
fn lines(
    names: &[&str],
    x: Range<f64>,
    unit: Unit,
    draw: impl FnOnce(&mut Horizontal<'_, '_>) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let height = LINE * names.len() as u32 + 32;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let left = x.start;
        let mut chart = ChartBuilder::on(&root)
            .margin(4)
            .margin_right(18)
            .x_label_area_size(22)
            .y_label_area_size(NAMES)
            .build_cartesian_2d(
                x.clone().log_scale().with_key_points(ticks(&x, 4)),
                names.len() as f64..0.0,
            )?;
        chart
            .configure_mesh()
            .x_labels(4)
            .y_labels(0)
            .disable_y_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .light_line_style(GRID)
            .axis_style(GRID)
            .label_style(("sans-serif", TEXT, &INK))
            .x_label_formatter(&|value| unit.format(*value))
            .draw()?;
        let style = ("sans-serif", TEXT, &INK)
            .into_text_style(&root)
            .pos(Pos::new(HPos::Right, VPos::Center));
        for (n, name) in names.iter().enumerate() {
            let (px, py) = chart.backend_coord(&(left, n as f64 + 0.5));
            root.draw_text(name, &style, (px - 6, py))?;
        }
        draw(&mut chart)?;
        root.present()?;
    }
    Ok(svg)
}

/// Draws a box for each distribution: a line from the minimum to the 99th percentile, a box between
/// the quartiles, and a mark at the median.
pub(super) fn boxes(all: &[(Name<'_>, &Distribution)]) -> Result<String, Failure> {
    let ends = all.iter().flat_map(|(_, d)| [d.min, d.p99]);
    // A time below the resolution of a histogram has no logarithm.
    let at_least = |ns: f64| ns.max(1e-3);
    let names: Vec<&str> = all.iter().map(|(name, _)| name.text).collect();
    lines(&names, log_range(ends.map(at_least)), Unit::Time, |chart| {
        for (n, (name, d)) in all.iter().enumerate() {
            let y = n as f64 + 0.5;
            let colour = series(name.colour);
            let [min, q1, median, q3, p99] = [d.min, d.q1, d.median, d.q3, d.p99].map(at_least);
            let whisker = PathElement::new([(min, y), (p99, y)], colour.stroke_width(1));
            chart.draw_series([whisker])?;
            let corners = [(q1, y - 0.25), (q3, y + 0.25)];
            chart.draw_series([Rectangle::new(corners, colour.filled())])?;
            let middle = [(median, y - 0.4), (median, y + 0.4)];
            chart.draw_series([PathElement::new(middle, INK.stroke_width(2))])?;
        }
        Ok(())
    })
}

/// A line of ratios: its name, and each ratio with its colour.
pub(super) struct Strip<'a> {
    pub(super) name: &'a str,
    pub(super) ratios: Vec<(f64, usize)>,
}

/// Draws each ratio as a circle in the line of its name, and a line at the ratio 1.
pub(super) fn strips(all: &[Strip<'_>]) -> Result<String, Failure> {
    let values = all.iter().flat_map(|strip| strip.ratios.iter());
    let names: Vec<&str> = all.iter().map(|strip| strip.name).collect();
    // Ratios far from 1 stand at the edge, so that those near 1 can be told apart.
    let clamped = |ratio: f64| ratio.clamp(0.01, 100.0);
    let x = log_range(values.map(|(ratio, _)| clamped(*ratio)).chain([0.5, 2.0]));
    lines(&names, x, Unit::Number, |chart| {
        let count = all.len() as f64;
        let equal = PathElement::new([(1.0, 0.0), (1.0, count)], INK.stroke_width(1));
        chart.draw_series([equal])?;
        for (n, strip) in all.iter().enumerate() {
            let marks = strip.ratios.iter().map(|(ratio, colour)| {
                let at = (clamped(*ratio), n as f64 + 0.5);
                Circle::new(at, 4, series(*colour).mix(0.55).filled())
            });
            chart.draw_series(marks)?;
        }
        Ok(())
    })
}

/// Unit of an axis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Bytes,
    /// Nanoseconds.
    Time,
    /// Bytes in a second.
    Bandwidth,
    /// Operations in a second.
    Rate,
    /// No unit.
    Number,
}

impl Unit {
    /// Returns the unit of a row's figure. Counts have none.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "ns" => Self::Time,
            "B" => Self::Bytes,
            "B/s" => Self::Bandwidth,
            "1/s" => Self::Rate,
            _ => Self::Number,
        }
    }

    /// Formats a value with the unit that makes it short.
    pub(super) fn format(self, value: f64) -> String {
        let steps: &[(f64, &str)] = match self {
            Self::Bytes => &[
                (1.0, " B"),
                (1024.0, " KiB"),
                (1_048_576.0, " MiB"),
                (1_073_741_824.0, " GiB"),
            ],
            Self::Time => &[(1.0, " ns"), (1e3, " us"), (1e6, " ms"), (1e9, " s")],
            Self::Bandwidth => &[
                (1.0, " B/s"),
                (1e3, " KB/s"),
                (1e6, " MB/s"),
                (1e9, " GB/s"),
            ],
            Self::Rate => &[(1.0, " /s"), (1e3, " k/s"), (1e6, " M/s"), (1e9, " G/s")],
            Self::Number => &[(1.0, "")],
        };
        let step = steps.iter().rev().find(|(size, _)| value >= *size);
        let (size, name) = step.or(steps.first()).copied().unwrap_or((1.0, ""));
        let value = value / size;
        // Three significant digits, without zeros at the end.
        let text = if value >= 100.0 {
            format!("{value:.0}")
        } else if value >= 10.0 {
            format!("{value:.1}")
        } else if value >= 0.1 {
            format!("{value:.2}")
        } else {
            format!("{value:.3}")
        };
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            text.as_str()
        };
        format!("{text}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_labels_whatever_its_range() {
        let all = |range: Range<f64>| ticks(&range, 4);
        assert_eq!(all(0.9..11.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(all(1.9..4.2), [2.0, 3.0, 4.0]);
        assert_eq!(all(8.5..32.0), [10.0, 20.0]);
        assert_eq!(all(8.0..2e3), [10.0, 100.0, 1e3]);
        assert_eq!(all(0.5..1e12).len(), 4);
        for (low, high) in [(1.02, 1.13), (3.3, 3.7), (1.0, 1e30), (96.0, 105.0)] {
            let count = all(low..high).len();
            assert!((1..=4).contains(&count), "{low} to {high}: {count}");
        }
    }

    #[test]
    fn figures_have_a_short_unit() {
        for (value, unit, text) in [
            (1_607_200.0, "ns", "1.61 ms"),
            (27_541_287_596.0, "B/s", "27.5 GB/s"),
            (9_168_549.0, "1/s", "9.17 M/s"),
            (4_096.0, "B", "4 KiB"),
            (2.0, "count", "2"),
        ] {
            assert_eq!(Unit::of(unit).format(value), text);
        }
    }
}
