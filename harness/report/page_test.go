package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	stdhtml "html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

var (
	dataBlocks = regexp.MustCompile(`<script type="application/json" id="([^"]+)">(.*?)</script>`)
	tags       = regexp.MustCompile(`<[^>]*>`)
)

// blocksOf are the page's data blocks by id.
func blocksOf(t *testing.T, html string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range dataBlocks.FindAllStringSubmatch(html, -1) {
		require.NotContains(t, out, m[1])
		require.True(t, json.Valid([]byte(m[2])), m[1])
		out[m[1]] = m[2]
	}
	return out
}

func trialBlock(t *testing.T, html, id string) (p pageTrial) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(blocksOf(t, html)[id]), &p))
	return p
}

// words is the page's text before its data, as one line.
func words(html string) string {
	_, body, _ := strings.Cut(html, "<body>")
	body, _, _ = strings.Cut(body, `<script type="application/json"`)
	return strings.Join(strings.Fields(stdhtml.UnescapeString(tags.ReplaceAllString(body, " "))), " ")
}

// The page answers in this order, and each answer is there.
func TestPageAnswers(t *testing.T) {
	_, html, info := makePage(t, madeVerdicts(t), "verdicts.html")
	assert.Equal(t, PageInfo{Trials: 20 + 20 + 27}, info)
	text := words(html)
	at := 0
	for _, want := range []string{
		"Does it help?", "Of 3 comparisons: helps in 1, hurts in 1, cannot tell in 1.",
		"with-symposium: helps", "+70 points", "9 of 10", "staged-skills: hurts", "-80 points", "staged-skills: cannot tell", "3rd look",
		"What was left out, and why", "store-report, without-symposium", "1 setup failure: 1 × npm registry did not answer",
		"1 × isolation: reached /home/someone/notes.txt", "Task by task", "fixture-store 10 of 10", "Trial by trial,",
	} {
		i := strings.Index(text[at:], want)
		if assert.GreaterOrEqual(t, i, 0, "%q, in its place", want) {
			at += i
		}
	}
	assert.NotContains(t, text, "Nothing was left out")

	var rows []pageRow
	require.NoError(t, json.Unmarshal([]byte(blocksOf(t, html)["trial-rows"]), &rows))
	require.Len(t, rows, info.Trials)
	n := map[place]int{}
	for _, r := range rows {
		n[r.Place]++
	}
	assert.Equal(t, map[place]int{placeSucceeded: 2 + 9 + 10 + 2 + 4 + 6, placeFailed: 8 + 1 + 8 + 6 + 4 + 1, placeExcluded: 2, placeNotRun: 4}, n)
}

// A page of one comparison answers in a sentence; one with nothing left out says so.
func TestPageHeadline(t *testing.T) {
	for name, row := range map[string]struct {
		treatment []*result.Trial
		want      string
	}{
		"helps":       {arm(staged, 10, 0), "staged-skills helps."},
		"hurts":       {arm(staged, 0, 10), "staged-skills hurts."},
		"cannot-tell": {arm(staged, 5, 5), "Cannot tell whether staged-skills helps."},
		"nothing":     {nil, "Nothing was compared."},
	} {
		t.Run(name, func(t *testing.T) {
			base := arm(baseline, 5, 5)
			switch name {
			case "helps":
				base = arm(baseline, 1, 9)
			case "hurts":
				base = arm(baseline, 9, 1)
			}
			arms := map[string][]*result.Trial{baseline: base}
			if row.treatment != nil {
				arms[staged] = row.treatment
			}
			_, html, info := makePage(t, makeRun(t, madeBatch{task: "one", arms: arms}), name+".html")
			assert.Contains(t, html, "<h1>"+row.want+"</h1>")
			assert.Contains(t, words(html), "Nothing was left out: all")
			assert.Zero(t, info.Unreadable)
		})
	}
}

