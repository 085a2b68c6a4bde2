//! `jperf tune`: measures the best settings for this machine.

mod finding;
mod pair;
mod studies;
mod table;

use crate::arguments::Tune;
use crate::failure::Failure;
use crate::output::{self, ProgressLine};
use crate::own::SCHEMES;

use self::finding::Finding;
use self::pair::Bench;

/// Runs `jperf tune`.
pub(crate) fn tune(arguments: &Tune) -> Result<(), Failure> {
    arguments.check()?;
    let progress = ProgressLine::new(arguments.quiet);
    let bench = Bench::new(arguments, &progress);
    if let Some(cpu) = arguments.pin.first() {
        crate::machine::pin(*cpu)?;
    }
    if !arguments.json && !arguments.quiet {
        output::line(&finding::heading())?;
    }
    let is_wanted = |scheme: &&str| {
        let wanted = &arguments.schemes;
        wanted.is_empty() || wanted.iter().any(|wanted| wanted == scheme)
    };
    let mut findings = Vec::new();
    for scheme in SCHEMES.into_iter().filter(is_wanted) {
        for study in studies::ALL {
            let Some(finding) = study(&bench, scheme)? else {
                continue;
            };
            progress.show("");
            if arguments.json {
                output::line(&finding.json())?;
            } else {
                for line in finding.lines(arguments.points) {
                    output::line(&line)?;
                }
            }
            findings.push(finding);
        }
    }
    if arguments.json {
        return Ok(());
    }
    code(&findings)
}

/// Prints the code for all settings that are better than the defaults.
fn code(findings: &[Finding]) -> Result<(), Failure> {
    output::line("")?;
    let mut scheme = "";
    for finding in findings.iter().filter(|finding| finding.pays()) {
        if finding.scheme != scheme {
            scheme = finding.scheme;
            output::line(&format!("// {scheme}"))?;
        }
        output::line(&finding.code)?;
    }
    match scheme {
        "" => output::line("// The defaults are as good as all measured settings."),
        _ => Ok(()),
    }
}
