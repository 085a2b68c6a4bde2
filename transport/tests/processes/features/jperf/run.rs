//! Measurements with `jperf run`.

use super::common::{failed, printed, program, rows};

const SCHEMES: [&str; 5] = ["inproc", "shm", "uds", "tcp", "uring"];
/// Options for a small number of exchanges, so that the tests are fast.
const FEW: [&str; 4] = ["-n", "50", "--warmup", "5"];

#[track_caller]
fn few(arguments: &[&str]) -> Vec<serde_json::Value> {
    rows(&[&["run"], arguments, &FEW].concat())
}

#[test]
fn every_operation_over_every_device() {
    for scheme in SCHEMES {
        for op in ["pingpong", "pingping", "bandwidth", "rate"] {
            let rows = few(&[
                scheme, "--op", op, "--size", "0,8,24K", "--window", "4", "--check",
            ]);
            let sizes: Vec<_> = rows
                .iter()
                .map(|row| row["bytes"].as_u64().unwrap())
                .collect();
            assert_eq!(sizes, [0, 8, 24 << 10]);
            for row in rows {
                assert_eq!(row["op"], op);
                assert_eq!(row["scheme"], scheme);
                let samples = if op == "pingping" { 25 } else { 50 };
                assert_eq!(row["samples"], samples);
            }
        }
    }
}

#[test]
fn every_way_of_receiving() {
    for scheme in SCHEMES {
        for receive in ["into", "jbuf", "moved"] {
            for op in ["pingpong", "pingping"] {
                let arguments = [scheme, "--op", op, "--receive", receive, "--size", "8,20K"];
                let rows = few(&[&arguments[..], &["--check"]].concat());
                assert_eq!((rows.len(), &rows[0]["receive"]), (2, &receive.into()));
            }
        }
    }
    for op in ["pingpong", "pingping", "bandwidth"] {
        let window = ["--window", "4", "--receive", "trusted"];
        for touch in ["--touch=none", "--touch", "--check"] {
            let rows =
                few(&[&["shm", "--op", op, "--size", "8,100K", touch], &window[..]].concat());
            assert_eq!(rows[1]["receive"], "trusted");
        }
    }
    let why = failed(1, &["run", "tcp", "--receive", "trusted"]);
    assert!(why.contains("tcp does not read in place"), "{why}");
}

#[test]
fn tagged_messages_are_matched() {
    for scheme in SCHEMES {
        for order in ["in", "reverse", "any"] {
            for window in [1, 10] {
                let window_text = window.to_string();
                let options = ["--order", order, "--window", &window_text, "--depth", "30"];
                let arguments = [scheme, "--op", "tags", "--size", "0,8,2K", "--check"];
                let rows = few(&[&arguments[..], &options].concat());
                assert_eq!(rows.len(), 3);
                for row in rows {
                    assert_eq!(
                        (&row["order"], &row["window"]),
                        (&order.into(), &window.into())
                    );
                    assert_eq!((&row["depth"], &row["samples"]), (&30.into(), &50.into()));
                }
            }
        }
        // Longer than a message that is sent eagerly.
        let long = [
            "run", scheme, "--op", "tags", "--size", "300K", "--check", "--window", "3",
        ];
        let rows = rows(
            &[
                &long[..],
                &["--order", "reverse", "-n", "2", "--warmup", "1"],
            ]
            .concat(),
        );
        assert_eq!(rows[0]["samples"], 2);
    }
    let rows = few(&[
        "shm", "--op", "tags", "-c", "3", "--size", "8,1K", "--touch",
    ]);
    assert_eq!((rows.len(), &rows[1]["samples"]), (2, &150.into()));
}

#[test]
fn payloads_are_touched_where_they_are() {
    for receive in ["into", "jbuf", "moved"] {
        for touch in ["--touch=clean", "--touch"] {
            let rows = few(&[
                "shm",
                "--size",
                "8,64K",
                touch,
                "--cold",
                "--receive",
                receive,
            ]);
            let name = if touch == "--touch" { "dirty" } else { "clean" };
            assert_eq!(
                (&rows[1]["touch"], &rows[1]["cold"]),
                (&name.into(), &true.into())
            );
        }
    }
}

#[test]
fn many_connections_work_at_once() {
    for scheme in ["inproc", "shm", "tcp", "uring"] {
        for op in ["pingpong", "bandwidth"] {
            let rows = few(&[scheme, "-c", "5", "--op", op, "--window", "4", "--check"]);
            assert_eq!(rows[0]["connections"], 5);
            assert_eq!(rows[0]["samples"], 250);
        }
    }
}

