//! Lengths of the measured payloads.

use std::str::FromStr;

use crate::units;

/// Maximum length of a payload, in bytes.
pub(crate) const LONGEST: u64 = 1 << 30;

/// A list of lengths, as `8`, `1..64M` (the powers of two) or `8,1K,64K`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<u64>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                None => sizes.push(size(part)?),
                Some((from, to)) => {
                    let (from, to) = (size(from)?, size(to)?);
                    if from > to {
                        return Err(format!(
                            "{part} has no powers of two: the range ends before it begins"
                        ));
                    }
                    let before = sizes.len();
                    let powers = (0..=LONGEST.ilog2()).map(|power| 1 << power);
                    sizes.extend(powers.filter(|power| (from..=to).contains(power)));
                    if sizes.len() == before {
                        return Err(format!("there is no power of two in {part}"));
                    }
                }
            }
        }
        Ok(Self(sizes))
    }
}

/// Parses the length of a payload, at most [`LONGEST`].
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match memory(text).ok() {
        Some(bytes) if bytes <= LONGEST => Ok(bytes),
        Some(_) => Err(format!(
            "{text} is too long; at most {} can be measured",
            units::bytes(LONGEST)
        )),
        None => Err(format!(
            "`{text}` is not a length; use 8, 64K, 1M, a list 8,1K, or powers of two 1..64M"
        )),
    }
}

/// Parses an amount of memory: a number of bytes, with K, M or G for powers of 1,024.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (text.get(..text.len().saturating_sub(1)), 10),
        Some(b'M' | b'm') => (text.get(..text.len().saturating_sub(1)), 20),
        Some(b'G' | b'g') => (text.get(..text.len().saturating_sub(1)), 30),
        _ => (Some(text), 0),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.map(|number| number.saturating_mul(1 << shift));
    bytes.ok_or_else(|| format!("`{text}` is not an amount of memory; use 4096, 64K, 256M or 2G"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<u64> {
        text.parse::<Sizes>().unwrap().0
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(sizes("8"), [8]);
        assert_eq!(sizes("0,1K,64k"), [0, 1 << 10, 1 << 16]);
        assert_eq!(sizes("1..8"), [1, 2, 4, 8]);
        assert_eq!(sizes("3..9,7"), [4, 8, 7]);
        assert_eq!(sizes("1..64M").len(), 27);
    }

    #[test]
    fn malformed_lengths_are_reported() {
        for (wrong, says) in [
            ("", "not a length"),
            ("8,", "not a length"),
            ("x", "not a length"),
            ("-1", "not a length"),
            ("8..4", "ends before"),
            ("5..7", "no power of two"),
            ("2G", "too long"),
            ("99999999999G", "too long"),
        ] {
            let error = wrong.parse::<Sizes>().unwrap_err();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }
}
