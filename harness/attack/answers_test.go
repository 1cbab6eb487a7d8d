package attack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
)

func TestAnswers(t *testing.T) {
	block := func(i int, body string) string { return fmt.Sprintf("\nM %d\n%s\nM end\n", i, body) }
	for name, tt := range map[string]struct {
		out  string
		want map[int]string
	}{
		"all held":                       {block(0, "") + block(1, "") + block(2, ""), map[int]string{0: "", 1: "", 2: ""}},
		"one broken":                     {block(0, "") + block(1, "reached\ntwice") + block(2, ""), map[int]string{0: "", 1: "reached\ntwice", 2: ""}},
		"nothing":                        {"", map[int]string{}},
		"cut in an answer":               {block(0, "") + "\nM 1\nrea", map[int]string{0: ""}},
		"cut before the end's line ends": {block(0, "") + "\nM 1\n\nM end", map[int]string{0: ""}},
		"one left out":                   {block(0, "") + block(2, ""), map[int]string{0: ""}},
		"the wrong order":                {block(1, "") + block(0, ""), map[int]string{}},
		"an end too many":                {block(0, "") + "\nM end\n" + block(1, "") + block(2, ""), map[int]string{0: ""}},
		"one answered twice":             {block(0, "reached") + block(0, "") + block(1, ""), map[int]string{0: "reached"}},
		"another mark":                   {block(0, "\nX 1\n\nX end\n") + block(1, "reached"), map[int]string{0: "X 1\n\nX end", 1: "reached"}},
		"words between two":              {block(0, "") + "words" + block(1, ""), map[int]string{0: ""}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, answers([]byte(tt.out), "M", 3)) })
	}
}

// FuzzAnswers: whatever an attack prints without knowing the mark, and wherever the output is cut, an
// attack that printed something is never taken for one that printed nothing.
func FuzzAnswers(f *testing.F) {
	f.Add("", "\n1\n", "\x1e2\n\x1e.\n", uint16(0))
	f.Add("reached", "\nM 2\n", "\n end\n", uint16(9))
	f.Fuzz(func(t *testing.T, a, b, c string, cut uint16) {
		const mark = "5f0c2a91d3e7"
		bodies := []string{a, b, c}
		var out strings.Builder
		for i, body := range bodies {
			if strings.Contains(body, mark) {
				return
			}
			fmt.Fprintf(&out, "\n%s %d\n%s\n%s end\n", mark, i, body, mark)
		}
		whole := out.String()
		got := answers([]byte(whole), mark, 3)
		require.Len(t, got, 3)
		for i, body := range bodies {
			require.Equal(t, strings.TrimSpace(body), got[i])
		}
		for i, answer := range answers([]byte(whole[:len(whole)-min(int(cut), len(whole))]), mark, 3) {
			require.Equal(t, strings.TrimSpace(bodies[i]), answer, "cut by %d", cut)
		}
	})
}

func TestJudge(t *testing.T) {
	a := attack{guarantee: "g", fix: "do this"}
	for name, tt := range map[string]struct {
		control, got map[int]string
		want         Verdict
		detail       string
	}{
		"held":                   {map[int]string{0: "x"}, map[int]string{0: ""}, Held, ""},
		"reached":                {map[int]string{0: "x"}, map[int]string{0: "y"}, Broken, "y: do this"},
		"reached, no control":    {map[int]string{}, map[int]string{0: "y"}, Broken, "y: do this"},
		"unsure":                 {map[int]string{0: "x"}, map[int]string{0: "UNSURE: too slow"}, CouldNotTell, "too slow"},
		"reached, then unsure":   {map[int]string{0: "x"}, map[int]string{0: "y\nUNSURE: too slow"}, Broken, "y\nUNSURE: too slow: do this"},
		"did not run":            {map[int]string{0: "x"}, map[int]string{}, CouldNotTell, "the attack did not run to its end inside"},
		"control reached nought": {map[int]string{0: ""}, map[int]string{0: ""}, CouldNotTell, "the attack reaches nothing outside the sandbox either, so it proves nothing"},
		"control did not run":    {map[int]string{}, map[int]string{0: ""}, CouldNotTell, "the attack reaches nothing outside the sandbox either, so it proves nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := judge(a, "c", tt.control, tt.got, 0)
			assert.Equal(t, Result{Guarantee: "g", Configuration: "c", Verdict: tt.want, Detail: tt.detail}, r)
		})
	}
}

func TestListLeavesOutWhatIsNotThere(t *testing.T) {
	names := func(configuration string, vars map[string]string) (out []string) {
		attacks, without := list(configuration, vars)
		for _, a := range attacks {
			out = append(out, a.guarantee)
		}
		for _, a := range without {
			assert.NotContains(t, out, a.guarantee)
			assert.NotEmpty(t, a.without, "%q says what is not there", a.guarantee)
		}
		return out
	}
	const onlyBaseline, needsAKey = "cargo-agents is not on PATH", "your keys in the kernel's keyring cannot be read"
	assert.Contains(t, names(plan.Baseline, nil), onlyBaseline)
	assert.Contains(t, names("staged-skills", nil), onlyBaseline)
	assert.NotContains(t, names(plan.WithSymposium, nil), onlyBaseline)
	assert.NotContains(t, names(plan.Baseline, nil), needsAKey)
	assert.Contains(t, names(plan.Baseline, map[string]string{"KEYNAME": "k"}), needsAKey)
	seen := map[string]bool{}
	for _, a := range all {
		assert.False(t, seen[a.guarantee], "%q is there twice", a.guarantee)
		seen[a.guarantee] = true
	}
}

// TestSurveyed: a look around the machine that was cut short is not held.
func TestSurveyed(t *testing.T) {
	for name, tt := range map[string]struct {
		survey  harness.Survey
		verdict Verdict
		says    string
	}{
		"whole":               {harness.Survey{Denied: []string{"/srv/x"}, Neighbours: true, Machine: true}, Held, "1 found and denied"},
		"machine cut short":   {harness.Survey{Neighbours: true}, CouldNotTell, "time limit"},
		"neighbours too many": {harness.Survey{Machine: true}, CouldNotTell, "deny_read"},
	} {
		r := surveyed(tt.survey, "without-symposium")
		assert.Equal(t, tt.verdict, r.Verdict, name)
		assert.Contains(t, r.Detail, tt.says, name)
	}
	assert.Contains(t, surveyed(harness.Survey{Neighbours: true, Machine: true}, "").Detail, "not looked at: archives", "what was not looked at is said also when all is well")
}
