//! Splits an expression's text into tokens.
//!
//! The language of the papers' claims is a subset of Python's expressions. The tokens are decimal
//! numbers, names, words in single or double quotes, operators, brackets and commas.

/// A token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A word in quotes.
    Word(String),
    /// A name or one of `and`, `or`, `not`.
    Name(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

/// Operators, brackets and the comma. In the list, each operator precedes its own prefixes (`<=`
/// before `<`), so that the first match is the longest.
const SIGNS: &[&str] =
    &["**", "<=", ">=", "==", "!=", "+", "-", "*", "/", "<", ">", "(", ")", ",", "="];

/// Splits an expression into tokens.
///
/// # Errors
/// Fails if a character begins no token, if a quote is not closed, or if a number is not valid.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            number(rest)?
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Name(rest[..end].to_owned()), end)
        } else if first == '\'' || first == '"' {
            let end = rest[1..].find(first).ok_or_else(|| format!("a quote is open: {rest}"))?;
            (Token::Word(rest[1..=end].to_owned()), end + 2)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("unexpected `{first}`"))?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Reads a number without a sign at the start of `text`. Returns the number with its length in
/// bytes.
fn number(text: &str) -> Result<(Token, usize), String> {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let is_exponent_sign =
            matches!(bytes[end], b'+' | b'-') && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        if !(bytes[end].is_ascii_alphanumeric() || bytes[end] == b'.' || is_exponent_sign) {
            break;
        }
        end += 1;
    }
    let value = text[..end].parse().map_err(|_| format!("`{}` is not a number", &text[..end]))?;
    Ok((Token::Number(value), end))
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens};

    #[test]
    fn numbers_names_words_and_signs_are_distinguished() {
        let name = |name: &str| Token::Name(name.to_owned());
        assert_eq!(
            tokens("1e-3*x_1**2 <= .5, flow='f2'").unwrap(),
            [
                Token::Number(0.001),
                Token::Sign("*"),
                name("x_1"),
                Token::Sign("**"),
                Token::Number(2.0),
                Token::Sign("<="),
                Token::Number(0.5),
                Token::Sign(","),
                name("flow"),
                Token::Sign("="),
                Token::Word("f2".to_owned()),
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_refused() {
        assert_eq!(tokens("1 % 2").unwrap_err(), "unexpected `%`");
        assert_eq!(tokens("3x").unwrap_err(), "`3x` is not a number");
        assert_eq!(tokens("'f2").unwrap_err(), "a quote is open: 'f2");
    }
}
