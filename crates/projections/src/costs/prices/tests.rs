//! What tables of prices are read, and what tokens cost by them.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn table(prices: &str) -> Result<PriceTable, PriceError> {
    PriceTable::parse(&format!(
        "currency = \"USD\"\nas_of = \"2026-01-31\"\n{prices}"
    ))
}

const ONE: &str =
    "[[price]]\nmodels = [\"m\", \"n\"]\nfrom = \"2026-01-01\"\ninput = 3\noutput = 15.5\n";

#[test]
fn the_table_of_this_version_can_be_read() {
    let table = PriceTable::parse(STANDARD).unwrap();
    assert_eq!(&table, PriceTable::standard());
    assert_eq!(table.currency(), "USD");
    assert!(table.models().count() > 20);
    let opus = table.price("claude-opus-4-5-20251101", day("2026-01-07"));
    let expected = Price {
        input: 5_000_000,
        cache_read: Some(500_000),
        cache_write: Some(6_250_000),
        cache_write_1h: Some(10_000_000),
        output: 25_000_000,
        web_search: Some(10_000_000),
    };
    assert_eq!(opus, Some(&expected));
    for line in STANDARD.lines().filter(|line| line.starts_with("source")) {
        assert!(line.starts_with("source = \"https://"), "{line}");
    }
    let sources = STANDARD.matches("\nsource").count();
    assert_eq!(sources, STANDARD.matches("\n[[price]]").count());
}

#[test]
fn a_price_is_valid_from_its_day_until_the_next() {
    let later = "[[price]]\nmodels = [\"m\"]\nfrom = \"2026-02-01\"\ninput = 2\noutput = 10\n";
    let table = table(&[ONE, later].concat()).unwrap();
    let input = |model: &str, on: &str| table.price(model, day(on)).map(|price| price.input);
    assert_eq!(input("m", "2025-12-31"), None);
    assert_eq!(input("m", "2026-01-01"), Some(3_000_000));
    assert_eq!(input("m", "2026-01-31"), Some(3_000_000));
    assert_eq!(input("m", "2026-02-01"), Some(2_000_000));
    assert_eq!(input("n", "2026-02-01"), Some(3_000_000));
    // No name is taken for another one.
    for other in ["M", "m-20260101", "vendor/m", ""] {
        assert_eq!(input(other, "2026-02-01"), None, "{other}");
    }
}

#[test]
fn costs_are_rounded_once_and_what_has_no_price_is_counted() {
    let table = table(ONE).unwrap();
    let price = *table.price("m", day("2026-01-01")).unwrap();
    let used = |input: u128, output: u128| TokenSums {
        uncached_input_tokens: input,
        output_tokens: output,
        ..TokenSums::default()
    };
    assert_eq!(price.cost(&used(1, 0)), (3, 0));
    assert_eq!(price.cost(&used(0, 1)), (16, 0), "half up");
    assert_eq!(price.cost(&used(1, 1)), (19, 0), "not each by itself");
    assert_eq!(price.cost(&used(u128::MAX, 1)).1, 0);
    let cached = TokenSums {
        cache_read_tokens: 5,
        cache_write_tokens: 7,
        cache_write_1h_tokens: 3,
        ..used(1, 0)
    };
    assert_eq!(price.cost(&cached), (3, 12));
    let with = Price {
        cache_read: Some(1_000_000),
        cache_write: Some(10_000_000),
        cache_write_1h: Some(100_000_000),
        ..price
    };
    assert_eq!(with.cost(&cached), (3 + 5 + 40 + 300, 0));
    // More for an hour than there is at all: an event of it came alone.
    let alone = TokenSums {
        cache_write_1h_tokens: 3,
        ..TokenSums::default()
    };
    assert_eq!(with.cost(&alone), (0, 0));
}

#[test]
fn searches_of_the_web_have_a_price_for_a_thousand() {
    let text = ONE.replace("output = 15.5", "output = 15.5\nweb_search = 10");
    let price = *table(&text).unwrap().price("m", day("2026-01-01")).unwrap();
    assert_eq!(price.search_cost(3), (30_000, 0));
    assert_eq!(price.search_cost(0), (0, 0));
    let none = *table(ONE).unwrap().price("m", day("2026-01-01")).unwrap();
    assert_eq!(none.search_cost(3), (0, 3));
    let standard = PriceTable::standard();
    let today = day("2026-12-01");
    for model in standard.models().filter(|model| model.contains("claude")) {
        let cost = standard.search_cost(Some(model), today, 1_000);
        assert_eq!(cost, (10_000_000, 0), "{model}");
    }
    assert_eq!(standard.search_cost(Some("who knows"), today, 2), (0, 2));
}

#[test]
fn other_texts_are_refused_with_their_place() {
    let cases = [
        (
            ONE.replace("\"2026-01-01\"", "\"2026-1-1\""),
            "the price of m, n, from",
        ),
        (ONE.replace("15.5", "-1"), "output \"-1\""),
        (ONE.replace("15.5", "nan"), "output \"NaN\""),
        (ONE.replace("15.5", "0.0000001"), "at most six digits"),
        (ONE.replace("15.5", "2e9"), "output"),
        (
            ONE.replace("[\"m\", \"n\"]", "[]"),
            "expected the names of models",
        ),
        ([ONE, ONE].concat(), "another price of it"),
        (ONE.replace("input", "inptu"), "unknown field `inptu`"),
        (ONE.replace("input = 3", ""), "missing field `input`"),
        ("price = 7".to_owned(), "invalid type"),
    ];
    for (text, expected) in cases {
        let error = table(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
    let error = PriceTable::parse("currency = \"dollar\"\nas_of = \"2026-01-31\"").unwrap_err();
    assert!(error.to_string().contains("three letters"), "{error}");
    assert_eq!(error.code(), "invalid_prices");
    assert!(table("").unwrap().models().next().is_none());
}
