//! The examples in `docs/tool-policy.md`: each policy is valid, and what follows it as tests holds.

use std::fs;
use std::path::Path;

use annals_tool_policy::{Policies, Suite};
use serde_json::Value;

#[test]
fn the_examples_do_what_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tool-policy.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let mut policy = String::new();
    let (mut policies, mut tests) = (0, 0);
    for block in page.split("```").skip(1).step_by(2) {
        if let Some(text) = block.strip_prefix("cedar\n") {
            Policies::parse(&[("example.cedar", text)]).unwrap_or_else(|errors| panic!("{errors}"));
            text.clone_into(&mut policy);
            policies += 1;
        }
        if let Some(text) = block.strip_prefix("json\n") {
            let mut value: Value = serde_json::from_str(text).expect("it is JSON");
            let named = value.as_object_mut().expect("it is an object");
            named
                .entry("policies")
                .or_insert_with(|| Value::from(vec!["example.cedar"]));
            // The last example is of a policy that is not shown.
            let text_of = if named["policies"] == serde_json::json!(["example.cedar"]) {
                policy.as_str()
            } else {
                ""
            };
            let suite = Suite::parse(&value.to_string()).expect("it has tests");
            let parsed = Policies::parse(&[("example.cedar", text_of)]).expect("it is valid");
            for tested in suite.run(&parsed).expect("the calls are calls") {
                assert!(
                    tested.passed,
                    "{}: {} {:?}",
                    tested.name, tested.found.verdict, tested.found.reason
                );
                tests += 1;
            }
        }
    }
    assert!(policies >= 2 && tests >= 11, "{policies} {tests}");
}
