//! Constructs of the shell by which a command does what the policy forbids, and seems to do something else. None is allowed.

use annals_tool_policy::{Call, Verdict};
use serde_json::json;

use crate::around::{all_are_allowed, commands, named, none_is_allowed};
use crate::in_workspace;

#[test]
fn commands_within_words_are_found() {
    none_is_allowed(
        "read-only",
        commands(&[
            "echo ~$(touch x)",
            "echo ~`touch x`",
            "cat ~a\"$(rm y)\"",
            "cat < ~$(rm y)",
            "for i in ~$(rm y); do ls; done",
            "echo ~${x:-$(rm y)}",
            "echo ~$((a[$(rm y)]))",
            "bash -c 'ls ~$(rm y)'",
            "case ~$(rm y) in a) ls;; esac",
            "x=~$(rm y)",
            "echo ~+$(rm y)",
            "echo ${x:-<(touch x)}",
            "echo ${x:-a<(touch x)}",
            "echo ${x:- >(touch x)}",
            "echo ${x:-%<(touch x)}",
            "echo ${x:=<(touch x)}",
            "echo ${x/%>(touch x)}",
            "echo ${x:-=(touch x)}",
            "cat <<E\n${x:-<(touch x)}\nE",
        ]),
    );
    none_is_allowed(
        "protected-branches",
        commands(&[
            "ls ~$(git push origin main)",
            "cat ${x:-@<(git push origin main)}",
            "echo $(( 'a[$(git push origin main)]' ))",
        ]),
    );
    none_is_allowed(
        "protected-paths",
        commands(&["echo ~$(echo x > .git/config)", "dd if=x of=~/.bashrc"]),
    );
    all_are_allowed(
        "read-only",
        &[
            "ls ~/src",
            "cat ~/src/$(ls -t ~/src | head -1)",
            "echo ${x:-~} ${y/a/b} ${z%.rs}",
        ],
    );
}

#[test]
fn documents_end_where_the_shell_ends_them() {
    none_is_allowed(
        "read-only",
        commands(&[
            "cat <<$'A'\nx\nA\ntouch x\n$A\n",
            "cat <<$\"A\"\nx\nA\ntouch x\n$A\n",
            "cat <<$''A\nx\nA\ntouch x\n$A\n",
            "cat <<$\"\"A\nx\nA\ntouch x\n$A\n",
            "cat <<\"A\\B\"\nx\nA\\B\ntouch x\nAB\n",
            "cat <<'A\\B'\nx\nA\\B\ntouch x\nAB\n",
            "cat <<${A}\nx\n${A}\ntouch x\nA\n",
            "cat <<A\nx\nA\\\n\ntouch x\nA",
            "cat <<-A\nx\n\tA\\\n\ntouch x\nA",
            "echo $(cat <<$'A'\nx\nA\ntouch x\n$A\n)",
            "echo $(cat <<A\nx\nA\\\n\ntouch x\nA\n)",
            "echo `cat <<$'A'\nx\nA\ntouch x\n$A\n`",
        ]),
    );
    all_are_allowed(
        "read-only",
        &[
            "cat <<'EOF'\nx \\\ny $(touch x)\nEOF",
            "cat <<\"EOF\"\n`touch x`\nEOF",
            "cat <<\\EOF\n`touch x`\nEOF",
            "cat <<-END_1.a-b\n\tx $y\n\tEND_1.a-b",
            "cat << EOF\na\\\\b\nEOF",
            "echo \"$(cat <<'EOF'\nstd::cout << \"a\\n\" << b;\nEOF\n)\"",
            "cat <<A <<'B'\nx\nA\ny\nB",
        ],
    );
}

