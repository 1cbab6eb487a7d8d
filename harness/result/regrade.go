package result

import "fmt"

// GradingDisagrees is the kind of the finding that two gradings of one submission with the same checks
// gave different verdicts: the checks, or the machine, are not reliable.
const GradingDisagrees = "grading_disagrees"

// Counting is the grading that Code and Success mirror: the one marked so, else the first; nil with
// none. Records of earlier versions have one grading and no mark.
func (t *Trial) Counting() *Grading {
	for i := range t.Gradings {
		if t.Gradings[i].Counts {
			return &t.Gradings[i]
		}
	}
	if len(t.Gradings) == 0 {
		return nil
	}
	return &t.Gradings[0]
}

// Started tells whether the trial got as far as having a submission to grade.
func (e Execution) Started() bool {
	return e == Completed || e == TimedOut || e == ClientError
}

// Latest is the newest grading with the given checks that came to a verdict, else the newest with
// them; nil with none.
func (t *Trial) Latest(checksHash string) *Grading {
	var found *Grading
	for i := range t.Gradings {
		g := &t.Gradings[i]
		if g.ChecksHash != checksHash {
			continue
		}
		if v, _ := g.Code.verdict(); v != Inconclusive || found == nil {
			found = g
		} else if old, _ := found.Code.verdict(); old == Inconclusive {
			found = g
		}
	}
	return found
}

// CountLatest makes Latest(checksHash) the grading that counts and decides the trial anew. It tells
// whether there is one. Where gradings with these checks disagree, a finding says so.
func (t *Trial) CountLatest(checksHash string) bool {
	chosen := t.Latest(checksHash)
	if chosen == nil {
		return false
	}
	for i := range t.Gradings {
		t.Gradings[i].Counts = &t.Gradings[i] == chosen
	}
	t.Code = chosen.Code
	t.Decide()
	t.noteDisagreement(checksHash)
	return true
}

func (t *Trial) noteDisagreement(checksHash string) {
	var first *Grading
	for i := range t.Gradings {
		g := &t.Gradings[i]
		v, _ := g.Code.verdict()
		if g.ChecksHash != checksHash || v == Inconclusive {
			continue
		}
		if first == nil {
			first = g
			continue
		}
		if first.Code.Overall != v {
			finding := Finding{Kind: GradingDisagrees, Detail: fmt.Sprintf("%s: %s, %s: %s, with the same checks", first.Folder, first.Code.Overall, g.Folder, v)}
			for _, f := range t.Findings {
				if f == finding {
					return
				}
			}
			t.Findings = append(t.Findings, finding)
			return
		}
	}
}
