//! Comparison of frames with the tables of `PROTOCOL.md`, for tests.

use super::{FrameLayout, Place, Slot};

/// Checks that the tables of a section of `PROTOCOL.md` have exactly the `frames` and the `groups`
/// of fields, with the same numbers and places.
///
/// A table of frames has a column for the name, and one for each slot: `first word` (or `word`, if
/// there is only one), `second word` and `third word`. The column `operation` is the number, and
/// `kind` is then a slot; without that column, `kind` is the number. A number in bits of the first
/// word has a column with the title `` `number` (bits 62 to 63)``. A table without numbers has
/// groups. In the columns of slots, the
/// text in backquotes is the names of fields. After a name, `(bits 0 to 31)` narrows the place. The
/// names of frames are compared by their letters.
///
/// # Panics
///
/// Panics if they differ.
pub fn assert_documented(
    page: &str,
    section: &str,
    frames: &[FrameLayout],
    groups: &[(&str, &[Place])],
) {
    let frames = frames.iter().map(|frame| {
        let places = frame.fields.iter().copied().flatten().map(shown);
        row(frame.name, Some(frame.number), places.collect())
    });
    let groups = groups
        .iter()
        .map(|(name, places)| row(name, None, places.iter().map(shown).collect()));
    let mut declared: Vec<_> = frames.chain(groups).collect();
    let mut documented = documented(page, section);
    declared.sort();
    documented.sort();
    assert!(!documented.is_empty(), "no table of frames in {section}");
    assert_eq!(declared, documented, "code (left) and {section} differ");
}

fn shown(place: &Place) -> String {
    format!(
        "{} {:?} {}..{}",
        place.name, place.slot, place.low, place.high
    )
}

fn row(name: &str, number: Option<u32>, mut places: Vec<String>) -> String {
    places.sort();
    let name: String = name.chars().filter(|c| c.is_alphabetic()).collect();
    format!("{number:x?} {} {places:?}", name.to_lowercase())
}

fn documented(page: &str, section: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#'));
    let mut columns: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for line in lines {
        let Some(line) = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'))
        else {
            columns.clear();
            continue;
        };
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        if columns.is_empty() {
            columns = cells;
        } else if columns.iter().any(|column| is_of_frames(column))
            && !cells.iter().all(|cell| *cell == "---")
        {
            rows.push(documented_row(&columns, &cells));
        }
    }
    rows
}

fn is_of_frames(column: &str) -> bool {
    column == "word" || column.ends_with(" word") || column.starts_with("`number`")
}

fn documented_row(columns: &[&str], cells: &[&str]) -> String {
    let (mut name, mut number, mut places) = ("", None, Vec::new());
    let numbered_by = if columns.contains(&"operation") {
        "operation"
    } else {
        "kind"
    };
    for (column, cell) in columns.iter().zip(cells) {
        let slot = match *column {
            "frame" | "group" => {
                name = cell;
                continue;
            }
            column if column == numbered_by => {
                number = number_of(cell);
                continue;
            }
            column if column.starts_with("`number`") => {
                number = number_of(cell);
                places.extend(fields(column, Slot::First));
                continue;
            }
            "kind" => Slot::Kind,
            "word" | "first word" => Slot::First,
            "second word" => Slot::Second,
            "third word" => Slot::Third,
            _ => continue,
        };
        assert!(
            cell.contains('`') || *cell == "0",
            "{cell:?} is not a field"
        );
        places.extend(fields(cell, slot));
    }
    row(name, number, places)
}

/// Returns the fields that a text names.
fn fields(text: &str, slot: Slot) -> Vec<String> {
    let mut fields = Vec::new();
    // Every second part of the text is between backquotes.
    let mut parts = text.split('`').skip(1);
    while let (Some(field), text) = (parts.next(), parts.next().unwrap_or_default()) {
        let (low, high) = bits(text).unwrap_or((0, 64));
        fields.push(field.to_owned() + &shown(&Place::new("", slot, low, high)));
    }
    fields
}

fn number_of(cell: &str) -> Option<u32> {
    let cell = cell.trim_matches('`');
    match cell.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => cell.parse().ok(),
    }
}

/// Returns the range of ` (bits 0 to 31)`.
fn bits(text: &str) -> Option<(u32, u32)> {
    let (range, _) = text.strip_prefix(" (bits ")?.split_once(')')?;
    let (low, last) = range.split_once(" to ")?;
    Some((low.parse().ok()?, last.parse::<u32>().ok()?.checked_add(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Protocol
## Frames
| frame | kind | first word | second word | payload |
|---|---|---|---|---|
| *ask, late* | `0x10` | `number` (bits 0 to 31), `code` (bits 32 to 47) | the `word` | text |
| *end* | 2 | 0 | 0 | none |

| group | third word |
|---|---|
| *rest* | `other` |
## Words
| frame | `number` (bits 62 to 63) | word |
|---|---|---|
| *end* | 2 | `code` (bits 32 to 47) |
## More
";

    const fn ask(number: u32, fields: &'static [&'static [Place]]) -> [FrameLayout; 2] {
        let (ask, end) = ("AskLate", "End");
        [
            FrameLayout {
                name: ask,
                number,
                fields,
            },
            FrameLayout {
                name: end,
                number: 2,
                fields: &[],
            },
        ]
    }

    const NUMBER: Place = Place::new("number", Slot::First, 0, 32);
    const CODE: Place = Place::new("code", Slot::First, 32, 48);
    const WORD: Place = Place::new("word", Slot::Second, 0, 64);
    const OTHER: Place = Place::new("other", Slot::Third, 0, 64);
    const TOP: Place = Place::new("number", Slot::First, 62, 64);
    const LOW: Place = Place::new("number", Slot::First, 61, 63);
    const LONG: Place = Place::new("code", Slot::First, 32, 64);

    fn differs(frames: &[FrameLayout]) -> bool {
        let compare = || assert_documented(PAGE, "## Frames", frames, &[("rest", &[OTHER])]);
        std::panic::catch_unwind(compare).is_err()
    }

    #[test]
    fn numbers_in_words_have_places() {
        let differs = |fields| {
            let (name, number) = ("End", 2);
            let frame = FrameLayout {
                name,
                number,
                fields,
            };
            let compare = || assert_documented(PAGE, "## Words", &[frame], &[]);
            std::panic::catch_unwind(compare).is_err()
        };
        assert!(!differs(&[&[TOP], &[CODE]]));
        assert!(differs(&[&[LOW], &[CODE]]));
    }

    #[test]
    fn every_difference_is_found() {
        assert!(!differs(&ask(16, &[&[NUMBER, CODE], &[WORD]])));
        assert!(differs(&ask(17, &[&[NUMBER, CODE], &[WORD]])));
        assert!(differs(&ask(16, &[&[NUMBER, LONG], &[WORD]])));
        assert!(differs(&ask(16, &[&[NUMBER, CODE]])));
        assert!(differs(&ask(16, &[&[NUMBER, CODE], &[WORD]])[..1]));
        assert!(differs(
            &[ask(16, &[&[NUMBER, CODE], &[WORD]]), ask(3, &[])].concat()
        ));
    }
}
