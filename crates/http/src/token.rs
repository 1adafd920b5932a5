//! The token that requests need where others than this machine's users can reach a server.

use std::fmt;

use annals_event_log::Digest;
use axum::http::{HeaderMap, header};
use rand::RngCore;

/// Bytes of a token that is made here.
const LENGTH: usize = 32;

/// A secret that requests must have. It is not printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one: 256 random bits, as hexadecimal digits.
    pub fn generate() -> Token {
        let mut bytes = [0; LENGTH];
        rand::rng().fill_bytes(&mut bytes);
        Token(hex::encode(bytes))
    }

    /// A text as a token; none where it is empty, longer than 256 characters, or has other characters than letters,
    /// digits, `-`, `_`, `.` and `~`, which can stand in addresses and headers as they are.
    pub fn read(text: &str) -> Option<Token> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        let fits = !text.is_empty() && text.len() <= 256 && text.bytes().all(is_plain);
        fits.then(|| Token(text.to_owned()))
    }

    /// A text as a token that stands in headers alone; none where it is empty.
    pub fn bearer(text: &str) -> Option<Token> {
        (!text.is_empty()).then(|| Token(text.to_owned()))
    }

    /// The secret itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if a text is the token. The time that it takes depends neither on how much of it was right nor on
    /// the token's length: digests are compared, to the end.
    pub fn is(&self, given: &str) -> bool {
        let (own, given) = (Digest::of(self.0.as_bytes()), Digest::of(given.as_bytes()));
        let pairs = own.0.iter().zip(given.0.iter());
        pairs.fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }

    /// Returns `true` if a request's headers have it as a bearer token.
    pub fn is_bearer_of(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        given.is_some_and(|given| self.is(given))
    }

    /// Returns `true` if a request's headers have it: as a bearer token, or in the cookie of an earlier visit.
    pub fn is_in(&self, headers: &HeaderMap, cookie: &str) -> bool {
        if self.is_bearer_of(headers) {
            return true;
        }
        let text = |value: &axum::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let cookies: Vec<String> = headers.get_all(header::COOKIE).iter().map(text).collect();
        let pairs = cookies.iter().flat_map(|line| line.split(';'));
        let mut values = pairs.filter_map(|pair| pair.trim().split_once('='));
        values.any(|(name, value)| name == cookie && self.is(value))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_token_is_itself_and_nothing_else() {
        let token = Token::generate();
        assert_eq!(token.as_str().len(), 64);
        assert!(token.is(token.as_str()));
        let longer = format!("{}0", token.as_str());
        for other in ["", "x", &token.as_str()[1..], longer.as_str()] {
            assert!(!token.is(other), "{other}");
        }
        assert_ne!(token, Token::generate());
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn a_token_can_stand_in_an_address() {
        assert!(Token::read("a-b_C.9~").is_some());
        let long = "a".repeat(257);
        for bad in ["", "a b", "a;b", "a=b", "a\r\nb", "é", long.as_str()] {
            assert_eq!(Token::read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn headers_and_cookies_are_read() {
        let token = Token::read("right").unwrap();
        let with = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            token.is_in(&headers, "annals-1")
        };
        assert!(with(header::AUTHORIZATION, "Bearer right"));
        assert!(!with(header::AUTHORIZATION, "Bearer wrong"));
        assert!(!with(header::AUTHORIZATION, "right"));
        assert!(with(header::COOKIE, "a=b; annals-1=right"));
        assert!(!with(header::COOKIE, "annals-2=right; annals-1=wrong"));
        assert!(!token.is_in(&HeaderMap::new(), "annals-1"));
    }
}