// The evidence of a trial: checks with reasons, the session, what changed, timings, the policy.
func TestPageEvidence(t *testing.T) {
	_, html, _ := makePage(t, makeRun(t, madeBatch{task: "one", arms: map[string][]*result.Trial{baseline: arm(baseline, 0, 1), staged: arm(staged, 1, 0)}}), "evidence.html")
	p := trialBlock(t, html, "trial-data-0")
	assert.Equal(t, "trial-1-without-symposium", p.Name)
	assert.Equal(t, placeFailed, p.Place)
	assert.Equal(t, "hidden check settings_persist: fail", p.Why)
	assert.Contains(t, p.Checks, pageCheck{"hidden check settings_persist", "fail", "cargo test --offline --test settings_persist: exit code 101"})
	require.NotNil(t, p.Session)
	assert.Empty(t, p.Session.Problem)
	require.Len(t, p.Session.Turns, 7)
	assert.Equal(t, "Read", p.Session.Turns[0].Calls[0].Name)
	assert.Equal(t, "ok", p.Session.Turns[0].Calls[0].Status)
	assert.Contains(t, p.Session.Turns[0].Calls[0].Output.Text, `name = "app-settings"`)
	require.Len(t, p.Changes.Files, 2, "the solution's source, and Cargo.lock that it has not")
	assert.Equal(t, "src/lib.rs", p.Changes.Files[0].Path)
	assert.Equal(t, "changed", p.Changes.Files[0].Status)
	assert.Regexp(t, `(?m)^@@ -\d`, p.Changes.Files[0].Diff.Text)
	assert.Regexp(t, `(?m)^\+.*Store`, p.Changes.Files[0].Diff.Text)
	assert.Equal(t, []pageStage{{"setup", ptr(1.4), 120}, {"agent", ptr(60.0), 600}, {"grading", ptr(3.2), 0}}, p.Stages)
	assert.Empty(t, p.Expected)
	assert.Contains(t, p.Policy, "filesystem")
	assert.Equal(t, []pageText{{Title: "build.stderr", Text: "   Compiling app-settings v0.1.0\n"}}, p.Outputs)
}

// Expectations stand beside the code checks, with the reason of what did not pass.
func TestPageExpectations(t *testing.T) {
	trials := arm(with, 1, 0)
	trials[0].Expectations.Hooks["PreToolUse"] = result.Inconclusive
	trials[0].Expectations.Causes = map[string]string{"hooks.PreToolUse": "release: this cargo-agents registers no PreToolUse hook with this client"}
	trials[0].Decide()
	_, html, _ := makePage(t, makeRun(t, madeBatch{task: "one", arms: map[string][]*result.Trial{with: trials}}), "expectations.html")
	assert.Equal(t, []pageCheck{
		{"skill folder empty before launch", "pass", ""}, {"SessionStart hook ran", "pass", ""}, {"sync recorded", "pass", ""},
		{"hook PreToolUse ran", "inconclusive", "release: this cargo-agents registers no PreToolUse hook with this client"},
		{"skill fixture-store installed", "pass", ""}, {"skill fixture-store used", "pass", ""},
	}, trialBlock(t, html, "trial-data-0").Expected)
	assert.Equal(t, placeUnsure, trialBlock(t, html, "trial-data-0").Place)
	assert.Equal(t, "hook PreToolUse ran: inconclusive", trialBlock(t, html, "trial-data-0").Why)
}

