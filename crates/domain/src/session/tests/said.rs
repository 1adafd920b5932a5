//! What the caller has to say of a commit, and which tests count.

use super::*;

const PROTECTED: &str = "Policy violation: Protected branch";
const UNTESTED: &str = "Policy violation: Tests required before push";

fn protects() -> PolicyProfile {
    PolicyProfile {
        protected_branches: words(&["main"]),
        ..anything()
    }
}

#[test]
fn no_refspec_passes_a_protected_branch() {
    let stage = Stage::under(protects());
    for refspec in [
        "HEAD:main",
        "+main",
        "main:main",
        "refs/heads/main:refs/heads/main",
        ":main",
        ":",
        "heads/main",
        "work:heads/main",
        "refs/heads/*:refs/heads/*",
    ] {
        assert_eq!(stage.verdict(push(refspec)), PROTECTED, "{refspec}");
    }
    assert_eq!(stage.verdict(create_branch("heads/main")), PROTECTED);
    for refspec in [
        "main:work",
        "HEAD:work",
        "+work",
        "main:refs/tags/main",
        ":work",
    ] {
        assert_eq!(stage.verdict(push(refspec)), "CommandAccepted", "{refspec}");
    }
}

#[test]
fn a_push_of_head_is_one_of_the_branch_that_the_session_created() {
    let stage = Stage::under(protects())
        .after(submit(1, create_branch("work")))
        .after(succeeds(1));
    assert_eq!(stage.verdict(push("HEAD")), "CommandAccepted");
}

#[test]
fn a_commit_says_its_branch_where_branches_are_protected() {
    let stage = Stage::under(protects());
    stage.check_invalid(submit(1, commit(1)), "branch", "say which branch");
    let on = |branch: &str| SubmitCommand {
        branch: Some(branch.into()),
        ..submit(1, commit(1))
    };
    let said = |branch: &str| stage.clone().when(on(branch)).pop().unwrap();
    assert_eq!(said("work"), "1 accepted");
    for branch in [
        "main",
        "refs/heads/main",
        "heads/main",
        "HEAD",
        "+main",
        "",
        "work:work",
    ] {
        let rejected = "1 rejected: Policy violation, Protected branch";
        assert_eq!(said(branch), rejected, "{branch}");
    }
    // Where the session knows a branch, and another one is said, neither may be protected.
    let mut known = stage
        .clone()
        .after(submit(2, create_branch("work")))
        .after(succeeds(2));
    assert_eq!(
        known.clone().when(submit(1, commit(1))).pop().unwrap(),
        "1 accepted"
    );
    assert!(known.when(on("main")).pop().unwrap().contains("rejected"));
    // Without protected branches it need not be said.
    assert_eq!(
        Stage::under(anything()).verdict(commit(1)),
        "CommandAccepted"
    );
}

#[test]
fn a_push_says_its_branch_where_branches_are_protected() {
    let stage = Stage::under(protects());
    for text in ["HEAD", "@", "+HEAD", ""] {
        stage.check_invalid(submit(1, push(text)), "branchName", "as HEAD:BRANCH");
    }
    assert_eq!(stage.verdict(push("HEAD:work")), "CommandAccepted");
    let known = stage
        .after(submit(2, create_branch("work")))
        .after(succeeds(2));
    assert_eq!(known.verdict(push("HEAD")), "CommandAccepted");
    known.check_invalid(submit(1, push("")), "branchName", "as HEAD:BRANCH");
}

#[test]
fn what_a_push_says_is_not_a_name_of_a_new_branch() {
    for policy in [anything(), protects()] {
        let stage = Stage::under(policy);
        for name in ["HEAD:x", "+x", "x:", ":", "+"] {
            let says = "no colon, and no plus in front";
            stage.check_invalid(submit(1, create_branch(name)), "branchName", says);
        }
        assert_eq!(stage.verdict(create_branch("a+b")), "CommandAccepted");
    }
}

/// Whatever the policy protects: git would take these for options, or for several branches.
#[test]
fn a_branch_is_one_name_and_no_option() {
    for policy in [anything(), protects()] {
        let stage = Stage::under(policy);
        for name in [
            "-D main",
            "-d",
            "--all",
            "work main",
            "a\tb",
            "HEAD",
            "@",
            "",
            "a..b",
            "a~1",
            "a/",
            ".a",
            "a\u{200b}",
        ] {
            stage.check_invalid(submit(1, create_branch(name)), "branchName", "expected");
        }
        for text in [
            "--mirror --force",
            "--mirror",
            "--all",
            "-f",
            "main --force",
            "work main",
            "HEAD:main topic",
            "topic:--force",
            "+-d",
            "-d:x",
            " main",
            "main\n",
        ] {
            stage.check_invalid(submit(1, push(text)), "branchName", "expected");
        }
        let from = |from: &str| CreateBranch {
            repo: repo("/app"),
            branch_name: "work".into(),
            from_ref: Some(from.into()),
        };
        for text in [
            "-D",
            "--orphan",
            " --detach",
            "",
            "a\nb",
            "HEAD --force",
            "HEAD\t-f",
            "HEAD\u{a0}-f",
        ] {
            assert!(
                stage.given.decide(submit(1, from(text))).is_err(),
                "{text:?}"
            );
        }
        assert_eq!(stage.verdict(from("HEAD~1")), "CommandAccepted");
        let diff = |reference: &str| GetDiff {
            repo: repo("/app"),
            reference: reference.into(),
        };
        stage.check_invalid(
            submit(1, diff("--output=/etc/passwd")),
            "ref",
            "an option of git",
        );
        stage.check_invalid(
            submit(1, diff("HEAD --output=/etc/passwd")),
            "ref",
            "white space",
        );
        for text in ["HEAD@{1.day.ago}", "main...topic", "HEAD~1..HEAD"] {
            assert_eq!(stage.verdict(diff(text)), "CommandAccepted");
        }
    }
}

