package result

import (
	"fmt"
	"slices"
)

// NotOf says where a record is not the one of a planned trial of its run, in words that read on after its
// folder's name; "" where it is. A record in the place of another would be counted in another arm, and one
// that tells another end than its run's record would leave or enter the count.
func (t *Trial) NotOf(p PlannedTrial, arm Configuration) string {
	switch {
	case t.Mode != p.Configuration || t.Round != p.Round || t.Trial != p.Round || t.Order != p.Order:
		return fmt.Sprintf("holds the record of another trial: number %d of %q, in round %d at place %d", t.Trial, t.Mode, t.Round, t.Order)
	case !t.Configuration.same(arm):
		return fmt.Sprintf("says that its configuration is %+v, and it was planned as %+v", t.Configuration, arm)
	case t.State == Finished && p.ended() && p.Execution != t.Execution:
		return fmt.Sprintf("says that it ended as %q, and its run's %s says %q", t.Execution, RunFile, p.Execution)
	}
	return ""
}

// ended tells whether the run's record says how the trial ended. One that was lost with its runner, by a
// count made since, may have come to its end all the same.
func (p PlannedTrial) ended() bool {
	return p.State == Finished && p.Execution != "" && !(p.Execution == Cancelled && p.Cause == CauseLost)
}

func (c Configuration) same(d Configuration) bool {
	return c.Name == d.Name && c.Mode == d.Mode && c.Skills == d.Skills && c.Hooks == d.Hooks && slices.Equal(c.Tools, d.Tools)
}