// Nothing of a trial is markup, and the page's policy lets its own style and script run alone.
func TestPageHostile(t *testing.T) {
	_, html, info := makePage(t, madeHostile(t), "hostile.html")
	assert.Equal(t, PageInfo{Trials: 3}, info)
	assert.Len(t, blocksOf(t, html), 1+3)
	assert.Equal(t, 4+1, strings.Count(html, "<script"), "the data blocks and the script")
	assert.Equal(t, 4+1, strings.Count(html, "</script"))
	for _, not := range []string{"<img", "<svg onload", "<!--", "\x1b", "\u202e", "\u2066", "\u2028", "\x07"} {
		assert.NotContains(t, html, not)
	}
	p := trialBlock(t, html, "trial-data-2")
	assert.Contains(t, p.Session.Turns[2].Calls[0].Output.Text+p.Session.Turns[3].Text.Text, `</script><img src=x onerror=`, "it is shown, as text")
	head := stdhtml.UnescapeString(html[:1000])
	for i, m := range regexp.MustCompile(`(?s)<style>(.*?)</style>|<script>(.*?)</script>`).FindAllStringSubmatch(html, -1) {
		sum := sha256.Sum256([]byte(m[1] + m[2]))
		assert.Contains(t, head, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", "block %d", i)
	}
	assert.Contains(t, head, `content="default-src 'none'; style-src 'sha256-`)
	assert.NotContains(t, strings.ToLower(html), "unsafe-")
	assert.NotRegexp(t, ` (style|on[a-z]+)="`, html[:strings.Index(html, "trial-rows")])
}

// What cannot be read is shown as such, and the rest is shown.
func TestPageBrokenRecords(t *testing.T) {
	run := makeRun(t, madeBatch{task: "one", arms: map[string][]*result.Trial{baseline: arm(baseline, 0, 9)}},
		madeBatch{task: "two", arms: map[string][]*result.Trial{baseline: arm(baseline, 1, 0)}})
	dir := func(n string) string { return trialFolder(run, 1, "one", "trial-"+n+"-without-symposium") }
	writeFiles(t, dir("1"), map[string]string{"result.json": "{"})
	writeFiles(t, dir("2"), map[string]string{"result.json": `{"schema_version": 99}`})
	require.NoError(t, os.RemoveAll(dir("3")))
	writeFiles(t, dir("4"), map[string]string{"result.json": `{"schema_version": 1, "state": "finished", "execution": "danced", "outcome": "won", "gradings": [{"folder": "../../..", "counts": true}]}`})
	writeFiles(t, dir("5"), map[string]string{"transcript.jsonl": "\x00not json\n{}\n"})
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
	for _, name := range []string{"transcript.jsonl", "submission/src/lib.rs", "srt.json", "grading/build.stderr"} {
		require.NoError(t, os.Remove(filepath.Join(dir("6"), name)))
		require.NoError(t, os.Symlink(secret, filepath.Join(dir("6"), name)))
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir("7"), "submission")))
	require.NoError(t, os.Remove(filepath.Join(dir("8"), "result.json")))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir("8"), "result.json")))
	writeFiles(t, filepath.Dir(trialFolder(run, 2, "two", "x")), map[string]string{"benchmark.json": "[]"})

	_, html, info := makePage(t, run, "broken.html")
	assert.Equal(t, PageInfo{Trials: 10, Unreadable: 5}, info)
	assert.NotContains(t, html, "SECRET")
	assert.Contains(t, words(html), "5 records of trials cannot be read")
	assert.Contains(t, words(html), "Not shown: result:")
	for i, want := range []place{placeBroken, placeBroken, placeBroken, placeBroken, placeFailed, placeFailed, placeFailed, placeBroken, placeFailed, placeSucceeded} {
		p := trialBlock(t, html, "trial-data-"+string(rune('0'+i)))
		assert.Equal(t, want, p.Place, "trial %d: %s", i+1, p.Why)
	}
	assert.Contains(t, trialBlock(t, html, "trial-data-3").Why, "danced")
	assert.Contains(t, trialBlock(t, html, "trial-data-4").Session.Facts, [2]string{"absence", "cannot be concluded: 0 of 2 lines understood"})
	assert.Contains(t, trialBlock(t, html, "trial-data-5").Session.Problem, "symbolic link")
	assert.Equal(t, []string{"There is no submission."}, trialBlock(t, html, "trial-data-6").Changes.Notes)

	_, err := Page(new(strings.Builder), PageOptions{Run: t.TempDir()})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A run still going on, or whose runner died, is shown as far as it came; a changed task is told.