#[test]
fn tests_take_longer_than_no_time() {
    let stage = Stage::under(anything());
    let lasting = |ticks: i64| RunTests {
        repo: repo("/app"),
        filter: None,
        timeout: Some(TimeSpan::from_ticks(ticks)),
    };
    for ticks in [0, -1, i64::MIN] {
        stage.check_invalid(submit(1, lasting(ticks)), "timeout", "expected more than 0");
    }
    assert_eq!(stage.verdict(lasting(1)), "CommandAccepted");
}

#[test]
fn a_blank_filter_chooses_all_tests() {
    let tested = |filter: &str| {
        let tests = RunTests {
            repo: repo("/app"),
            filter: Some(filter.into()),
            timeout: None,
        };
        let policy = PolicyProfile {
            require_tests_before_push: true,
            ..anything()
        };
        let stage = Stage::under(policy)
            .after(submit(1, tests))
            .after(succeeds(1));
        stage.verdict(push("HEAD:work"))
    };
    for filter in ["", " ", "\n"] {
        assert_eq!(tested(filter), "CommandAccepted", "{filter:?}");
    }
    assert_eq!(tested("unit"), UNTESTED);
}

#[test]
fn what_is_committed_lies_in_the_repository_and_under_the_paths() {
    let stage = Stage::under(anything());
    let commit = |include: &[&str], files: &[&str]| SubmitCommand {
        files: Some(words(files)),
        ..submit(
            1,
            Commit {
                repo: repo("/app"),
                message: "m".into(),
                include_paths: words(include),
                amend: false,
            },
        )
    };
    for path in [
        "/etc/passwd",
        "../../x",
        "src/../../x",
        "..",
        "~/x",
        "C:\\x",
        ".git/config",
        "",
    ] {
        assert!(
            stage.given.decide(commit(&[path], &["src/a"])).is_err(),
            "{path}"
        );
        assert!(
            stage.given.decide(commit(&["."], &[path])).is_err(),
            "{path}"
        );
    }
    for option in ["-A", "--all"] {
        stage.check_invalid(
            commit(&[option], &["a"]),
            "includePaths",
            "an option of git",
        );
    }
    for (include, file) in [
        (&["src/", "lib/"][..], "zzz"),
        (&["src"], "srcs/a"),
        (&["src/*.rs"], "lib/a.rs"),
        (&["a"], "b"),
    ] {
        stage.check_invalid(
            commit(include, &[file]),
            "files",
            "under none of includePaths",
        );
    }
    for (include, file) in [
        (&["src/", "lib/"][..], "lib/a/b"),
        (&["."], "zzz"),
        (&["./src"], "src/a"),
        (&[":/"], "zzz"),
        (&["*.rs"], "src/a.rs"),
        (&["src/[ab].rs"], "src/a.rs"),
        (&["a"], "./a"),
        (&["/app/src"], "src/a"),
        (&["/app"], "src/a"),
        (&["src"], "/app/src/a"),
        (&[], "zzz"),
    ] {
        let said = stage.clone().when(commit(include, &[file])).concat();
        assert!(said.contains("accepted"), "{include:?} {file}: {said}");
    }
}

