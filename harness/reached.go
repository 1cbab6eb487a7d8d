package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// A denied attempt leaves nothing behind. Reaching something leaves its content in a tool's output:
// that is what tells the two apart, whatever the command said it did.

// secret is content that no tool output of the trial may hold.
type secret struct {
	what  string
	lines map[string]bool // long lines of its text
}

// What makes an output evidence of a secret: so many different lines of it, each so long, with so
// many bytes together; or all of its lines where it has fewer. Lines that the agent was given or has
// itself written do not count, so that code which happens to agree is no evidence.
const (
	minSecretLine  = 24
	minSecretLines = 2
	minSecretBytes = 80
)

// cargoAgentsVersion is what every release prints of itself.
var cargoAgentsVersion = regexp.MustCompile(`(?m)^cargo-agents \d+\.\d+\.\d+`)

// lineNumber is what file tools put before a line: "12\t", "12→", "12: ".
var lineNumber = regexp.MustCompile(`^\d+(?:\t|→|: ?)`)

// excludeIfReached takes the trial out of the count when its transcript shows content it could only
// have from outside.
func (t *trial) excludeIfReached() error {
	secrets, err := t.secrets()
	if err != nil {
		return err
	}
	baseline := t.plan.Configuration.Skills == plan.DeliverNone
	// What the agent wrote before it saw a thing is its own; what it wrote after may be a copy.
	written := map[string]bool{}
	for _, turn := range t.transcript.Turns {
		for _, call := range turn.ToolCalls {
			addWritten(written, call.Input)
			addWritten(written, call.Session)
			if call.Status == transcript.StatusDenied || call.Status == transcript.StatusRejected {
				continue // never ran
			}
			if baseline && cargoAgentsVersion.MatchString(call.Output) {
				// A line anyone can print: worth a look, no ground to take the trial out of the count.
				t.find("may_have_reached", fmt.Sprintf("tool call %s (%s) printed what cargo-agents prints of itself", call.ID, call.Name))
			}
			for _, s := range secrets {
				if s.in(call.Output, written) {
					t.exclude(call, s.what+" was read")
					return nil
				}
			}
		}
	}
	return nil
}

func (t *trial) exclude(call transcript.ToolCall, what string) {
	t.rec.Excluded = &result.Exclusion{Kind: result.ExcludedIsolation, Cause: what}
	t.find("reached", fmt.Sprintf("%s: tool call %s (%s)", what, call.ID, call.Name))
}

// addWritten adds the lines of all texts in a tool call's input.
func addWritten(lines map[string]bool, input json.RawMessage) {
	var v any
	if json.Unmarshal(input, &v) != nil {
		return
	}
	eachString(v, func(s string) {
		for line := range strings.SplitSeq(s, "\n") {
			lines[strings.TrimSpace(line)] = true
			// A patch puts a plus before what it adds; a command may write a line's end as \n.
			if added, ok := strings.CutPrefix(line, "+"); ok {
				lines[strings.TrimSpace(added)] = true
			}
			for part := range strings.SplitSeq(line, `\n`) {
				lines[strings.TrimSpace(part)] = true
			}
		}
	})
}

// in counts the secret's lines in an output, line numbers and indentation apart, without those the
// agent had written by then.
func (s secret) in(output string, written map[string]bool) bool {
	seen, all := map[string]bool{}, 0
	for line := range s.lines {
		if !written[line] {
			all++
		}
	}
	bytes := 0
	for line := range strings.SplitSeq(output, "\n") {
		line = strings.TrimSpace(line)
		// A client's file tool puts a number and a tab, or a colon, before each line.
		if m := lineNumber.FindString(line); m != "" && !s.lines[line] {
			line = strings.TrimSpace(line[len(m):])
		} else if _, rest, ok := strings.Cut(line, "\t"); ok {
			line = strings.TrimSpace(rest)
		}
		if s.lines[line] && !written[line] && !seen[line] {
			seen[line] = true
			bytes += len(line)
		}
	}
	return len(seen) > 0 && (len(seen) == all || len(seen) >= minSecretLines && bytes >= minSecretBytes)
}

// secrets are the hidden checks and, where no skill is delivered, the skills. Lines that stand in
// what the agent is given (starter, fixtures, prompt) do not count.
func (t *trial) secrets() ([]secret, error) {
	given := map[string]bool{}
	for _, dir := range append([]string{t.Task.Starter}, mapValues(t.fixtureDirs())...) {
		if err := eachLine(dir, func(line string) { given[line] = true }); err != nil {
			return nil, err
		}
	}
	for line := range strings.SplitSeq(t.Task.Prompt, "\n") {
		given[strings.TrimSpace(line)] = true
	}
	var out []secret
	add := func(what, path string) error {
		s := secret{what: what, lines: map[string]bool{}}
		err := eachLine(path, func(line string) {
			if len(line) >= minSecretLine && !given[line] {
				s.lines[line] = true
			}
		})
		if len(s.lines) > 0 {
			out = append(out, s)
		}
		return err
	}
	for _, c := range t.Task.Checks {
		if err := add("the hidden check "+c.Name, c.File); err != nil {
			return nil, err
		}
	}
	if t.plan.Configuration.Skills != plan.DeliverNone {
		return out, nil
	}
	skills, err := t.skills()
	if err != nil {
		return nil, err
	}
	for name, s := range skills {
		if err := add("the skill "+name, s.Dir); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachString calls f with every text in a decoded JSON value.
func eachString(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			eachString(e, f)
		}
	case map[string]any:
		for _, e := range v {
			eachString(e, f)
		}
	}
}

func mapValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// eachLine calls f with every trimmed line of a file, or of all files below a folder, of the evals
// root.
func eachLine(path string, f func(string)) error {
	return filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for line := range bytes.SplitSeq(b, []byte("\n")) {
			f(string(bytes.TrimSpace(line)))
		}
		return nil
	})
}
