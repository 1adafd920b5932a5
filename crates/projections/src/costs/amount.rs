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

#[cfg(test)]
mod tests {
    use super::*;

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
