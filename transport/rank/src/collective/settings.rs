//! The choice of algorithms by the environment.

use std::env;
use std::sync::{Arc, OnceLock};

use jstream_collective::{Algorithm, Collective};

/// Name of the environment variable.
const VARIABLE: &str = "JSTREAM_COLLECTIVES";

/// The algorithms that a list such as `all_reduce=ring,broadcast=chain` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings(Vec<(Collective, Algorithm)>);

impl Settings {
    /// Returns the settings of the environment, or the reason why they are invalid.
    pub(super) fn of_environment() -> Result<&'static Self, Arc<str>> {
        // Read once, so that a change of the environment cannot make one rank choose differently
        // from one call to the next.
        static SETTINGS: OnceLock<Result<Settings, Arc<str>>> = OnceLock::new();
        let settings = SETTINGS.get_or_init(|| match env::var(VARIABLE) {
            Ok(text) => Self::parse(&text).map_err(|reason| format!("{VARIABLE}: {reason}").into()),
            Err(env::VarError::NotPresent) => Ok(Self(Vec::new())),
            Err(error) => Err(format!("{VARIABLE}: {error}").into()),
        });
        settings.as_ref().map_err(Arc::clone)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Vec::new();
        for entry in text.split(',').filter(|entry| !entry.trim().is_empty()) {
            let Some((collective, algorithm)) = entry.split_once('=') else {
                return Err(format!("`{entry}` is not of the form `all_reduce=ring`"));
            };
            let collective: Collective = collective
                .trim()
                .parse()
                .map_err(|error| format!("{error}"))?;
            let algorithm: Algorithm = algorithm
                .trim()
                .parse()
                .map_err(|error| format!("{error}"))?;
            settings.push((collective, algorithm));
        }
        Ok(Self(settings))
    }

    /// Returns the last algorithm that is set for an operation.
    pub(super) fn algorithm(&self, collective: Collective) -> Option<Algorithm> {
        // The last entry of an operation counts, so that a list can be extended.
        let mut settings = self.0.iter().rev();
        settings
            .find(|(of, _)| *of == collective)
            .map(|(_, algorithm)| *algorithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_of_an_operation_counts() {
        let settings =
            Settings::parse("all_reduce=ring, broadcast=chain,all_reduce=halving,").unwrap();
        assert_eq!(
            settings.algorithm(Collective::AllReduce),
            Some(Algorithm::Halving)
        );
        assert_eq!(
            settings.algorithm(Collective::Broadcast),
            Some(Algorithm::Chain)
        );
        assert_eq!(settings.algorithm(Collective::Barrier), None);
    }

    #[test]
    fn invalid_entries_are_named() {
        let error = |text| Settings::parse(text).unwrap_err();
        assert_eq!(error("ring"), "`ring` is not of the form `all_reduce=ring`");
        assert!(error("all_reduce=tree").starts_with("there is no algorithm `tree`"));
        assert!(error("reduce_all=ring").starts_with("there is no collective operation"));
    }
}