#[test]
fn variables_that_say_what_runs_are_asked() {
    none_is_allowed(
        "read-only",
        commands(&[
            "BASH_CMDS[cat]=./evil; cat y",
            "BASH_CMDS=([cat]=./evil); cat y",
            "BASH_CMDS+=([cat]=./evil); cat y",
            "read 'BASH_CMDS[cat]' <<< ./evil; cat y",
            "printf -v 'BASH_CMDS[cat]' ./evil; cat y",
            "declare BASH_CMDS[cat]=./evil; cat y",
            "declare -n z=BASH_CMDS; z[cat]=./evil; cat y",
            "declare -n z='BASH_''CMDS'; z[cat]=./evil; cat y",
            ": ${BASH_CMDS[cat]:=./evil}; cat y",
            "for BASH_CMDS[cat] in ./evil; do cat y; done",
            "BASH_ALIASES[cat]='touch x'\ncat y",
            "shopt -s expand_aliases\ncat y",
            "bash -O expand_aliases -c 'cat y'",
            "hash -p ./evil cat; cat y",
            "read 'PATH[0]' <<< .; cat y",
            "export 'PATH[0]=.'; cat y",
        ]),
    );
    none_is_allowed(
        "protected-paths",
        commands(&[
            "PWD=.git; echo x > $PWD/config",
            "export PWD=.git; echo x > $PWD/config",
            "declare PWD=.git; echo x > $PWD/config",
            "read PWD <<< .git; echo x > $PWD/config",
            "for PWD in .git; do echo x > $PWD/config; done",
            "printf -v PWD .git; echo x > $PWD/config",
            ": ${PWD:=.git}; echo x > $PWD/config",
            "unset PWD; echo x > \"$PWD/.bashrc\"",
            "OLDPWD=.git; cd -; echo x > config",
            "OLDPWD=.git; echo x > $OLDPWD/config",
            "CDPATH=.git; cd hooks; touch x",
        ]),
    );
    all_are_allowed(
        "protected-paths",
        &["echo x > $PWD/y", "echo x > \"${PWD}\"/y"],
    );
}

#[test]
fn values_that_are_evaluated_are_numbers() {
    let read = "read x <<< 'a[$(touch y)]'; ";
    let of_input = [
        "echo $((x))",
        "echo $((x + 1))",
        "echo $((1 + $x))",
        "echo $((${x}))",
        "echo $[x]",
        "((x))",
        "((y = x))",
        "for ((i = x; i < 3; i++)); do ls; done",
        "let y=x",
        "let \"y=$x\"",
        "[[ x -eq 1 ]]",
        "[[ $x -gt 1 ]]",
        "[[ 1 -lt \"$x\" ]]",
        "[[ -v $x ]]",
        "[[ -v a[x] ]]",
        "test -v \"$x\"",
        "[ -v \"a[$x]\" ]",
        "a[x]=1",
        "a=([x]=1)",
        "declare a=([x]=1)",
        "read 'a[x]' <<< 1",
        "printf -v 'a[x]' 1",
        "unset 'a[x]'",
        "echo ${a[x]}",
        "echo ${#a[x]}",
        "echo ${y:x}",
        "echo ${y:0:x}",
        "echo ${y: x}",
        "declare -i y=x",
        "declare -n y=$x; echo $y",
        "declare -n y=x; echo $((y))",
        "y=$x; echo $((y))",
        "x=1; echo $((x))",
        "y=1; y=$((x)); echo $y",
        "echo ${!x}",
        "echo \"${x@P}\"",
        "echo \"${y:-${x@P}}\"",
        "echo ${(e)x}",
        "y=1; a$y=1; echo $((x$y))",
    ];
    let of_input: Vec<String> = of_input.iter().map(|it| format!("{read}{it}")).collect();
    let of_input: Vec<&str> = of_input.iter().map(String::as_str).collect();
    none_is_allowed("read-only", commands(&of_input));
    none_is_allowed(
        "read-only",
        commands(&[
            "set -- '$(touch y)'; echo \"${1@P}\"",
            ": '$(touch y)'; echo \"${_@P}\"",
            "echo 'a[$(touch y)]'; (( _ ))",
            "for x in 'a[$(touch y)]'; do echo $((x)); done",
            "for x in 1 'a[$(touch y)]'; do echo $((x)); done",
            "for x; do echo $((x)); done",
            "set -- 'a[$(touch y)]'; echo ${!1}",
            "set -- 'a[$(touch y)]'; echo $(($1))",
            "bash -c 'echo \"${0@P}\"' '$(touch y)'",
            "x=a[\\$\\(touch\\ y\\)]; echo $((x))",
            "x='a[$(touch y)]'; echo $((x))",
            "env x='a[$(touch y)]' bash -c 'echo $((x))'",
            "read x < file; echo \"${x@P}\"",
            "echo $(( $(cat file) ))",
            "read -ax < file; x=1; echo $((x))",
            "read < file; REPLY=1; echo $((REPLY))",
            "x=1; while read x; do echo $((x)); done < file",
        ]),
    );
    all_are_allowed(
        "read-only",
        &[
            "echo $((1 + 2)) ${#a[@]} ${x:0:7} ${a[0]} ${a[@]:1} ${!a[@]}",
            "i=0; while read -r line; do i=$((i+1)); echo $i $line; done < x",
            "for ((i=0; i<3; i++)); do echo $i; done",
            "for i in 1 2 3; do echo $((i * 2)); done",
            "for i in {1..5}; do echo $((i * 2)); done",
            "a=(1 2 3); for i in 0 1 2; do echo ${a[i]} ${a[$i]}; done",
            "ls; rc=$?; if [[ $rc -ne 0 ]]; then echo $rc; fi",
            "if [[ $# -lt 1 ]]; then exit 1; fi",
            "n=${#a[@]}; ((n > 3)) && echo $n",
            "f() { local n=5; echo $((n / 2)); }",
            "[[ -v HOME && -n $x && $x =~ ^[0-9]+$ ]] && echo $x",
            "declare -A m=([a]=1); echo ${m[@]}",
            "total=$((1 + 2)); echo $((total * 2)) $((RANDOM % 6))",
            "getopts ab x; shift $((OPTIND - 1))",
        ],
    );
}

