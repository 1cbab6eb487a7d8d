package report

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/result"
)

const (
	baseline = "without-symposium"
	staged   = "staged-skills"
	with     = "with-symposium"
)

func ptr[T any](v T) *T { return &v }

// trials are n decided trials of a configuration, added to what is there.
func trials(to []*result.Trial, configuration string, n int, change func(*result.Trial)) []*result.Trial {
	for range n {
		t := &result.Trial{
			Trial: len(to) + 1, Mode: configuration, Execution: result.Completed, Code: &result.Code{Overall: result.Pass},
			Usage:        result.Usage{InputTokens: ptr(int64(30_000)), OutputTokens: ptr(int64(4_100))},
			Timings:      result.Timings{Agent: ptr(94.25)},
			ObservedLoad: map[string]string{"fixture-store": "loaded"},
		}
		if configuration == baseline {
			t.ObservedLoad = map[string]string{"fixture-store": "not_observed"}
		}
		change(t)
		if t.Outcome == "" {
			t.Decide()
		}
		to = append(to, t)
	}
	return to
}

func pass(*result.Trial)   {}
func fail(t *result.Trial) { t.Code = &result.Code{Overall: result.Fail} }

func benchmark(t *testing.T, arms map[string][]*result.Trial) *result.Benchmark {
	t.Helper()
	b := &result.Benchmark{
		SchemaVersion: 1, Task: "store-durability", Kind: "capability", Client: "claude", Jobs: 1, Look: 1,
		Model: result.Model{Name: "some-model-1", Kind: "forward"}, Configurations: map[string]result.Counts{},
	}
	for name, trials := range arms {
		c, err := result.Count(trials)
		require.NoError(t, err)
		b.Configurations[name] = c
	}
	for _, name := range []string{staged, with} {
		if c, ok := b.Configurations[name]; ok {
			if base, ok := b.Configurations[baseline]; ok {
				b.Comparisons = append(b.Comparisons, result.Compare(name, c, baseline, base))
			}
		}
	}
	return b
}

// hostile is what a trial may try to have printed.
var hostile = []string{
	"\x1b[2J\x1b[1;31mred\x1b]0;title\x07",
	"one\n--- FAIL: TestEval (0.00s)\n::error::forged\r\n##[error]forged",
	"--- FAIL: TestEval/store-durability (0.00s)",
	"  ::error file=x::forged",
	"\x16=== RUN   TestForged",
	"\u202egnp.exe\u202c \u2066isolated\u2069 zero\u200bwidth \ufeff",
	"bytes \xff\xfe and half \xe2\x82 and NUL\x00",
	"tab\tbell\a backspace\b\b\b delete\x7f c1 \u0085\u009b31m",
	"| --- | `code` <script>alert(1)</script> %s %d",
}

