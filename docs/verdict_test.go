package docs_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

// The numbers of the tables that the pages show belong together: rates, intervals, difference and p are
// those of the counts.
func TestShownVerdictsAreRight(t *testing.T) {
	row := regexp.MustCompile(`(?m)^([a-z-]+) +(\d+) of (\d+) +(\d+) % +(\d+) to (\d+) %`)
	line := regexp.MustCompile(`(?m)^([a-z-]+) against ([a-z-]+): helps, (\S+) points \(95 % interval (\S+) to (\S+)\), Boschloo p = (\S+), Fisher p = (\S+)$`)
	for _, page := range []string{"../README.md", "first-five-minutes.md", "reading-the-verdict.md"} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			counts := map[string][2]int{}
			for _, m := range row.FindAllStringSubmatch(string(text), -1) {
				s, n := number(t, m[2]), number(t, m[3])
				counts[m[1]] = [2]int{s, n}
				lo, hi, ok := stats.Wilson(s, n)
				require.True(t, ok)
				assert.Equal(t, fmt.Sprintf("%.0f %.0f %.0f", 100*float64(s)/float64(n), 100*lo, 100*hi), m[4]+" "+m[5]+" "+m[6], m[0])
			}
			shown := line.FindAllStringSubmatch(string(text), -1)
			require.Len(t, shown, 1)
			m := shown[0]
			a, b := counts[m[1]], counts[m[2]]
			diff, lo, hi, ok := stats.Newcombe(a[0], a[1], b[0], b[1])
			require.True(t, ok, m[0])
			p := stats.Boschloo(a[0], a[1], b[0], b[1])
			assert.LessOrEqual(t, p, 0.05)
			assert.Equal(t, fmt.Sprintf("%+.0f %+.0f %+.0f %.3g %.3g", 100*diff, 100*lo, 100*hi, p, stats.Fisher(a[0], a[1], b[0], b[1])),
				m[3]+" "+m[4]+" "+m[5]+" "+m[6]+" "+m[7])
		})
	}
	guide, err := os.ReadFile("guide.md")
	require.NoError(t, err)
	reading, err := os.ReadFile("reading-the-verdict.md")
	require.NoError(t, err)
	assert.Equal(t, line.FindString(string(reading)), line.FindString(string(guide)), "the guide shows the same line")
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}