/// `push` grants what `Push` does; what is no kind of command is the caller's own word.
#[test]
fn an_approval_grants_a_kind_in_any_case() {
    let policy = PolicyProfile {
        require_approval_for_push: true,
        ..anything()
    };
    for word in ["push", "PUSH", " Push "] {
        let stage =
            Stage::under(policy.clone()).after(submit(1, request_approval(&[word, "Deploy it"])));
        let mut stage = stage;
        assert_eq!(stage.when(approve()), [r#"approved ["Push", "Deploy it"]"#]);
        assert_eq!(stage.verdict(push("work")), "CommandAccepted");
    }
    let stage = Stage::under(policy);
    stage.check_invalid(
        submit(1, request_approval(&[" "])),
        "requiredActions",
        "blank",
    );
}

#[test]
fn a_commit_lists_its_files_where_they_are_limited() {
    let stage = Stage::under(PolicyProfile {
        max_files_per_commit: Some(2),
        ..anything()
    });
    let of = |files: Option<&[&str]>| SubmitCommand {
        files: files.map(words),
        ..submit(
            1,
            Commit {
                repo: repo("/app"),
                message: "all".into(),
                include_paths: words(&["."]),
                amend: false,
            },
        )
    };
    stage.check_invalid(of(None), "files", "list the files");
    let said = |files: &[&str]| stage.clone().when(of(Some(files))).pop().unwrap();
    assert_eq!(said(&["a", "b", "a"]), "1 accepted");
    let rejected = "1 rejected: Policy violation, Too many files in commit";
    assert_eq!(said(&["a", "b", "c"]), rejected);
}

#[test]
fn an_empty_list_of_files_does_not_stand_for_folders_or_patterns() {
    let stage = Stage::under(PolicyProfile {
        max_files_per_commit: Some(2),
        ..anything()
    });
    let of = |included: &[&str], files: &[&str]| SubmitCommand {
        files: Some(words(files)),
        ..submit(
            1,
            Commit {
                repo: repo("/app"),
                message: "all".into(),
                include_paths: words(included),
                amend: false,
            },
        )
    };
    for (included, file) in [
        (&["."][..], "a"),
        (&["src/"], "src/a"),
        (&["a", "*.rs"], "a"),
        (&["src"], "src/a"),
        (&["[ab]"], "a"),
        (&["a", "b"], "a"),
        (&["src/."], "src/a"),
        (&[":/"], "a"),
    ] {
        stage.check_invalid(of(included, &[]), "files", "list the files");
        let listed = stage.clone().when(of(included, &[file]));
        assert_eq!(listed.last().unwrap(), "1 accepted", "{included:?}");
    }
    // A commit of nothing changes nothing.
    let said = stage.clone().when(of(&[], &[]));
    assert_eq!(said.last().unwrap(), "1 accepted");
    // Where files are not limited, nothing need be said.
    let said = Stage::under(anything()).when(of(&["."], &[]));
    assert_eq!(said.last().unwrap(), "1 accepted");
}

#[test]
fn a_commit_on_no_branch_counts_as_one_to_a_protected_branch() {
    let stage = Stage::under(protects());
    let on = |branch: &str| SubmitCommand {
        branch: Some(branch.into()),
        ..submit(1, commit(1))
    };
    for branch in [
        "refs/tags/v1",
        "tags/v1",
        "refs/remotes/origin/work",
        "HEAD",
        "0123456789abcdef0123456789abcdef01234567",
        "ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef0123456789",
    ] {
        let said = stage.clone().when(on(branch)).pop().unwrap();
        let rejected = "1 rejected: Policy violation, Protected branch";
        assert_eq!(said, rejected, "{branch}");
        // Without protected branches it may be on none.
        let said = Stage::under(anything()).when(on(branch)).pop().unwrap();
        assert_eq!(said, "1 accepted", "{branch}");
    }
    assert_eq!(
        stage.clone().when(on("deadbeef")).pop().unwrap(),
        "1 accepted"
    );
}

#[test]
fn branch_and_files_are_said_of_commits_alone() {
    let stage = Stage::under(anything());
    let branch = SubmitCommand {
        branch: Some("work".into()),
        ..submit(1, push("work"))
    };
    stage.check_invalid(branch, "branch", "this is a Push");
    let files = SubmitCommand {
        files: Some(Vec::new()),
        ..submit(1, get_diff())
    };
    stage.check_invalid(files, "files", "this is a GetDiff");
}

fn tests(path: &str, filter: Option<&str>) -> RunTests {
    RunTests {
        repo: repo(path),
        filter: filter.map(str::to_owned),
        timeout: None,
    }
}

fn tested() -> PolicyProfile {
    PolicyProfile {
        require_tests_before_push: true,
        ..anything()
    }
}

#[test]
fn tests_count_for_their_repository() {
    // A session of this version works on one repository.
    let stage = Stage::before(tested())
        .after(submit(1, tests("/other", None)))
        .after(succeeds(1));
    assert_eq!(stage.verdict(push("HEAD:work")), UNTESTED);
    let stage = stage
        .after(submit(2, tests("/app", None)))
        .after(succeeds(2));
    assert_eq!(stage.verdict(push("HEAD:work")), "CommandAccepted");
    // A repository may have two paths, so that a change in any is one.
    let patch = ApplyPatch {
        repo: repo("/mnt/app"),
        patch_content: "-a\n+b\n".into(),
    };
    let stage = stage.after(submit(3, patch)).after(succeeds(3));
    assert_eq!(stage.verdict(push("HEAD:work")), UNTESTED);
}

#[test]
fn filtered_tests_count_only_where_the_profile_says_so() {
    let run = |policy| {
        let filtered = submit(1, tests("/app", Some("unit")));
        let stage = Stage::under(policy).after(filtered).after(succeeds(1));
        stage.verdict(push("HEAD:work"))
    };
    assert_eq!(run(tested()), UNTESTED);
    let counting = PolicyProfile {
        filtered_tests_count: true,
        ..tested()
    };
    assert_eq!(run(counting), "CommandAccepted");
}