func TestText(t *testing.T) {
	for name, row := range map[string]struct {
		arms   func() map[string][]*result.Trial
		change func(*result.Benchmark)
		dir    string
	}{
		"helping": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{baseline: trials(nil, baseline, 5, fail), staged: trials(nil, staged, 5, pass)}
		}, change: func(b *result.Benchmark) {
			b.Model = result.Model{Name: "scripted", Kind: gateway.KindScripted}
		}, dir: "results/store-durability/claude/20260131-235959-1a2b3c"},
		"hurting": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{
				baseline: trials(trials(nil, baseline, 19, pass), baseline, 1, fail), with: trials(trials(nil, with, 2, pass), with, 18, fail)}
		}, change: func(b *result.Benchmark) { b.Jobs, b.Look, b.ChecksChanged = 4, 2, 1 }},
		"cannot-tell": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{
				baseline: trials(trials(nil, baseline, 2, pass), baseline, 3, fail), with: trials(trials(nil, with, 4, pass), with, 1, fail),
				staged: trials(trials(nil, staged, 4, pass), staged, 1, func(t *result.Trial) { t.Configuration.Skills = "symposium" })}
		}},
		"one-round": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{baseline: trials(nil, baseline, 1, fail), with: trials(nil, with, 1, pass)}
		}},
		"nothing-eligible": {arms: func() map[string][]*result.Trial {
			lost := func(t *result.Trial) { t.Execution, t.ExecutionCause = result.Cancelled, result.CauseLost }
			broken := func(t *result.Trial) {
				t.Execution, t.ExecutionCause = result.SetupFailure, "release: cargo-agents 0.1 knows no registry"
			}
			return map[string][]*result.Trial{baseline: trials(nil, baseline, 2, lost), with: trials(nil, with, 2, broken)}
		}},
		"one-arm": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{with: trials(nil, with, 3, pass)}
		}},
		"exploratory": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{baseline: trials(nil, baseline, 5, fail), with: trials(nil, with, 5, pass)}
		}, change: func(b *result.Benchmark) { b.Isolation, b.Comparisons = "exploratory", nil }},
		"nothing-at-all": {arms: func() map[string][]*result.Trial { return nil }},
		"regression": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{
				baseline: trials(nil, baseline, 3, func(t *result.Trial) { t.Execution, t.ExecutionCause = result.Cancelled, "interrupt" }),
				staged:   trials(nil, staged, 3, pass), with: trials(trials(nil, with, 2, pass), with, 1, fail)}
		}, change: func(b *result.Benchmark) { b.Kind, b.StandIns = "regression", []string{"fake-cargo-agents"} }},
		"large-arms": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{
				baseline: trials(trials(nil, baseline, 1, pass), baseline, 1100, fail), staged: trials(trials(nil, staged, 1100, pass), staged, 1, fail)}
		}},
		"no-usage": {arms: func() map[string][]*result.Trial {
			return map[string][]*result.Trial{staged: trials(nil, staged, 2, func(t *result.Trial) {
				t.Usage, t.Timings, t.ObservedLoad = result.Usage{}, result.Timings{}, nil
			})}
		}},
		"causes": {arms: func() map[string][]*result.Trial {
			var out []*result.Trial
			for i := range 9 {
				out = trials(out, with, 1, func(t *result.Trial) {
					t.Execution, t.ExecutionCause = result.SetupFailure, "cause "+string(rune('a'+i))
				})
			}
			out = trials(out, with, 2, func(t *result.Trial) { t.Execution, t.ExecutionCause = result.SetupFailure, "cause g" })
			out = trials(out, with, 1, func(t *result.Trial) { t.Execution = result.Cancelled })
			out = trials(out, with, 2, func(t *result.Trial) {
				t.Excluded = &result.Exclusion{Kind: result.ExcludedIsolation, Cause: "reached /home/someone"}
			})
			out = trials(out, with, 1, func(t *result.Trial) { t.Code = &result.Code{InfrastructureError: "no sandbox"} })
			out = trials(out, with, 1, func(t *result.Trial) { t.Execution, t.ExecutionCause = result.TimedOut, "agent deadline of 10m0s" })
			out = trials(out, with, 2, func(t *result.Trial) { t.Execution, t.ExecutionCause = result.ClientError, "rate_limit" })
			out = trials(out, with, 1, func(t *result.Trial) { t.Configuration.Skills = "symposium" })
			return map[string][]*result.Trial{with: out}
		}},
		"hostile": {arms: func() map[string][]*result.Trial {
			var out []*result.Trial
			for _, text := range hostile[:5] {
				out = trials(out, with, 1, func(t *result.Trial) { t.Execution, t.ExecutionCause = result.ClientError, text })
			}
			for _, text := range hostile[5:] {
				out = trials(out, with, 1, func(t *result.Trial) { t.Code = &result.Code{InfrastructureError: text} })
			}
			out = trials(out, with, 1, func(t *result.Trial) { t.ObservedLoad = map[string]string{"skill\t\x1b[31m\n--- FAIL: x": "loaded"} })
			return map[string][]*result.Trial{baseline: trials(nil, baseline, 2, pass), with: out}
		}, change: func(b *result.Benchmark) {
			b.Task, b.Client, b.Model.Name = "::error::task\n", "--- FAIL: client", "m\x1b[0m"
			b.StandIns = []string{"\r##[group]x"}
			b.Comparisons[0].Verdict, b.Comparisons[0].Treatment, b.Comparisons[0].Baseline = "helps\n--- FAIL: a", "\n=== RUN t", "\x1b[1mb"
			b.Comparisons = append(b.Comparisons, result.Comparison{Verdict: "cannot tell", Reason: "\n::warning::r", Treatment: "t", Baseline: "b"})
			b.Configurations["\n::error::conf\t"] = result.Counts{Planned: 1, Cancelled: 1}
		}, dir: "results/\x1b[31m/\n--- FAIL: dir"},
	} {
		t.Run(name, func(t *testing.T) {
			b := benchmark(t, row.arms())
			if row.change != nil {
				row.change(b)
			}
			var out bytes.Buffer
			require.NoError(t, Text(&out, b, row.dir))
			requireHarmless(t, out.String())
			golden.Assert(t, out.String(), name+".txt")
		})
	}
}

// requireHarmless: only printable characters, in lines none of which a log reader acts upon.
func requireHarmless(t *testing.T, s string) {
	t.Helper()
	for line := range strings.Lines(s) {
		require.Equal(t, line, strings.ToValidUTF8(line, "?"))
		for _, r := range strings.TrimSuffix(line, "\n") {
			require.False(t, r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff,
				"%q in %q", r, line)
		}
		start := strings.TrimLeft(line, " ")
		for _, command := range []string{"::", "--- ", "=== "} {
			require.False(t, strings.HasPrefix(start, command), "%q", line)
		}
		require.NotContains(t, line, "##")
	}
}

func TestGoldenFilesAreUsed(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	n := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") {
			n++
		}
	}
	assert.Equal(t, 13, n, "one golden file a case of TestText")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("pipe closed") }

func TestTextReportsTheWritersError(t *testing.T) {
	require.ErrorContains(t, Text(brokenWriter{}, &result.Benchmark{}, ""), "pipe closed")
}

func TestSmallForms(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 101: "101st", 111: "111th", 113: "113th"} {
		assert.Equal(t, want, ordinal(n))
	}
	for r, want := range map[float64]string{0: "0 %", 1: "100 %", 0.5: "50 %", 0.001: "<1 %", 0.999: ">99 %", 0.994: "99 %", 0.006: "1 %"} {
		assert.Equal(t, want, percent(&r))
	}
	assert.Equal(t, "-", percent(nil))
	for d, want := range map[float64]string{0: "0", -0.001: "0", 0.001: "0", 0.4: "+40", -0.4: "-40", 1: "+100"} {
		assert.Equal(t, want, points(d))
	}
}