func TestPageUnfinished(t *testing.T) {
	run := makeRun(t, madeBatch{task: "one", arms: map[string][]*result.Trial{baseline: arm(baseline, 1, 0)}})
	r, err := result.ReadRun(run)
	require.NoError(t, err)
	r.State, r.Batches[0].Trials = result.Started, append(r.Batches[0].Trials, result.PlannedTrial{Name: "trial-2-without-symposium", Configuration: baseline, State: result.Planned})
	require.NoError(t, result.Write(run, result.RunFile, r))
	require.NoError(t, os.Remove(filepath.Join(filepath.Dir(trialFolder(run, 1, "one", "x")), result.BenchmarkFile)))
	var html strings.Builder
	info, err := Page(&html, PageOptions{Run: run, Starter: func(string) (string, string, error) { return madeStarter, "another", nil }})
	require.NoError(t, err)
	assert.Equal(t, PageInfo{Trials: 2}, info)
	assert.Contains(t, words(html.String()), "The runner of this run died before it could finish.")
	assert.Contains(t, words(html.String()), "Not counted: there is no benchmark.json")
	assert.NotContains(t, words(html.String()), "Nothing was left out")
	p := trialBlock(t, html.String(), "trial-data-1")
	assert.Equal(t, "cancelled", p.Label)
	assert.Equal(t, "lost", p.Why)
	assert.Contains(t, trialBlock(t, html.String(), "trial-data-0").Changes.Notes[0], "The task has changed since this trial")
}

// Many trials share the page's bound, and what does not fit is told.
func TestPageBounds(t *testing.T) {
	b := &budget{left: 100}
	text := b.text("t", strings.Repeat("é", 100), 51)
	assert.Equal(t, pageText{"t", strings.Repeat("é", 25), 150}, text)
	assert.Equal(t, 50, b.left)
	text = b.text("t", strings.Repeat("x", 100), 1000)
	assert.Equal(t, 50, text.Cut)
	assert.Zero(t, b.left)
	assert.Equal(t, 3, b.text("t", "abc", 1000).Cut)
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"one\ntwo\tthree\r\n":         "one\ntwo\tthree\n",
		"\x1b[31mred\x07":             `\x1b[31mred\a`,
		"a\rb":                        `a\rb`,
		"\u202egnp.exe\u2066\u200b":   `\u202egnp.exe\u2066\u200b`,
		"\xff\xfe half \xe2\x82":      `\xff\xfe half \xe2\x82`,
		"--- FAIL <b>&amp; naïve 日本語": "--- FAIL <b>&amp; naïve 日本語",
		"\u3164\u2028":                `\u3164\u2028`,
	} {
		got, cut := Visible(in, 1000)
		assert.Equal(t, want, got)
		assert.Zero(t, cut)
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range append(hostilePage, hostile...) {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		if most < 0 || most > 1<<16 {
			return
		}
		got, cut := Visible(s, most)
		if cut < 0 || cut > len(s) || len(s)-cut > most {
			t.Fatalf("%d of %d bytes cut at %d", cut, len(s), most)
		}
		for _, r := range got {
			if r != '\n' && r != '\t' && (r == unicode.ReplacementChar || !unicode.IsPrint(r) || blank[r]) {
				t.Fatalf("%q holds %q", got, r)
			}
		}
	})
}

// Counts that are not those of the trials' records are told, not shown as if they were.
func TestPageTellsStaleCounts(t *testing.T) {
	arms := map[string][]*result.Trial{baseline: arm(baseline, 0, 1), staged: arm(staged, 1, 0)}
	run := makeRun(t, madeBatch{task: "one", arms: arms})
	_, html, _ := makePage(t, run, "counted.html")
	assert.NotContains(t, html, "WRONG")

	trial := trialFolder(run, 1, "one", "trial-1-"+staged)
	rec, err := result.ReadTrial(trial, "")
	require.NoError(t, err)
	rec.Code.CargoTestLib = result.Fail
	rec.Code.Judge()
	rec.Decide()
	require.NoError(t, result.Write(trial, result.TrialFile, rec))
	_, html, _ = makePage(t, run, "regraded.html")
	assert.Contains(t, html, "WRONG, do not use these numbers: the trials are not what was counted ("+staged+": 1 succeeded were counted, and the records say 0;")

	require.NoError(t, os.RemoveAll(trial))
	_, html, _ = makePage(t, run, "deleted.html")
	assert.Contains(t, html, staged+": 1 succeeded were counted, and the records say 0")
}
