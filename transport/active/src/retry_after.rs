//! The time after which a request that was returned as busy may be repeated.
//!
//! The text of the returned message has this time, as a decimal number of milliseconds. So peers
//! that do not know it see a text like any other reason.
//!
//! Decision 124 has the reasons.

use std::time::Duration;

/// Maximum time that a peer can make its callers wait. Protects against a peer that states years.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Maximum number of digits.
const DIGITS: usize = 10;

/// Encodes the time as the text of a returned message, rounded up to milliseconds.
#[must_use]
pub fn encode_retry_after(time: Duration) -> String {
    let time = time.min(MAX_RETRY_AFTER);
    time.as_nanos().div_ceil(1_000_000).to_string()
}

/// Decodes the text of a message that was returned as busy. Times of more than
/// [`MAX_RETRY_AFTER`] are shortened. Returns `None` if the text is not a time.
#[must_use]
pub fn decode_retry_after(text: &str) -> Option<Duration> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || text.len() > DIGITS {
        return None;
    }
    let millis = text.parse().ok()?;
    Some(Duration::from_millis(millis).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_times_are_rounded_up_and_bounded() {
        for (time, text, decoded) in [
            (Duration::ZERO, "0", Duration::ZERO),
            (Duration::from_nanos(1), "1", Duration::from_millis(1)),
            (
                Duration::from_millis(250),
                "250",
                Duration::from_millis(250),
            ),
            (Duration::from_secs(1 << 40), "60000", MAX_RETRY_AFTER),
        ] {
            assert_eq!(encode_retry_after(time), text);
            assert_eq!(decode_retry_after(text), Some(decoded));
        }
    }

    #[test]
    fn forged_texts_are_shortened_or_ignored() {
        assert_eq!(decode_retry_after("9999999999"), Some(MAX_RETRY_AFTER));
        for text in [
            "",
            "-1",
            "+1",
            "1.5",
            "1e9",
            "99999999999",
            "soon",
            "\u{0661}",
        ] {
            assert_eq!(decode_retry_after(text), None, "{text}");
        }
    }
}
