//! The home page of a log with costs, budgets and sessions of many days, in light and dark, on a screen and on a phone.

use serde_json::json;

use super::{Browser, axe};
use crate::home::fill;
use crate::support::{Place, Viewing};

/// Sessions of the log.
const SESSIONS: u64 = 60;

#[test]
fn the_home_page_is_for_all_in_light_and_dark() {
    let place = Place::new();
    fill(&place, SESSIONS);
    place.human(
        "set_budget",
        json!({ "limit_micros": 10_000, "period": "day" }),
    );
    place.human(
        "submit_intent",
        json!({ "prompt": "Delete it", "source": "human", "risk": "high" }),
    );
    let viewing = Viewing::of(&place);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for theme in ["light", "dark"] {
            if !is_for_all(&viewing, theme).await {
                return;
            }
        }
    });
}

/// Tries the page in one theme. Returns `false` if there is no browser.
async fn is_for_all(viewing: &Viewing, theme: &str) -> bool {
    let prefers = match theme {
        "dark" => "--blink-settings=preferredColorScheme=0",
        _ => "--blink-settings=preferredColorScheme=1",
    };
    let Some(browser) = Browser::start_with(&[prefers]).await else {
        return false;
    };
    let is_dark = "return matchMedia('(prefers-color-scheme: dark)').matches";
    assert_eq!(browser.run(is_dark).await, json!(theme == "dark"));
    for (name, width, height) in [("screen", 1_440, 900), ("phone", 390, 844)] {
        let driver = &browser.driver;
        driver.set_window_rect(0, 0, width, height).await.unwrap();
        check(&browser, viewing, &format!("home-{name}-{theme}")).await;
    }
    let driver = &browser.driver;
    driver.set_window_rect(0, 0, 1_440, 900).await.unwrap();
    a_day_leads_to_its_sessions(&browser, viewing).await;
    browser.driver.quit().await.unwrap();
    true
}

/// The page has no sideways scrolling, no error, and nothing that axe-core finds.
async fn check(browser: &Browser, viewing: &Viewing, name: &str) {
    browser.goto(viewing, "/").await;
    browser
        .until("return document.querySelector('.live.on') !== null")
        .await;
    let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let wide = browser.run(wide).await.as_i64().unwrap();
    assert!(wide <= 0, "{name}: {wide} pixels too wide");
    assert_eq!(browser.errors().await, Vec::<String>::new(), "{name}");
    browser.picture(name).await;
    if let Some(axe) = axe::script() {
        browser.run(&axe).await;
        let found = browser.driver.execute_async(axe::RUN, Vec::new()).await;
        assert_eq!(found.unwrap().json(), &json!([]), "{name}");
    }
}

/// A cell of the activity strip and a bar of the chart set the filter, which the bar above the list shows.
async fn a_day_leads_to_its_sessions(browser: &Browser, viewing: &Viewing) {
    for link in [".heatbox a", ".chart .desk svg a"] {
        browser.goto(viewing, "/").await;
        let follow = format!(
            "const links = document.querySelectorAll('{link}'); \
             location.href = links[links.length - 2].getAttribute('href'); return true"
        );
        browser.run(&follow).await;
        browser
            .until(
                "return location.search.startsWith('?date=') && document.readyState === 'complete'",
            )
            .await;
        let chosen = "const it = document.querySelector('#filter-date'); return it.value === location.search.slice(6)";
        assert_eq!(browser.run(chosen).await, json!(true), "{link}");
        let rows = "return document.querySelectorAll('table.list tbody tr').length";
        assert_eq!(browser.run(rows).await, json!(2), "{link}");
    }
    let marked = "return document.querySelector('.heatbox a[aria-current=date]') !== null";
    assert_eq!(browser.run(marked).await, json!(true));
}
