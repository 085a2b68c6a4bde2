//! Encoding of plain values.

use std::str::FromStr;

use serde_json::Value as Json;

/// Encodes a leaf of this name and size into the first `size` bytes of the result. The error
/// describes the expected value.
pub(super) fn bytes(name: &str, size: usize, value: &Json) -> Result<[u8; 16], String> {
    let mut bytes = [0; 16];
    let mut put = |from: &[u8]| {
        for (to, from) in bytes.iter_mut().zip(from) {
            *to = *from;
        }
    };
    match (name, size) {
        (_, 0) if value.is_null() => {}
        (_, 0) => return Err("null".into()),
        ("bool", 1) => put(&[value.as_bool().ok_or("true or false")?.into()]),
        ("char", 4) => {
            put(&u32::from(character(value).ok_or("a string of one character")?).to_le_bytes())
        }
        ("f32", 4) => put(&float::<f32>(value).ok_or("a number")?.to_le_bytes()),
        ("f64", 8) => put(&float::<f64>(value).ok_or("a number")?.to_le_bytes()),
        _ => put(&integer(name, size, value)?),
    }
    Ok(bytes)
}

fn character(value: &Json) -> Option<char> {
    let mut characters = value.as_str()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}

fn float<F: FromStr>(value: &Json) -> Option<F> {
    match value {
        Json::String(text) if matches!(&**text, "NaN" | "inf" | "-inf") => text.parse().ok(),
        Json::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

fn integer(name: &str, size: usize, value: &Json) -> Result<[u8; 16], String> {
    let plain = name.strip_prefix("NonZero").map(str::to_ascii_lowercase);
    let expected = match plain.as_deref().unwrap_or(name) {
        "u8" | "i8" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" => 4,
        "u64" | "i64" | "usize" | "isize" => 8,
        "u128" | "i128" => 16,
        _ => 0,
    };
    if expected != size {
        return Err(format!(
            "no value, as a `{name}` can't be represented in JSON"
        ));
    }
    let bits = u32::try_from(size).unwrap_or(16).saturating_mul(8);
    let unused = 128u32.saturating_sub(bits);
    let is_unsigned = plain.as_deref().unwrap_or(name).starts_with('u');
    let range = if is_unsigned {
        format!("an integer from 0 to {}", u128::MAX >> unused)
    } else {
        format!(
            "an integer from {} to {}",
            i128::MIN >> unused,
            i128::MAX >> unused
        )
    };
    let text = match value {
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        _ => return Err(range),
    };
    let found = if is_unsigned {
        let number = text.parse::<u128>().ok();
        number
            .filter(|n| *n <= u128::MAX >> unused)
            .map(|n| n.to_le_bytes())
    } else {
        let number = text.parse::<i128>().ok();
        let known = i128::MIN >> unused..=i128::MAX >> unused;
        number
            .filter(|n| known.contains(n))
            .map(|n| n.to_le_bytes())
    };
    let found = found.ok_or_else(|| range.clone())?;
    if plain.is_some() && found == [0; 16] {
        return Err(format!("{range}, but 0"));
    }
    Ok(found)
}
