package grade

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const token = "5eed"

const passed = "\nrunning 1 test\ntest a ... \n5eed\nok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"

func TestOneTest(t *testing.T) {
	line := func(state string, counts ...any) string {
		return fmt.Sprintf("test result: "+state+". %d passed; %d failed; %d ignored; %d measured; %d filtered out; finished in 0.01s\n", counts...)
	}
	tests := map[string]struct {
		out string
		err string // "" is accepted
	}{
		"one passed":                 {passed, ""},
		"CRLF":                       {strings.ReplaceAll(passed, "\n", "\r\n"), ""},
		"without a time":             {strings.ReplaceAll(passed, "; finished in 0.00s", ""), ""},
		"the test printed something": {"hello\n" + passed + "bye", ""},
		"no token":                   {strings.ReplaceAll(passed, "5eed", ""), "forged"},
		"another token":              {strings.ReplaceAll(passed, "5eed", "5eef"), "forged"},
		"the token in a longer line": {strings.ReplaceAll(passed, "5eed", "5eed5eed"), "forged"},
		"the token twice":            {strings.ReplaceAll(passed, "5eed", "5eed\n5eed"), "more than once"},
		"the token before the run":   {"5eed\n" + strings.ReplaceAll(passed, "5eed", ""), "out of its place"},
		"the token after the result": {strings.ReplaceAll(passed, "5eed", "") + "5eed\n", "out of its place"},
		"none":                       {"\nrunning 0 tests\n\n" + line("ok", 0, 0, 0, 0, 0), "0 tests ran"},
		"two":                        {"\nrunning 2 tests\n\n" + line("ok", 2, 0, 0, 0, 0), "2 tests ran"},
		"one said, two passed":       {"running 1 test\n" + line("ok", 2, 0, 0, 0, 0), "not exactly one passed"},
		"ignored":                    {"running 1 test\n" + line("ok", 0, 0, 1, 0, 0), "not exactly one passed"},
		"one of two ignored":         {"running 1 test\n" + line("ok", 1, 0, 1, 0, 0), "not exactly one passed"},
		"filtered out":               {"running 1 test\n" + line("ok", 1, 0, 0, 0, 1), "not exactly one passed"},
		"a benchmark":                {"running 1 test\n" + line("ok", 1, 0, 0, 1, 0), "not exactly one passed"},
		"FAILED":                     {"running 1 test\n" + line("FAILED", 0, 1, 0, 0, 0), "not exactly one passed"},
		"FAILED that says 1 passed":  {"running 1 test\n" + line("FAILED", 1, 0, 0, 0, 0), "not exactly one passed"},
		"a second result line":       {passed + line("ok", 1, 0, 0, 0, 0), "2 test results"},
		"a second run":               {passed + "running 1 test\n", "2 test runs"},
		"twice":                      {passed + passed, "2 test results and 2 test runs"},
		"forged, then the real":      {line("ok", 1, 0, 0, 0, 0) + "running 1 test\n" + line("FAILED", 0, 1, 0, 0, 0), "not exactly one passed"},
		"no run line":                {line("ok", 1, 0, 0, 0, 0), "0 test runs"},
		"nothing":                    {"", "no test result"},
		"ended before the result":    {"\nrunning 1 test\n", "no test result"},
		"coloured":                   {strings.ReplaceAll(passed, "ok", "\x1b[32mok\x1b[m"), "no test result"},
		"indented":                   {"running 1 test\n  " + line("ok", 1, 0, 0, 0, 0), "no test result"},
		"in a longer line":           {"running 1 test\nx " + line("ok", 1, 0, 0, 0, 0), "no test result"},
		"escapes in the time":        {"running 1 test\n" + strings.TrimSuffix(line("ok", 0, 1, 0, 0, 0), "\n") + "\x1b[2J\n", `\x1b[2J`},
		"number beyond any size":     {"running " + strings.Repeat("1", 1<<20) + " tests\n", "tests ran, not one"},
		"very long result":           {"running 1 test\n" + strings.TrimSuffix(line("ok", 0, 1, 0, 0, 0), "\n") + strings.Repeat("x", 1<<20) + "\n", "not exactly one"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := oneTest([]byte(tt.out), token)
			if tt.err == "" {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.err)
			assert.Less(t, len(err.Error()), 400)
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
}

func FuzzOneTest(f *testing.F) {
	f.Add([]byte(passed))
	f.Add([]byte(strings.ReplaceAll(passed, "\n", "\r\n")))
	f.Add([]byte("running 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"))
	f.Fuzz(func(t *testing.T, out []byte) {
		err := oneTest(out, token)
		s := string(out)
		if err == nil {
			require.Contains(t, s, "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out")
			require.Contains(t, s, "running 1 test")
			require.Contains(t, s, token)
			require.Error(t, oneTest(append(out, "\n"+passed...), token), "a second result is never accepted")
			return
		}
		require.Less(t, len(err.Error()), 1000)
	})
}
