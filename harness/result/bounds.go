package result

import (
	"fmt"
	"math"
	"strings"

	"github.com/proctor-evals/proctor/internal/stats"
)

// maxSplits bounds the ways of sharing out inconclusive trials that are searched for the worst one
// (a few seconds at most). A comparison with more stays without a verdict.
const maxSplits = 20_000

// waysToCount are all the ways of counting two arms whose inconclusive and excluded trials could
// have gone either way.
type waysToCount struct {
	treatment, baseline string
	t, b                Counts
}

// bounds lists the ways of counting that matter: the plain count first; then the ends, where all
// inconclusive trials of an arm count the same way; then, with search, the worst of all the shares
// between the ends; and the same again with excluded trials as failures. Ways that give the same
// table are listed once. complete is false when the search was asked for but is too large.
//
// The ends alone do not do: for arms of unequal size the two-sided p can be larger between them.
func (w waysToCount) bounds(search bool) (bounds []Bound, complete bool) {
	complete = true
	seen := map[[4]int]bool{}
	add := func(tInc, bInc int, excluded bool) {
		tab := w.table(tInc, bInc, excluded)
		if seen[tab] {
			return
		}
		seen[tab] = true
		bounds = append(bounds, Bound{
			Counting: w.words(tInc, bInc, excluded), Treatment: [2]int{tab[0], tab[1]}, Baseline: [2]int{tab[2], tab[3]},
			Diff: difference(tab), P: stats.Boschloo(tab[0], tab[1], tab[2], tab[3]),
		})
	}
	for _, excluded := range []bool{false, true} {
		add(0, 0, excluded)
		add(w.t.Inconclusive, 0, excluded)
		add(0, w.b.Inconclusive, excluded)
		add(w.t.Inconclusive, w.b.Inconclusive, excluded)
		if !search {
			continue
		}
		if int64(w.t.Inconclusive+1)*int64(w.b.Inconclusive+1) > maxSplits {
			complete = false
			continue
		}
		add(w.worst(excluded))
	}
	return bounds, complete
}

// worst is the share of inconclusive trials with the largest p. Every share keeps the size of both
// arms, and for given sizes Boschloo's p never falls when Fisher's rises: it is a function of how
// many tables have a Fisher p no larger. So Fisher's, which costs microseconds, finds the place.
// A change of sign needs no search: the difference is largest and smallest at the ends.
func (w waysToCount) worst(excluded bool) (tInc, bInc int, _ bool) {
	largest := math.Inf(-1)
	for i := 0; i <= w.t.Inconclusive; i++ {
		for j := 0; j <= w.b.Inconclusive; j++ {
			tab := w.table(i, j, excluded)
			if p := stats.Fisher(tab[0], tab[1], tab[2], tab[3]); p > largest {
				largest, tInc, bInc = p, i, j
			}
		}
	}
	return tInc, bInc, excluded
}

// table is {successes, of} of the treatment, then of the baseline, with that many inconclusive
// trials as successes.
func (w waysToCount) table(tInc, bInc int, excluded bool) [4]int {
	tab := [4]int{w.t.Succeeded + tInc, w.t.Eligible, w.b.Succeeded + bInc, w.b.Eligible}
	if excluded {
		tab[1] += w.t.Excluded.Isolation + w.t.Excluded.Grading
		tab[3] += w.b.Excluded.Isolation + w.b.Excluded.Grading
	}
	return tab
}

func difference(tab [4]int) float64 {
	return float64(tab[0])/float64(tab[1]) - float64(tab[2])/float64(tab[3])
}

// words says how a table was counted, so that it reads on after "if".
func (w waysToCount) words(tInc, bInc int, excluded bool) string {
	var parts []string
	arm := func(n, of int, name string) {
		switch {
		case of == 0:
		case n == 0 && of == 1:
			parts = append(parts, fmt.Sprintf("the inconclusive %s trial counts as a failure", name))
		case n == 0:
			parts = append(parts, fmt.Sprintf("the %d inconclusive %s trials count as failures", of, name))
		case of == 1:
			parts = append(parts, fmt.Sprintf("the inconclusive %s trial counts as a success", name))
		case n == of:
			parts = append(parts, fmt.Sprintf("the %d inconclusive %s trials count as successes", of, name))
		case n == 1:
			parts = append(parts, fmt.Sprintf("1 of the %d inconclusive %s trials counts as a success", of, name))
		default:
			parts = append(parts, fmt.Sprintf("%d of the %d inconclusive %s trials count as successes", n, of, name))
		}
	}
	arm(tInc, w.t.Inconclusive, w.treatment)
	arm(bInc, w.b.Inconclusive, w.baseline)
	if excluded {
		parts = append(parts, "excluded trials count as failures")
	}
	if len(parts) == 0 {
		return "every eligible trial counts as it ended"
	}
	return strings.Join(parts, " and ")
}