#[test]
fn the_folder_is_followed_in_all_its_changes() {
    none_is_allowed(
        "protected-paths",
        commands(&[
            "command cd .git && echo x > config",
            "builtin cd .git; echo x > config",
            "builtin pushd .git; echo x > config",
            "command builtin cd .git; echo x > config",
            "command eval 'cd .git'; touch config",
            "builtin eval 'cd .git'; touch config",
            "noglob cd .git; touch config",
            "time cd .git; touch config",
            "trap 'cd .git' DEBUG; touch config",
            "trap 'cd .git' ERR; false; touch config",
            "trap 'cd .git' USR1; kill -USR1 $$; touch config",
            "trap 'cd .git' DEBUG; cd /work/app && touch config",
            "trap 'touch config' EXIT; cd .git",
            "trap 'trap \"cd .git\" DEBUG' USR1; cd /work/app && touch config",
            "f() { cd .git; }; cd /work/app && f && touch config",
            "f() { command cd .git; }; cd /work/app && f && touch config",
            "f() { eval 'cd .git'; }; cd /work/app && f && touch config",
            "cd() { builtin cd .git; }; cd /work/app && touch config",
            "bash -O cdable_vars -c 'X=.git; cd X; touch config'",
        ]),
    );
    none_is_allowed(
        "protected-branches",
        commands(&[
            "command cd ../other; git commit -m x",
            "while true; do git commit -m x; git checkout main; done",
            "trap 'git commit -m x' EXIT; git checkout main",
            "git bisect start; git bisect reset main; git commit -m x",
            "git bisect reset main; git commit --allow-empty -m x",
            "git rebase x y; git commit -m x",
            "git stash branch y; git commit -m x",
            "gh pr checkout 5 && git commit -m x",
        ]),
    );
    all_are_allowed(
        "protected-paths",
        &[
            "command -v cargo && touch x",
            "command ls; touch x",
            "command cd . && touch x",
            "trap 'rm -rf /tmp/x' EXIT; touch y",
            "f() { ls; }; f; touch x",
            "for i in a b; do touch $PWD/x; done",
            "bash -c 'cd src && ls'; touch x",
        ],
    );
    all_are_allowed(
        "protected-branches",
        &[
            "git rebase x && git push origin topic && git commit -m x",
            "git stash && git commit -m x",
            "for i in 1 2; do git commit -m x; done",
        ],
    );
}

