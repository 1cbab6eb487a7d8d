package result

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Arms are a batch's trials, by configuration, and how many of each were planned.
type Arms struct {
	// Order lists the configurations as planned; Baseline is the one the others are set against.
	Order    []string
	Baseline string
	Planned  map[string]int
	Trials   map[string][]*Trial
	// Compared is false where trials are counted and never compared: exploratory ones.
	Compared bool
}

// Tally counts the arms into the benchmark: its configurations, comparisons and delta, over what was
// there. treatment is the configuration Delta is about. An error means that no number can be given: a
// trial is in no place or in two, or is not there.
//
// Trials graded with different checks are counted, and nothing is compared: one arm's checks may be
// the harder ones.
func (b *Benchmark) Tally(arms Arms, treatment string) error {
	configurations := map[string]Counts{}
	var problems []error
	for _, name := range arms.Order {
		counts, err := Count(arms.Trials[name])
		if err == nil && counts.Planned != arms.Planned[name] {
			err = fmt.Errorf("counting: %d trials were planned and %d are there", arms.Planned[name], counts.Planned)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		configurations[name] = counts
	}
	for name, trials := range arms.Trials {
		if !slices.Contains(arms.Order, name) && len(trials) > 0 {
			problems = append(problems, fmt.Errorf("%s: counting: %d trials of a configuration that was not planned", name, len(trials)))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	b.Configurations, b.Comparisons, b.Delta = configurations, []Comparison{}, Delta{}
	b.ChecksHash, b.NotCompared = nil, ""
	var all []*Trial
	for _, name := range arms.Order {
		all = append(all, arms.Trials[name]...)
	}
	// Each set of checks that all was graded with anew showed the numbers once more.
	b.Look -= b.ChecksChanged
	b.ChecksChanged = max(0, len(gradedWith(all))-1)
	b.Look += b.ChecksChanged
	hashes := ChecksHashes(all)
	if len(hashes) == 1 {
		b.ChecksHash = &hashes[0]
	}
	base, ok := configurations[arms.Baseline]
	if !ok || !arms.Compared {
		return nil
	}
	if len(hashes) > 1 {
		b.NotCompared = fmt.Sprintf("the submissions were graded with %d different sets of checks (%s), so nothing is compared; `proctor grade` on the whole batch grades all with the present ones",
			len(hashes), strings.Join(shorten(hashes), ", "))
		return nil
	}
	for _, name := range arms.Order {
		if name != arms.Baseline {
			c := Compare(name, configurations[name], arms.Baseline, base)
			if n := endpointFailures(arms.Trials[name]) + endpointFailures(arms.Trials[arms.Baseline]); n > 0 {
				c.Verdict, c.Reason = CannotTell, fmt.Sprintf("in %d of these trials the model's host failed, which counts against the agent and says nothing of it; run them again", n)
			} else if n := disagreeing(arms.Trials[name]) + disagreeing(arms.Trials[arms.Baseline]); n > 0 {
				// Else whoever grades again often enough chooses the verdict.
				c.Verdict, c.Reason = CannotTell, fmt.Sprintf("in %d of these trials the same checks passed the submission once and failed it once; make the checks reliable", n)
			}
			b.Comparisons = append(b.Comparisons, c)
		}
	}
	if with, ok := configurations[treatment]; ok && treatment != arms.Baseline {
		b.Delta = DeltaOf(with, base)
	}
	return nil
}

// endpointFailures counts trials that the model's host spoilt.
func endpointFailures(trials []*Trial) int {
	n := 0
	for _, t := range trials {
		if t != nil && t.Outcome != "" && t.ExecutionCause == CauseModelEndpoint {
			n++
		}
	}
	return n
}

// disagreeing counts eligible trials of which two gradings with the checks that count say different.
func disagreeing(trials []*Trial) int {
	n := 0
	for _, t := range trials {
		if t == nil || t.Outcome == "" || t.Counting() == nil {
			continue
		}
		said := map[Verdict]bool{}
		for _, g := range t.Gradings {
			if v, _ := g.Code.verdict(); v != Inconclusive && g.ChecksHash == t.Counting().ChecksHash {
				said[v] = true
			}
		}
		if len(said) > 1 {
			n++
		}
	}
	return n
}

// ChecksHashes lists what the eligible trials' code was judged with: more than one entry means that
// their verdicts cannot be compared. "" stands for no checks.
func ChecksHashes(trials []*Trial) []string {
	seen := map[string]bool{}
	for _, t := range trials {
		if t == nil || t.Outcome == "" {
			continue
		}
		if v, _ := t.Code.verdict(); v == Inconclusive {
			continue
		}
		if g := t.Counting(); g != nil {
			seen[g.ChecksHash] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// gradedWith lists all that any grading of the trials came to a verdict with, whether it counts or not.
func gradedWith(trials []*Trial) []string {
	seen := map[string]bool{}
	for _, t := range trials {
		for _, g := range t.Gradings {
			if v, _ := g.Code.verdict(); v != Inconclusive {
				seen[g.ChecksHash] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// shorten makes hashes fit for a sentence.
func shorten(hashes []string) []string {
	var out []string
	for _, h := range hashes {
		if len(h) > 12 {
			h = h[:12]
		}
		out = append(out, or(h, "none"))
	}
	return out
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
