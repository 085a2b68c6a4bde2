//! Display and parsing of quantities with units.

use std::time::Duration;

/// Formats a time in picoseconds with three digits.
pub(crate) fn time(ps: u64) -> String {
    scaled(ps as f64 / 1e3, 1e3, &["ns", "us", "ms"], "s")
}

/// Formats a rate per second.
pub(crate) fn rate(per_second: f64) -> String {
    scaled(per_second, 1e3, &["/s", "k/s", "M/s"], "G/s")
}

/// Formats a number of bytes per second in decimal units.
pub(crate) fn speed(per_second: f64) -> String {
    scaled(per_second, 1e3, &["B/s", "KB/s", "MB/s"], "GB/s")
}

/// Formats a number of bytes in binary units, in the shortest form that is exact.
pub(crate) fn bytes(count: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
        let whole = count >> shift;
        if whole > 0 && whole << shift == count {
            return format!("{whole}{unit}");
        }
    }
    count.to_string()
}

/// Formats a number with three digits, in the first unit with at most three before the point.
fn scaled(mut number: f64, step: f64, units: &[&str], last: &str) -> String {
    for unit in units {
        if number < step * 0.9995 {
            return three(number, unit);
        }
        number /= step;
    }
    three(number, last)
}

fn three(number: f64, unit: &str) -> String {
    if number < 9.995 {
        format!("{number:.2} {unit}")
    } else if number < 99.95 {
        format!("{number:.1} {unit}")
    } else {
        format!("{number:.0} {unit}")
    }
}

/// Parses a time of the command line: `10us`, `0.5ms`, `2s`, `0`, `inf`.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    if text == "inf" {
        return Ok(Duration::MAX);
    }
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let at = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(at.unwrap_or(text.len()));
    let unit = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err("a time is a number with ns, us, ms or s, 0, or inf".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{number}` is not a number"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| error.to_string())
}

/// Formats a time for [`parse_time`].
pub(crate) fn spell_time(time: Duration) -> String {
    if time == Duration::MAX {
        "inf".to_owned()
    } else {
        format!("{}ns", time.as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(time(1_234), "1.23 ns");
        assert_eq!(time(187_400), "187 ns");
        assert_eq!(time(999_700), "1.00 us");
        assert_eq!(time(12_340_000_000), "12.3 ms");
        assert_eq!(time(7_000_000_000_000), "7.00 s");
        assert_eq!(speed(1.5e10), "15.0 GB/s");
        assert_eq!(rate(11_600_000.0), "11.6 M/s");
    }

    #[test]
    fn sizes_are_exact() {
        assert_eq!(bytes(0), "0");
        assert_eq!(bytes(1023), "1023");
        assert_eq!(bytes(1 << 16), "64K");
        assert_eq!(bytes((1 << 20) + 1), "1048577");
        assert_eq!(bytes(3 << 20), "3M");
    }

    #[test]
    fn times_are_read() {
        assert_eq!(parse_time("10us"), Ok(Duration::from_micros(10)));
        assert_eq!(parse_time("0.5ms"), Ok(Duration::from_micros(500)));
        assert_eq!(parse_time("0"), Ok(Duration::ZERO));
        assert_eq!(parse_time("inf"), Ok(Duration::MAX));
        for wrong in ["", "10", "us", "-1s", "1h", "NaNs", "1e30s"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        for time in [Duration::MAX, Duration::ZERO, Duration::from_nanos(1_500)] {
            assert_eq!(parse_time(&spell_time(time)), Ok(time));
        }
    }
}