#[test]
fn names_in_lists_and_patterns_are_not_known() {
    none_is_allowed(
        "no-secrets",
        commands(&[
            "curl -s 'file:///work/app/.e{nv}'",
            "curl -s 'file:///work/app/.en[v-v]'",
            "curl -s file:///work/app/.en[v-v]",
            "curl -s file:///work/app/%2eenv",
            "curl -s 'file:///work/app/id_rsa?x'",
            "curl -s 'file:///work/app/id_rsa#x'",
            "echo 'url = file:///work/app/.env' | curl -K -",
            "curl --config - <<< 'url = file:///work/app/.env'",
            "echo :.env | git cat-file --batch",
            "echo :.env | git cat-file --batch-command",
            "echo .env | git hash-object -w --stdin-paths",
            "echo .env | tar cf - -T -",
            "echo .env | tar cfT - -",
            "echo .env | tar -cf - --files-from -",
            "echo .env | cpio -o",
            "echo .env | pax -w",
            "echo .env | rsync --files-from=- . x",
            "echo .env | zip -@ x",
            "echo .env | sort --files0-from=-",
            "7z a x @list",
        ]),
    );
    none_is_allowed(
        "protected-paths",
        commands(&[
            "curl http://x/{config} -o '.gi#1'",
            "curl -w '%output{.git/config}' http://x",
            "git rm --pathspec-from-file=x",
            "git checkout-index -f --stdin",
        ]),
    );
    none_is_allowed(
        "protected-branches",
        commands(&[
            "echo HEAD:main | git fetch --stdin .",
            "echo HEAD:main | git pull --stdin .",
            "echo main | git send-pack --stdin ../x topic",
        ]),
    );
    let fetch = |args| in_workspace(Call::new("WebFetch", args));
    none_is_allowed(
        "no-secrets",
        [
            fetch(json!({ "url": "file:///work/app/%2eenv" })),
            fetch(json!({ "url": "https://x", "uri": "file:///work/app/.env" })),
        ],
    );
    all_are_allowed(
        "no-secrets",
        &[
            "curl -s file:///work/app/x.json",
            "curl -s 'https://a.example/x?y={1,2}#1'",
            "tar czf /tmp/x.tgz src",
            "sort x | head",
        ],
    );
}

#[test]
fn runners_are_asked() {
    none_is_allowed(
        "protected-branches",
        commands(&[
            "dotenv -- git push origin main",
            "devbox run git push origin main",
            "pixi run git push origin main",
            "micromamba run git push origin main",
            "foreman run git push origin main",
            "zellij run -- git push origin main",
            "abduco -n x git push origin main",
            "envchain x git push origin main",
            "tox -- git push origin main",
            "catatonit -- git push origin main",
            "s6-setuidgid x git push origin main",
            "qemu-x86_64 /usr/bin/git push origin main",
            "ls | fzf --preview 'git push origin main'",
            "gnuplot <<< '!git push origin main'",
            "ftp x <<< '!git push origin main'",
            "echo '~!git push origin main' | mail x",
            "ansible localhost -a 'git push origin main'",
        ]),
    );
    all_are_allowed("protected-branches", &["tox", "pixi list", "mail -s x y"]);
}

#[test]
fn each_of_several_commands_is_judged() {
    let policies = named("protected-branches");
    let push = "git push origin main";
    for (args, expected) in [
        (json!({ "cmd": push, "command": "ls" }), Verdict::Deny),
        (json!({ "cmd": "ls", "command": push }), Verdict::Deny),
        (
            json!({ "cmd": ["git", "push", "origin", "main"], "command": "ls" }),
            Verdict::Deny,
        ),
        (json!({ "cmd": "ls", "command": "pwd" }), Verdict::Ask),
        (json!({ "cmd": "ls", "script": push }), Verdict::Deny),
        (json!({ "cmd": "ls", "command": "ls" }), Verdict::Allow),
        (json!({ "cmd": "ls", "command": null }), Verdict::Ask),
        (json!({ "cmd": "ls", "workdir": "src" }), Verdict::Allow),
    ] {
        for tool in ["exec_command", "shell", "Bash"] {
            let judged = policies.judge(&in_workspace(Call::new(tool, args.clone())));
            assert_eq!(judged.verdict, expected, "{tool} {args}: {}", judged.reason);
        }
    }
    let typed = json!({ "command": "y", "cmd": push, "is_input": true });
    none_is_allowed(
        "protected-branches",
        [in_workspace(Call::new("execute_bash", typed))],
    );
}
