//! The file that names the hosts of a job.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::net::Ipv6Addr;
use std::path::Path;

/// Maximum length in bytes of the file.
const LONGEST: u64 = 1 << 20;

/// Maximum number of slots of a line.
const MOST_SLOTS: u32 = 1 << 16;

/// A host, and a number of processes: those that it may have, or those that it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostShare {
    /// The name, as it is given to `ssh`.
    pub(crate) name: String,
    pub(crate) processes: u32,
}

/// Reads the file of `--hosts`. Errors name the file, the line and the value.
pub(crate) fn read(path: &Path) -> Result<Vec<HostShare>, String> {
    let failed = |reason: String| format!("--hosts {}: {reason}", path.display());
    let mut text = String::new();
    let opened = File::open(path).and_then(|file| {
        file.take(LONGEST.saturating_add(1))
            .read_to_string(&mut text)
    });
    opened.map_err(|error| failed(error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(failed(format!("the file is longer than {LONGEST} bytes")));
    }
    parse(&text).map_err(failed)
}

/// Places `processes` on the hosts in their order, as many on each as it has slots. `None` fills
/// all slots. Hosts that get no process are omitted.
pub(crate) fn allot(
    hosts: Vec<HostShare>,
    processes: Option<u32>,
) -> Result<Vec<HostShare>, String> {
    let slots: u64 = hosts.iter().map(|host| u64::from(host.processes)).sum();
    let wanted = processes.map_or(slots, u64::from);
    if wanted > slots {
        return Err(format!(
            "{wanted} processes are more than the {slots} slots of the hosts; raise `slots=`, add \
             hosts, or lower -n"
        ));
    }
    if wanted > u64::from(MOST_SLOTS) {
        return Err(format!(
            "the hosts have {wanted} slots; name at most {MOST_SLOTS} processes with -n"
        ));
    }
    let mut left = u32::try_from(wanted).unwrap_or(MOST_SLOTS);
    let mut shares = Vec::new();
    for mut host in hosts {
        host.processes = host.processes.min(left);
        left = left.saturating_sub(host.processes);
        if host.processes > 0 {
            shares.push(host);
        }
    }
    Ok(shares)
}

/// Parses lines of `host [slots=N]`. The slots of a host that has several lines are added.
fn parse(text: &str) -> Result<Vec<HostShare>, String> {
    let mut hosts: Vec<HostShare> = Vec::new();
    let mut places = HashMap::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else {
            continue;
        };
        let failed = |reason: String| format!("line {number}: {reason}");
        check_name(name).map_err(failed)?;
        let mut slots = None;
        for word in words {
            let value = word.strip_prefix("slots=").ok_or_else(|| {
                failed(format!(
                    "`{}` is unknown; a line is `host [slots=N]`",
                    word.escape_debug()
                ))
            })?;
            if slots.is_some() {
                return Err(failed("`slots=` is given twice".to_owned()));
            }
            let count = value
                .parse()
                .ok()
                .filter(|count| (1..=MOST_SLOTS).contains(count));
            slots = Some(count.ok_or_else(|| {
                failed(format!(
                    "`{}` has to be `slots=` and a number from 1 to {MOST_SLOTS}",
                    word.escape_debug()
                ))
            })?);
        }
        let slots: u32 = slots.unwrap_or(1);
        let place = *places.entry(name).or_insert(hosts.len());
        match hosts.get_mut(place) {
            Some(host) => host.processes = host.processes.saturating_add(slots),
            None => hosts.push(HostShare {
                name: name.to_owned(),
                processes: slots,
            }),
        }
    }
    if hosts.is_empty() {
        return Err("the file names no host; a line is `host [slots=N]`".to_owned());
    }
    Ok(hosts)
}

/// Checks that `ssh` takes a word as the name of a host, and not as an option.
fn check_name(name: &str) -> Result<(), String> {
    let host = name.rsplit_once('@').map_or(name, |(_, host)| host);
    let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | '@' | '%' | ':');
    let address = host.split('%').next().unwrap_or_default();
    if host.contains(':') && address.parse::<Ipv6Addr>().is_err() {
        let host = host.split(':').next().unwrap_or_default();
        return Err(format!(
            "`{}` is no host; processes are given as in `{} slots=4`, and ports in the \
             configuration of ssh",
            name.escape_debug(),
            host.escape_debug()
        ));
    }
    if host.is_empty() || name.starts_with(['-', '@']) || !name.chars().all(is_usual) {
        return Err(format!(
            "`{}` is no host; a host is `[user@]name`, of letters, digits, `-`, `.` and `_`",
            name.escape_debug()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(of: &[(&str, u32)]) -> Vec<HostShare> {
        let shares = of.iter().map(|(name, processes)| HostShare {
            name: (*name).to_owned(),
            processes: *processes,
        });
        shares.collect()
    }

    #[test]
    fn lines_name_hosts_and_slots() {
        let text =
            "# the nodes\n\nn1 slots=4 # fast\n  n2\t\nme@n3.example slots=2\nn1 slots=1\n::1";
        let hosts = shares(&[("n1", 5), ("n2", 1), ("me@n3.example", 2), ("::1", 1)]);
        assert_eq!(parse(text), Ok(hosts));
    }

    #[test]
    fn errors_name_the_line_and_the_value() {
        for (text, told) in [
            ("", "names no host"),
            ("# n1\n", "names no host"),
            ("n1\nn2 slots=0", "line 2: `slots=0` has to be"),
            ("n1 slots=65537", "from 1 to 65536"),
            ("n1 slots=", "`slots=`"),
            ("n1 slots=-1", "`slots=-1`"),
            ("n1 slots=2 slots=3", "line 1: `slots=` is given twice"),
            ("n1 max_slots=3", "`max_slots=3` is unknown"),
            ("n1 slots = 3", "`slots` is unknown"),
            (
                "n1:4",
                "line 1: `n1:4` is no host; processes are given as in `n1 slots=4`",
            ),
            ("-oProxyCommand=x", "`-oProxyCommand=x` is no host"),
            ("me@", "`me@` is no host"),
            ("@n1", "`@n1` is no host"),
            ("a;b", "`a;b` is no host"),
            ("a\u{1b}", "`a\\u{1b}` is no host"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let error = read(Path::new("/nowhere/hosts")).unwrap_err();
        assert!(error.starts_with("--hosts /nowhere/hosts: "), "{error}");
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert!(error.contains("longer than"), "{error}");
    }

    #[test]
    fn processes_fill_the_slots_in_order() {
        let hosts = || shares(&[("a", 2), ("b", 1), ("c", 4)]);
        assert_eq!(allot(hosts(), None), Ok(hosts()));
        assert_eq!(allot(hosts(), Some(2)), Ok(shares(&[("a", 2)])));
        let four = shares(&[("a", 2), ("b", 1), ("c", 1)]);
        assert_eq!(allot(hosts(), Some(4)), Ok(four));
        let error = allot(hosts(), Some(8)).unwrap_err();
        assert!(
            error.contains("8 processes are more than the 7 slots"),
            "{error}"
        );
        let many = shares(&[("a", 1 << 16), ("b", 1)]);
        assert!(allot(many, None).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9=# \n@:.-]{0,60}") {
            if let Ok(hosts) = parse(&text) {
                for host in hosts {
                    prop_assert!(!host.name.starts_with('-') && host.processes > 0);
                }
            }
        }
    }
}
