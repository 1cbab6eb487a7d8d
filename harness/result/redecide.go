package result

import "fmt"

// Contradiction says where a record's place in the count is not what its own execution, code,
// expectations and exclusion come to by Decide; "" where it is. The outcome is what is counted, and a
// word of it that nothing in the record carries must not be.
func (t *Trial) Contradiction() string {
	if c := t.Code; c != nil && c.Build != "" && t.Execution.Started() { // a record that tells the steps
		again := *c
		again.Judge()
		if again.Overall != c.Overall {
			return fmt.Sprintf("says that its code is %q, and the steps of its grading come to %q", c.Overall, again.Overall)
		}
	}
	if g := t.Counting(); g != nil && t.Execution.Started() {
		mirrored, _ := t.Code.verdict()
		if own, _ := g.Code.verdict(); own != mirrored {
			return fmt.Sprintf("says that its code is %q, and its grading that counts (%s) says %q", mirrored, g.Folder, own)
		}
	}
	again := *t
	again.Decide()
	if again.Outcome != t.Outcome || again.Success != t.Success || kindOf(again.Excluded) != kindOf(t.Excluded) {
		return fmt.Sprintf("says %s, and its execution, code and expectations come to %s", place(t), place(&again))
	}
	return ""
}

func kindOf(e *Exclusion) string {
	if e == nil {
		return ""
	}
	return e.Kind
}

// place is where a record says it counts.
func place(t *Trial) string {
	if t.Excluded != nil {
		return fmt.Sprintf("excluded (%s) with outcome %q and success %q", t.Excluded.Kind, t.Outcome, t.Success)
	}
	return fmt.Sprintf("outcome %q with success %q", t.Outcome, t.Success)
}
