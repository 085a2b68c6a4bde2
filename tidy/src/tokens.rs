//! Tokens of Rust sources, as far as the checks of imports need them.

/// A token of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// An identifier, a keyword or a number.
    Word(&'s str),
    /// The contents of a string.
    Text(&'s str),
    /// The separator of a path, `::`.
    PathSeparator,
    /// Any other character.
    Mark(char),
}

/// Splits a source file into tokens. Comments, characters, lifetimes and ranges are left out.
pub(crate) fn tokens(mut text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    while let Some(first) = text.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if let Some(rest) = text.strip_prefix("//") {
            text = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(rest) = text.strip_prefix("/*") {
            text = after_block_comment(rest);
        } else if let Some(rest) = text.strip_prefix("..") {
            text = rest;
        } else if let Some(rest) = text.strip_prefix("::") {
            found.push(Token::PathSeparator);
            text = rest;
        } else if let Some((string, rest)) = split_string(text) {
            found.push(Token::Text(string));
            text = rest;
        } else if let Some(rest) = text.strip_prefix('\'') {
            text = after_quote(rest);
        } else if is_word(first) {
            let text_of_word = text.strip_prefix("r#").unwrap_or(text);
            let end = text_of_word.find(|c| !is_word(c));
            let (word, rest) = text_of_word.split_at(end.unwrap_or(text_of_word.len()));
            found.push(Token::Word(word));
            text = rest;
        } else {
            if !first.is_whitespace() {
                found.push(Token::Mark(first));
            }
            text = &text[first.len_utf8()..];
        }
    }
    found
}

/// Returns the text behind a block comment whose opening was removed.
fn after_block_comment(mut text: &str) -> &str {
    let mut depth = 1_usize;
    while depth > 0 {
        let end = text.find("*/").unwrap_or(text.len());
        match text.find("/*") {
            Some(start) if start < end => {
                depth = depth.saturating_add(1);
                text = text[start..].trim_start_matches("/*");
            }
            _ => {
                depth = depth.saturating_sub(1);
                text = &text[end..];
                text = text.strip_prefix("*/").unwrap_or(text);
            }
        }
        if text.is_empty() {
            break;
        }
    }
    text
}

/// Returns the text behind a character or a lifetime whose quote was removed.
fn after_quote(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('\\') {
        let mut rest = rest.chars();
        rest.next();
        return rest.as_str().split_once('\'').map_or("", |(_, rest)| rest);
    }
    let mut rest = text.chars();
    rest.next();
    rest.as_str().strip_prefix('\'').unwrap_or(text)
}

/// Returns the contents of the string that `text` begins with, and the rest.
fn split_string(text: &str) -> Option<(&str, &str)> {
    let unprefixed = text.trim_start_matches(['b', 'c']);
    if let Some(raw) = unprefixed.strip_prefix('r') {
        let body = raw.trim_start_matches('#');
        if let (Some(body), Some(hashes)) = (body.strip_prefix('"'), raw.strip_suffix(body)) {
            let end = format!("\"{hashes}");
            return body.split_once(end.as_str()).or(Some((body, "")));
        }
    }
    let body = unprefixed.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = body.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    let (string, rest) = body.split_at(end.unwrap_or(body.len()));
    Some((string, rest.strip_prefix('"').unwrap_or(rest)))
}
