package gateway

import (
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
)

// ScriptVersion is the version of the model script format this package reads.
const ScriptVersion = 1

const maxScriptBytes = 1 << 20

// A Script is what a scripted model does in a task, whatever the client and the configuration: client-neutral steps in
// order. It is a TOML file:
//
//	version = 1
//
//	[[step]]
//	say = "I will look at the crate first."    # text beside the next tool call; after the last tool call it ends the turn
//
//	[[step]]
//	read = "Cargo.toml"                        # path below the project
//
//	[[step]]
//	read = "src/lib.rs"                        # Claude Code refuses to write an existing file it has not read
//
//	[[step]]
//	when_skill_offered = "fixture-store"       # only if the client really offered that skill
//	load_skill = "fixture-store"
//
//	[[step]]
//	when_skill_offered = "fixture-store"
//	write = "src/lib.rs"
//	content = "…"
//
//	[[step]]
//	otherwise = true                           # only if the nearest step above with a condition was not taken
//	write = "src/lib.rs"
//	content = "…"
//
//	[[step]]
//	when_prompt = "(?i)release notes"          # only for a prompt that matches: the cases of a suite's trigger task share a script
//	load_skill = "release-notes"
//
//	[[step]]
//	run = "cargo test --lib"                   # for the client's shell, in its working directory
//
//	[[step]]
//	fail_with = 429                            # 400, 401, 429, 500, 529, "refusal", "truncated" or "slow"
//	times = 2                                  # attempts that fail; default 1, 0 is for ever
//
//	[[judge]]                                  # for suites: the answer to a criterion
//	match = "(?i)mentions sync"                # Go regular expression
//	answer = "yes"                             # yes, no, unclear
//	reason = "it does"
type Script struct {
	Name   string // the file's name, as given
	Steps  []Step
	Judges []Judge
}

// An Action is what a step does.
type Action string

// The actions, by their keys in the file.
const (
	ActionSay       Action = "say"
	ActionLoadSkill Action = "load_skill"
	ActionRead      Action = "read"
	ActionWrite     Action = "write"
	ActionRun       Action = "run"
	ActionFailWith  Action = "fail_with"
)

// A Step is one [[step]]: one action and its conditions.
type Step struct {
	Line    int // in the file, 1-based
	Action  Action
	Arg     string // say: text; load_skill: name; read, write: relative slash path; run: command; fail_with: what
	Content string // write only
	Times   int    // fail_with only: attempts that fail; 0 is for ever

	WhenSkillOffered string         // "": in any case
	WhenPrompt       *regexp.Regexp // nil: whatever the prompt
	Otherwise        bool
}

// A Judge is one [[judge]]: the answer to every criterion Match finds itself in.
type Judge struct {
	Line   int
	Match  *regexp.Regexp
	Answer string // yes, no, unclear
	Reason string
}

// A Problem is one thing wrong with a script.
type Problem struct {
	File string
	Line int    // 1-based
	Col  int    // 1-based, in bytes
	Text string // what; what to do
}

func (p Problem) Error() string { return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Text) }

// Problems is everything wrong with a script, by place. It is never empty where it is an error.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each problem to errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// LoadScript reads the model script at path, at most 1 MiB. What is wrong inside the file is a [Problems].
func LoadScript(path string) (*Script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model script: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScriptBytes+1))
	if err != nil {
		return nil, fmt.Errorf("model script: %w", err)
	}
	return ParseScript(path, data)
}

// taken says which steps apply in a trial with this prompt when these skills are offered, by index.
func (s *Script) taken(offered []Offer, prompt string) []bool {
	has := map[string]bool{}
	for _, o := range offered {
		has[o.Skill] = true
	}
	taken := make([]bool, len(s.Steps))
	last := false // was the nearest step above with a condition of its own taken?
	for i, st := range s.Steps {
		switch {
		case st.WhenSkillOffered != "" || st.WhenPrompt != nil:
			last = (st.WhenSkillOffered == "" || has[st.WhenSkillOffered]) && (st.WhenPrompt == nil || st.WhenPrompt.MatchString(prompt))
			taken[i] = last
		case st.Otherwise:
			taken[i] = !last
		default:
			taken[i] = true
		}
	}
	return taken
}

// known says what the steps taken before step i tell of its file.
func (s *Script) known(i int, taken []bool) known {
	arg := s.Steps[i].Arg
	k := known{folder: path.Dir(arg) == "."}
	for j, st := range s.Steps[:i] {
		if !taken[j] || st.Action != ActionRead && st.Action != ActionWrite {
			continue
		}
		k.file = k.file || st.Arg == arg
		k.folder = k.folder || path.Dir(st.Arg) == path.Dir(arg)
	}
	return k
}
