//! Amounts of money as people read them.

/// An amount in millionths, with four digits behind the point; what is less is not nothing.
///
/// ```
/// use annals_projections::amount_of_money;
/// assert_eq!(amount_of_money(1_234_550, "USD"), "$1.2346");
/// assert_eq!(amount_of_money(1, "EUR"), "<0.0001 EUR");
/// ```
pub fn amount_of_money(micros: u128, currency: &str) -> String {
    let tenths_of_mills = micros / 100 + u128::from(micros % 100 >= 50);
    let (whole, rest) = (tenths_of_mills / 10_000, tenths_of_mills % 10_000);
    let amount = match (micros, tenths_of_mills) {
        (1.., 0) => "<0.0001".to_owned(),
        _ => format!("{whole}.{rest:04}"),
    };
    match currency {
        "USD" => format!("${amount}").replace("$<", "<$"),
        other => format!("{amount} {other}"),
    }
}

/// An amount in millionths of a USD, rounded to cents; what is less is not nothing.
///
/// ```
/// use annals_projections::dollars_and_cents;
/// assert_eq!(dollars_and_cents(4_184_999), "$4.18");
/// assert_eq!(dollars_and_cents(4_999), "<$0.01");
/// ```
pub fn dollars_and_cents(micros: u128) -> String {
    let cents = micros / 10_000 + u128::from(micros % 10_000 >= 5_000);
    match (micros, cents) {
        (1.., 0) => "<$0.01".to_owned(),
        _ => format!("${}.{:02}", cents / 100, cents % 100),
    }
}

/// Reads an amount, such as `20` or `0.50`, in millionths. `None` if the text has another form, more than six digits
/// behind the point, or is too large.
///
/// ```
/// use annals_projections::parse_amount;
/// assert_eq!(parse_amount("0.50"), Some(500_000));
/// assert_eq!(parse_amount("-1"), None);
/// ```
pub fn parse_amount(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_millionths() {
        for (text, micros) in [
            ("1", Some(1_000_000)),
            ("0.10", Some(100_000)),
            ("12.345678", Some(12_345_678)),
            ("", None),
            (".5", None),
            ("1.", None),
            ("-1", None),
            ("1.2.3", None),
            ("1e9", None),
            ("0.1234567", None),
            ("18446744073710", None),
            ("\u{ff11}", None),
        ] {
            assert_eq!(parse_amount(text), micros, "{text}");
        }
    }

    #[test]
    fn amounts_have_four_digits() {
        for (micros, shown) in [
            (0, "$0.0000"),
            (1, "<$0.0001"),
            (50, "$0.0001"),
            (1_234_549, "$1.2345"),
            (1_234_550, "$1.2346"),
            (999_999_950, "$1000.0000"),
        ] {
            assert_eq!(amount_of_money(micros, "USD"), shown);
        }
        assert_eq!(amount_of_money(1_500_000, "EUR"), "1.5000 EUR");
        assert!(!amount_of_money(u128::MAX, "USD").is_empty());
    }
}
