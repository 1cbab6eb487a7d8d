//go:build linux

package harness_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// The matrix runs every client through what can happen to a session, with the real client and the
// scripted model. `make matrix` runs it and writes its rows anew; without it, the rows kept in
// testdata are what the reference page shows.
var updateMatrix = flag.Bool("update-matrix", false, "run the matrix and rewrite its rows and the reference page")

// Where the matrix keeps its rows and shows them.
const (
	matrixRows = "testdata/matrix"
	matrixPage = "../docs/reference/clients.md"
)

// row is what one session of one client came to.
type row struct {
	Execution string   `json:"execution"`
	Cause     string   `json:"cause"`
	Load      string   `json:"load"`  // of the task's skill
	Tools     []string `json:"tools"` // each call's status, in order
	Input     *int64   `json:"input_tokens"`
	Output    *int64   `json:"output_tokens"`
	Requests  int      `json:"requests"`
	Seconds   float64  `json:"seconds"`
}

// matrixCase is one thing that can happen.
type matrixCase struct {
	name, what  string
	exploratory bool // in the client's own sandbox: srt leaves a client nothing to deny
	agentSecs   int
	script      func(a client.Adapter) string
	// executions are how the session may end, whatever the client.
	executions []string
}

const matrixEnd = "\n[[step]]\nsay = \"Done.\"\n"

func matrixRun(command string) func(client.Adapter) string {
	return func(client.Adapter) string { return "[[step]]\nrun = " + strconv.Quote(command) + "\n" + matrixEnd }
}

// endClient ends the client by its signal: the processes of its program as it is staged for this
// batch, and no others. A shell's parent is not always the client itself, and Copilot runs no "kill"
// without a number in it. /proc numbers processes as an outer namespace does; NSpid ends with the number
// in the shell's own.
const endClient = `tools=$(dirname "$(dirname "$HOME")")/tools/common; end=kill; for p in /proc/[0-9]*; do ` +
	`case $(readlink "$p/exe") in "$tools"/*) $end -TERM $(sed -n 's/^NSpid:.*[^0-9]//p' "$p/status");; esac; done; sleep 5`

// matrixDenied writes outside. In Claude Code's sandbox a command may do so, into a file system of its
// own that is gone with it; there a file tool reads outside, through a link.
func matrixDenied(a client.Adapter) string {
	if a.Name() == "claude" {
		return "[[step]]\nrun = \"ln -s /etc/passwd outside\"\n\n[[step]]\nread = \"outside\"\n" + matrixEnd
	}
	return matrixRun("touch ../outside.txt")(a)
}

func matrixFail(with string) func(client.Adapter) string {
	return func(client.Adapter) string { return "[[step]]\nfail_with = " + with + "\ntimes = 0\n" + matrixEnd }
}

var matrixCases = []matrixCase{
	{"scripted exam", "store-durability with its skill staged", false, 0, nil, []string{"completed"}},
	{"loaded", "the skill is offered and loaded", false, 90, func(client.Adapter) string {
		return "[[step]]\nload_skill = \"probe\"\nwhen_skill_offered = \"probe\"\n" + matrixEnd
	}, []string{"completed"}},
	{"attempted", "the skill is asked for, and not there", false, 90, func(a client.Adapter) string {
		if a.Name() == "codex" { // it has no tool for skills: it reads them
			return matrixRun("cat " + a.Command(client.Request{}).SkillDir + "/probe/SKILL.md")(a)
		}
		return "[[step]]\nload_skill = \"probe\"\n" + matrixEnd
	}, []string{"completed"}},
	{"not_observed", "the skill is offered and left alone", false, 90, matrixRun("ls"), []string{"completed"}},
	{"denied tool", "a tool touches what lies outside the project (exploratory)", true, 90, matrixDenied, []string{"completed", "client_error"}},
	{"401", "the endpoint answers 401 for ever", false, 40, matrixFail("401"), []string{"client_error", "timeout"}},
	{"500 for ever", "the endpoint answers 500 for ever", false, 40, matrixFail("500"), []string{"client_error", "timeout"}},
	{"truncated stream", "every answer is cut", false, 30, matrixFail(`"truncated"`), []string{"client_error", "timeout", "completed"}},
	{"SIGTERM", "the client is ended by SIGTERM while a command runs", false, 60, matrixRun(endClient), []string{"client_error"}},
	{"timeout", "a command outlives the agent's deadline", false, 15, matrixRun("sleep 60"), []string{"timeout"}},
}

