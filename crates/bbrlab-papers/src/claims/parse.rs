//! Parses tokens into a tree. Source: "Expression language" in `papers/README.md`. Operators have
//! Python's precedence, from the lowest: `or`, `and`, `not`, comparisons (chained), `+ -`, `* /`,
//! sign, `**` (right-associative).

use super::token::{Token, tokens};

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Number(f64),
    Word(String),
    /// The name of a key of the parameter point (such as `buffer_bdp`), of a constant of the paper,
    /// or of an algorithm.
    Name(String),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    /// Expressions joined by `and`.
    All(Vec<Expr>),
    /// Expressions joined by `or`.
    Any(Vec<Expr>),
    /// A chain such as `a < b <= c`: each comparison of adjacent expressions must be true.
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    Call(Call),
}

/// A call of a function or a metric, with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) args: Vec<Expr>,
    pub(super) keys: Vec<(String, Expr)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

impl Comparison {
    /// Returns the operator as the data files spell it.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
        }
    }
}

/// Maximum depth of nested brackets. Without this limit, a text with very many brackets would
/// overflow the call stack.
const DEEPEST: u32 = 64;

/// Parses an expression.
///
/// # Errors
/// Fails if the text is not an expression.
pub(super) fn parse(text: &str) -> Result<Expr, String> {
    let mut reader = Reader { tokens: &tokens(text)?, depth: 0 };
    let whole = reader.any()?;
    match reader.tokens.first() {
        None => Ok(whole),
        Some(left) => Err(format!("cannot parse {left:?}")),
    }
}

struct Reader<'a> {
    /// The tokens not yet read.
    tokens: &'a [Token],
    depth: u32,
}

impl Reader<'_> {
    fn any(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("brackets are nested too deeply".to_owned());
        }
        let expr = self.joined("or", Self::all, Expr::Any);
        self.depth -= 1;
        expr
    }

    fn all(&mut self) -> Result<Expr, String> {
        self.joined("and", Self::not, Expr::All)
    }

    fn joined(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Expr, String>,
        join: fn(Vec<Expr>) -> Expr,
    ) -> Result<Expr, String> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.takes_name(word) {
            parts.push(part(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { join(parts) })
    }

    fn not(&mut self) -> Result<Expr, String> {
        let mut nots = 0_u32;
        while self.takes_name("not") {
            nots += 1;
        }
        let mut expr = self.comparison()?;
        for _ in 0..nots {
            expr = Expr::Not(Box::new(expr));
        }
        Ok(expr)
    }

    fn comparison(&mut self) -> Result<Expr, String> {
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let comparison = match self.tokens.first() {
                Some(Token::Sign("<")) => Comparison::Less,
                Some(Token::Sign("<=")) => Comparison::AtMost,
                Some(Token::Sign(">")) => Comparison::More,
                Some(Token::Sign(">=")) => Comparison::AtLeast,
                Some(Token::Sign("==")) => Comparison::Equal,
                Some(Token::Sign("!=")) => Comparison::Unequal,
                _ if rest.is_empty() => return Ok(first),
                _ => return Ok(Expr::Compare(Box::new(first), rest)),
            };
            self.tokens = &self.tokens[1..];
            rest.push((comparison, self.sum()?));
        }
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut sum = self.product()?;
        loop {
            let arithmetic = match self.tokens.first() {
                Some(Token::Sign("+")) => Arithmetic::Add,
                Some(Token::Sign("-")) => Arithmetic::Subtract,
                _ => return Ok(sum),
            };
            self.tokens = &self.tokens[1..];
            sum = Expr::Arithmetic(arithmetic, Box::new(sum), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expr, String> {
        let mut product = self.signed()?;
        loop {
            let arithmetic = match self.tokens.first() {
                Some(Token::Sign("*")) => Arithmetic::Multiply,
                Some(Token::Sign("/")) => Arithmetic::Divide,
                _ => return Ok(product),
            };
            self.tokens = &self.tokens[1..];
            product = Expr::Arithmetic(arithmetic, Box::new(product), Box::new(self.signed()?));
        }
    }

    fn signed(&mut self) -> Result<Expr, String> {
        let mut signs = 0_u32;
        while self.takes("-") {
            signs += 1;
        }
        let mut expr = self.power()?;
        for _ in 0..signs {
            expr = Expr::Negative(Box::new(expr));
        }
        Ok(expr)
    }

    fn power(&mut self) -> Result<Expr, String> {
        let base = self.operand()?;
        if !self.takes("**") {
            return Ok(base);
        }
        let exponent = self.signed()?;
        Ok(Expr::Arithmetic(Arithmetic::Power, Box::new(base), Box::new(exponent)))
    }

    fn operand(&mut self) -> Result<Expr, String> {
        let Some((first, rest)) = self.tokens.split_first() else {
            return Err("something is missing at the end".to_owned());
        };
        self.tokens = rest;
        match first {
            Token::Number(value) => Ok(Expr::Number(*value)),
            Token::Word(word) => Ok(Expr::Word(word.clone())),
            Token::Name(name) if matches!(name.as_str(), "and" | "or" | "not") => {
                Err(format!("expected a value, found `{name}`"))
            }
            Token::Name(name) if self.takes("(") => self.call(name.clone()).map(Expr::Call),
            Token::Name(name) => Ok(Expr::Name(name.clone())),
            Token::Sign("(") => {
                let inner = self.any()?;
                if self.takes(")") { Ok(inner) } else { Err("a bracket is not closed".to_owned()) }
            }
            Token::Sign(sign) => Err(format!("unexpected `{sign}`")),
        }
    }

    /// Reads the arguments of a call and the closing bracket.
    fn call(&mut self, name: String) -> Result<Call, String> {
        let mut call = Call { name, args: Vec::new(), keys: Vec::new() };
        while !self.takes(")") {
            if let [Token::Name(key), Token::Sign("="), rest @ ..] = self.tokens {
                self.tokens = rest;
                let value = self.any()?;
                call.keys.push((key.clone(), value));
            } else if call.keys.is_empty() {
                let arg = self.any()?;
                call.args.push(arg);
            } else {
                return Err(format!(
                    "{}(): a value without a key follows a value with a key",
                    call.name
                ));
            }
            if !self.takes(",") && self.tokens.first() != Some(&Token::Sign(")")) {
                return Err(format!("{}(): a bracket is not closed", call.name));
            }
        }
        Ok(call)
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.takes_if(|token| matches!(token, Token::Sign(found) if *found == sign))
    }

    fn takes_name(&mut self, word: &str) -> bool {
        self.takes_if(|token| matches!(token, Token::Name(found) if found == word))
    }

    fn takes_if(&mut self, is_it: impl Fn(&Token) -> bool) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if is_it(first) => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::papers::papers;

    #[test]
    fn every_claim_is_an_expression() {
        for claim in papers().iter().flat_map(|paper| &paper.claims) {
            if let Err(reason) = parse(&claim.expr) {
                panic!("{}: {reason}: {}", claim.id, claim.expr);
            }
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        let refused = |text: &str| parse(text).unwrap_err();
        assert_eq!(refused("1 +"), "something is missing at the end");
        assert_eq!(refused("(1"), "a bracket is not closed");
        assert_eq!(refused("f(a=1, 2)"), "f(): a value without a key follows a value with a key");
        assert_eq!(refused("1 2"), "cannot parse Number(2.0)");
        assert_eq!(refused("and 1"), "expected a value, found `and`");
        assert_eq!(refused(&"(".repeat(1000)), "brackets are nested too deeply");
    }
}
