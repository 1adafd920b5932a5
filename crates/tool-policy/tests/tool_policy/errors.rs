//! What is wrong with a policy is said with its file, its line and its rule.

use annals_tool_policy::Policies;

#[test]
fn mistakes_are_named_with_their_lines() {
    for (text, line, word) in [
        ("permit (principal, action, resource)", 1, "unexpected"),
        ("\n\npermit (principal action, resource);", 3, "unexpected"),
        (
            "// a\n@id(\"a\")\npermit (principal, action, resource)\nwhen { resource.pth == \"a\" };",
            4,
            "pth",
        ),
        (
            "@id(\"a\")\npermit (principal, action == Action::\"reed\", resource);",
            2,
            "reed",
        ),
        (
            "permit (principal, action in Action::\"read\", resource)\nwhen {\n  resource.inside == \"yes\"\n};",
            3,
            "Bool",
        ),
        (
            "permit (principal, action in Action::\"read\", resource is Command);",
            1,
            "",
        ),
        (
            "@aks(\"a\")\nforbid (principal, action, resource);",
            1,
            "@aks",
        ),
        (
            "@default(\"deny\")\nforbid (principal, action, resource);",
            1,
            "@default",
        ),
        (
            "permit (principal, action in Action::\"read\", resource) when { resource has path };",
            1,
            "has path",
        ),
        ("permit (principal, action, resource == ?resource);", 1, ""),
        (
            "@id(\"a\")\npermit (principal, action, resource);\n@id(\"a\")\npermit (principal, action, resource);",
            3,
            "another rule",
        ),
        (
            "permit (principal == User::\"ann\", action, resource);",
            1,
            "User",
        ),
    ] {
        let errors = Policies::parse(&[("p.cedar", text)]).expect_err(text);
        let first = errors.errors().first().expect("there is one");
        assert_eq!(
            (first.file.as_str(), first.line),
            ("p.cedar", line),
            "{text}: {errors}"
        );
        assert!(first.reason.contains(word), "{text}: {errors}");
        assert!(
            !first.reason.is_empty() && !first.reason.contains('\n'),
            "{text}: {errors}"
        );
    }
}

#[test]
fn all_mistakes_are_said() {
    let text = "permit (principal, action, resource) when { resource.a };\n\
                permit (principal, action == Action::\"read\", resource) when { resource.b };\n";
    let errors =
        Policies::parse(&[("p.cedar", text), ("q.cedar", "forbid")]).expect_err("they are wrong");
    let places: Vec<(&str, usize)> = errors
        .errors()
        .iter()
        .map(|it| (it.file.as_str(), it.line))
        .collect();
    assert!(
        places.contains(&("p.cedar", 1)) && places.contains(&("p.cedar", 2)),
        "{errors}"
    );
    assert!(places.contains(&("q.cedar", 1)), "{errors}");
}

#[test]
fn policies_without_an_id_are_named_by_their_line() {
    let text = "\npermit (principal, action, resource);";
    let policies = Policies::parse(&[("p.cedar", text)]).expect("it is valid");
    assert_eq!(policies.rules()[0].id, "p.cedar:2");
    assert!(
        Policies::parse(&[("empty.cedar", "// nothing")])
            .expect("it is valid")
            .rules()
            .is_empty()
    );
}