#[test]
fn a_table_has_a_line_for_each_length() {
    let text = printed(&[&["run", "shm", "--size", "1..64"], &FEW[..]].concat());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2 + 7, "{text}");
    assert!(lines[0].starts_with("# pingpong over shm://"), "{text}");
    let heads: Vec<_> = lines[1].split_whitespace().collect();
    assert_eq!(
        heads,
        ["bytes", "min", "p50", "p99", "max", "B/s", "samples"]
    );
    for (line, power) in lines[2..].iter().zip(0..) {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[0], (1 << power).to_string());
        for pair in words[1..11].chunks(2) {
            assert!(pair[0].parse::<f64>().unwrap() > 0.0, "{line}");
            assert!(["ns", "us", "ms", "s", "B/s", "KB/s", "MB/s", "GB/s"].contains(&pair[1]));
        }
        assert_eq!(words[11], "50");
    }
    assert!(!text.contains('\x1b'), "no terminal, no colours");

    let text = printed(&[&["run", "inproc", "--op", "rate", "--quiet"], &FEW[..]].concat());
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("/s"), "{text}");
}

#[test]
fn all_times_are_in_the_picture() {
    let text = printed(&[&["run", "inproc", "--histogram"], &FEW[..]].concat());
    let counts = text.lines().skip(3).map(|line| {
        let words: Vec<_> = line
            .trim_start_matches([' ', '>'])
            .split_whitespace()
            .collect();
        words[2].parse::<u64>().unwrap()
    });
    assert_eq!(counts.sum::<u64>(), 50, "{text}");
    assert!(text.contains('█'), "{text}");
}

#[test]
fn time_ends_it_too() {
    let rows = rows(&["run", "shm", "-t", "0.01", "--warmup", "0", "--spin", "5us"]);
    assert!(rows[0]["samples"].as_u64().unwrap() >= 1);
    let rows = super::common::rows(&["run", "shm", "-n", "3", "--batch", "2", "--warmup", "0"]);
    assert_eq!(rows[0]["samples"], 2, "a batch is not cut");
}

#[test]
fn options_may_come_first() {
    let rows = few(&["--pin", "0,0", "--touch", "--cold", "tcp"]);
    assert_eq!(
        (&rows[0]["scheme"], &rows[0]["touch"]),
        (&"tcp".into(), &"dirty".into())
    );
}

#[test]
fn wrong_usage_ends_with_two() {
    for (arguments, says) in [
        (&["run"][..], "URI"),
        (&["measure"], "measure"),
        (&["serve"], "URI"),
        (&["serve", "udp://host:1"], "udp"),
        (&["run", "udp://host:1"], "udp"),
        (
            &["run", "nothing"],
            "neither a URI nor a scheme alone (inproc, shm",
        ),
        (&["run", "inproc://name"], "inside one process"),
        (&["run", "shm", "--size", "8x"], "not a length"),
        (&["run", "shm", "--size", "9..8"], "ends before it begins"),
        (&["run", "shm", "--size", "2G"], "too long"),
        (&["run", "shm", "--op", "fly"], "pingpong"),
        (&["run", "shm", "--iterations", "0"], "iterations"),
        (&["run", "shm", "--seconds=-1"], "more than 0"),
        (&["run", "shm", "--seconds", "x"], "not a number"),
        (&["run", "shm", "--spin", "10"], "a time is"),
        (&["run", "shm", "--pin", "4096"], "processor"),
        (&["run", "shm", "--pin", "0,0,0"], "pin"),
        (&["run", "tcp://h:1", "--pin", "0,0"], "second processor"),
        (
            &["run", "shm", "--op", "rate", "--receive", "moved"],
            "pingpong and pingping",
        ),
        (
            &["run", "shm", "--op", "tags", "--receive", "jbuf"],
            "memory of the program",
        ),
        (&["run", "shm", "--depth", "3"], "for tags"),
        (&["run", "shm", "--json", "--histogram"], "--histogram"),
    ] {
        let text = failed(2, arguments);
        assert!(text.contains(says), "{arguments:?}: {text}");
        assert!(text.len() < 2000, "{text}");
    }
    let why = failed(1, &["run", "shm://jperf-nobody-is-here"]);
    assert!(why.contains("jperf-nobody-is-here"), "{why}");
}

#[test]
fn help_defines_what_is_measured() {
    let text = printed(&["run", "--help"]);
    for part in [
        "half of the round trip",
        "osu_bw",
        "IMB PingPing",
        "What to believe",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("rendezvous"), "{text}");
}

#[test]
fn who_has_read_enough_is_no_error() {
    let mut child = program(&["run", "inproc", "--size", "1..64K", "-n", "10", "--json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