func TestMatrix(t *testing.T) {
	if !*updateMatrix {
		t.Log("the rows are those in " + matrixRows + "; `make matrix` runs the clients")
	}
	// The clients side by side, the cases of each in order; this returns when all have ended.
	t.Run("clients", func(t *testing.T) {
		for _, name := range client.Names() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rows := readRows(t, name)
				for _, c := range matrixCases {
					t.Run(c.name, func(t *testing.T) { c.check(t, name, rows) })
				}
			})
		}
	})
	page, err := os.ReadFile(matrixPage)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), matrixBegin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, matrixOver)
	require.True(t, ok)
	want := before + matrixBegin + "\n" + matrixTable(t) + matrixOver + after
	if *updateMatrix {
		require.NoError(t, os.WriteFile(matrixPage, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, string(page), "the page shows other rows than %s holds: run `make matrix`", matrixRows)
}

const (
	matrixBegin = "<!-- matrix: written by `make matrix` -->"
	matrixOver  = "<!-- end of matrix -->"
)

// check runs a case, or takes its kept row, and looks at what must hold of it for every client.
func (c matrixCase) check(t *testing.T, name string, rows map[string]row) {
	if *updateMatrix {
		rows[c.name] = runMatrix(t, name, c)
		writeRows(t, name, rows)
	}
	r, ok := rows[c.name]
	require.True(t, ok, "no row: run `make matrix`")
	assert.Contains(t, c.executions, r.Execution, "%+v", r)
	switch c.name {
	case "scripted exam":
		assert.NotContains(t, r.Tools, "error", "cargo runs too")
		assert.Equal(t, "loaded", r.Load)
		assert.NotNil(t, r.Output)
	case "loaded", "attempted", "not_observed":
		assert.Equal(t, c.name, r.Load)
		assert.NotNil(t, r.Output)
	case "denied tool":
		require.NotEmpty(t, r.Tools)
		assert.NotEqual(t, "ok", r.Tools[len(r.Tools)-1], "nothing outside is reached")
	}
}

// runMatrix is one trial of a small task of its own.
func runMatrix(t *testing.T, name string, c matrixCase) row {
	adapter, err := client.Lookup(name)
	require.NoError(t, err)
	evals := t.TempDir()
	if c.script != nil {
		writeMatrixTask(t, evals, c, adapter)
	}
	configuration := plan.StagedSkills
	if c.name == "attempted" {
		configuration = plan.WithoutSymposium
	}
	opts := harness.Options{
		Evals: evals, Results: t.TempDir(), Scratch: os.Getenv("PROCTOR_SCRATCH"), Clients: []string{name},
		Configurations: []string{configuration}, Trials: 1, Exploratory: c.exploratory,
	}
	run, probe := examOf, "probe"
	if c.script == nil {
		opts.Evals, run, probe = "..", exam, skill
	}
	_, trials, results := run(t, opts)
	rec := trials["trial-1-"+configuration]
	out := row{
		Execution: string(rec.Execution), Cause: rec.ExecutionCause, Load: rec.ObservedLoad[probe],
		Input: rec.Usage.InputTokens, Output: rec.Usage.OutputTokens, Tools: []string{},
	}
	if rec.Gateway != nil {
		out.Requests = rec.Gateway.Requests
	}
	if rec.Timings.Agent != nil {
		out.Seconds = float64(int(*rec.Timings.Agent*10)) / 10
	}
	tr, err := harness.Transcript(filepath.Join(results, "trial-1-"+configuration), name)
	require.NoError(t, err)
	for _, turn := range tr.Turns {
		for _, call := range turn.ToolCalls {
			out.Tools = append(out.Tools, string(call.Status))
		}
	}
	t.Logf("%+v %v", out, rec.Findings)
	if t.Failed() || testing.Verbose() {
		for _, turn := range tr.Turns {
			for _, call := range turn.ToolCalls {
				t.Logf("%s %s: %.300q", call.Name, call.Status, call.Output)
			}
		}
	}
	return out
}

// writeMatrixTask makes an evals root with one small task, whose plugin has the skill "probe".
func writeMatrixTask(t *testing.T, evals string, c matrixCase, adapter client.Adapter) {
	dir := filepath.Join(evals, "tasks", "tiny")
	_, err := treecopy.Copy(dir, "../testdata/script/tiny", treecopy.CopyOptions{})
	require.NoError(t, err)
	for path, text := range map[string]string{
		filepath.Join(dir, "task.toml"): fmt.Sprintf("kind = \"capability\"\neditable = [\"src\"]\nmodel_script = \"model.toml\"\nprompt = \"Make answer() return 42.\"\n"+
			"plugins = [\"guide\"]\n[deadlines]\nagent_secs = %d\n", c.agentSecs),
		filepath.Join(dir, "model.toml"):                            "version = 1\n" + c.script(adapter),
		filepath.Join(evals, "plugins/guide/SYMPOSIUM.toml"):        "name = \"guide\"\ndepends-on = [\"*\"]\n[[skills]]\nsource.path = \"skills\"\n",
		filepath.Join(evals, "plugins/guide/skills/probe/SKILL.md"): "---\nname: probe\ndescription: Use it for every task.\n---\n\nAnswer in one word.\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func readRows(t *testing.T, name string) map[string]row {
	rows := map[string]row{}
	data, err := os.ReadFile(filepath.Join(matrixRows, name+".json"))
	if errors.Is(err, fs.ErrNotExist) && *updateMatrix {
		return rows
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &rows))
	return rows
}

func writeRows(t *testing.T, name string, rows map[string]row) {
	data, err := json.MarshalIndent(rows, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(matrixRows, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(matrixRows, name+".json"), append(data, '\n'), 0o644))
}

// matrixTable is one table a client, in Markdown.
func matrixTable(t *testing.T) string {
	var out strings.Builder
	for _, name := range client.Names() {
		rows := readRows(t, name)
		fmt.Fprintf(&out, "\n### %s\n\n| case | execution | cause | skill | tool calls | tokens in, out | requests | agent |\n|---|---|---|---|---|---|---|---|\n", name)
		for _, c := range matrixCases {
			r, ok := rows[c.name]
			if !ok {
				continue
			}
			fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s, %s | %d | %.1f s |\n", c.name, r.Execution, dash(r.Cause), r.Load,
				dash(strings.Join(slices.Compact(r.Tools), ", ")), count(r.Input), count(r.Output), r.Requests, r.Seconds)
		}
	}
	out.WriteString("\n")
	return out.String()
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func count(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}
