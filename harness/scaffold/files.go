package scaffold

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/proctor-evals/proctor/harness/symposium"
)

// quote writes a text as a string of YAML and of TOML alike.
func quote(s string) string {
	text, _ := json.Marshal(s) // a string always encodes
	return string(text)
}

// firstSentence is the beginning of a description, on one line.
func firstSentence(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' ' // YAML takes few others
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if before, _, ok := strings.Cut(s, ". "); ok {
		s = before
	}
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most])
	}
	return strings.TrimRight(s, ".: ")
}

const configYAML = `# The skills are examined where they are.
skills_dirs: [%s]
`

const gitignore = `# What runs leave. Keep it out of version control, or keep what you want to show.
results/
runs/
.tools/
`

func suiteFiles(out files, skill symposium.Skill, name string) {
	about := firstSentence(skill.Description)
	positive := "I need help with this: " + about + "."
	out[".gitignore"] = gitignore
	dir := "suites/" + name
	out[dir+"/suite.yml"] = fmt.Sprintf("evaluated_skills: [%s]\n", skill.Name)
	out[dir+"/tasks/fires.yaml"] = fmt.Sprintf(firesYAML, skill.Name, quote(positive))
	out[dir+"/scripts/fires.toml"] = fmt.Sprintf(firesTOML, quote(regexp.QuoteMeta(positive)), skill.Name)
	out[dir+"/tasks/helps.yaml"] = fmt.Sprintf(helpsYAML, quote(positive), skill.Name)
	out[dir+"/scripts/helps.toml"] = fmt.Sprintf(helpsTOML, skill.Name)
}

const firesYAML = `# Does the skill fire for what it is for, and only for that? Write prompts as your users do, also some that are close and
# not meant. An attempt ends as soon as it is known whether the skill fires.
kind: trigger
skill: %s
positive:
  - %s
negative:
  - What is two and two? Answer with the number alone.
`

const firesTOML = `# What the scripted model does, so that the suite runs without a key. It says nothing of the skill.
version = 1

[[step]]
when_prompt = %s
load_skill = "%s"

[[step]]
otherwise = true
say = "4"

[[step]]
say = "Done."
`

const helpsYAML = `# Does the skill do its work? Say what must be true in the end: files, tool calls, the answer.
# docs/reference/suites.md of Proctor lists all assertions.
prompt: %s
timeout_seconds: 120
assertions:
  - skill_invoked: %s
  # Replace this one by what your skill is for.
  - response_contains: as the skill says
  - no_permission_errors:
`

const helpsTOML = `# What the scripted model does, so that the suite runs without a key. It says nothing of the skill.
version = 1

[[step]]
load_skill = "%[1]s"
when_skill_offered = "%[1]s"

[[step]]
when_skill_offered = "%[1]s"
say = "Done as the skill says."

[[step]]
otherwise = true
say = "Done."
`

func taskFiles(out files, skill symposium.Skill, name string) {
	dir := "tasks/" + name
	out["proctor.toml"] = proctorTOML
	out[dir+"/task.toml"] = fmt.Sprintf(taskTOML, quote("A first task for the skill "+skill.Name), skill.Name)
	out[dir+"/model.toml"] = fmt.Sprintf(taskModel, skill.Name)
	out[dir+"/starter/Cargo.toml"] = starterManifest
	out[dir+"/starter/Cargo.lock"] = starterLock
	out[dir+"/starter/src/lib.rs"] = fmt.Sprintf(starterSource, "String::new()")
	out[dir+"/solution/src/lib.rs"] = fmt.Sprintf(starterSource, `format!("{}\n", lines.join("\n"))`)
	out[dir+"/checks/ends_with_a_line_break.rs"] = checkSource
}

const proctorTOML = `# The skill's own worth: the baseline against the skill in the client's folder. Add with-symposium to examine its
# delivery by Symposium too (proctor setup cargo-agents).
configurations = ["without-symposium", "staged-skills"]
`

const taskTOML = `# A task: the same prompt with the skill and without it, graded by hidden tests. This one is an example that runs; replace
# prompt, starter/, solution/ and checks/ by work that your skill makes better. "proctor check" finds mistakes in it.
kind = "capability"
description = %s
prompt = """
Complete the function in src/lib.rs as its documentation says, by the rules of this project. Change nothing outside src/,
and make sure that "cargo test --lib --offline" passes. There is no network.
"""
editable = ["src"]
plugins = ["%s"]
model_script = "model.toml"
`

const taskModel = `# What the scripted model does, the same in every configuration, so that the task runs without a key. Whether it does well
# hangs on one thing only: whether the client really offered it the skill.
version = 1

[[step]]
read = "src/lib.rs"

[[step]]
load_skill = "%[1]s"
when_skill_offered = "%[1]s"

[[step]]
when_skill_offered = "%[1]s"
write = "src/lib.rs"
content = '''
//! Text of lines.

/// Puts the lines into one text, in their order, each on a line of its own.
pub fn page(lines: &[&str]) -> String {
    format!("{}\n", lines.join("\n"))
}
'''

[[step]]
otherwise = true
write = "src/lib.rs"
content = '''
//! Text of lines.

/// Puts the lines into one text, in their order, each on a line of its own.
pub fn page(lines: &[&str]) -> String {
    lines.join("\n")
}
'''

[[step]]
run = "cargo test --lib --offline"

[[step]]
say = "The function is complete."
`

const starterManifest = `[package]
name = "page"
version = "0.1.0"
edition = "2021"
publish = false
`

const starterLock = `# This file is automatically @generated by Cargo.
# It is not intended for manual editing.
version = 4

[[package]]
name = "page"
version = "0.1.0"
`

const starterSource = `//! Text of lines.

/// Puts the lines into one text, in their order, each on a line of its own.
pub fn page(lines: &[&str]) -> String {
    %s
}
`

const checkSource = `#[test]
fn ends_with_a_line_break() {
    assert_eq!(page::page(&["a", "b"]), "a\nb\n");
}
`

const goTest = `package evals_test

import (
	"testing"

	"github.com/proctor-evals/proctor/harness/evaltest"
)

func TestEval(t *testing.T) { evaltest.Run(t) }
`

// goFiles adds evals_test.go where the evals root belongs to a Go module.
func goFiles(out files, dir, evals string, made *Made) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if os.IsNotExist(err) || !within(evals, dir) {
		return nil
	}
	if err != nil {
		return err
	}
	out["evals_test.go"] = goTest
	made.GoTest = true
	made.GoGet = !strings.Contains(string(mod), "github.com/proctor-evals/proctor")
	return nil
}
