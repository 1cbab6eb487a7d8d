package report

import (
	"fmt"
	"math"
	"time"

	"github.com/proctor-evals/proctor/harness/result"
)

// The forms of numbers are those of the public tool agent-exam.

// Cost is US dollars, "   ?   " when unknown.
func Cost(usd *float64) string {
	if usd == nil {
		return "   ?   "
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// Wall is a time in seconds as 12.1s, 1m02s or 1h02m; "?" when unknown.
func Wall(seconds *float64) string {
	if seconds == nil || math.IsNaN(*seconds) {
		return "?"
	}
	s := *seconds
	switch {
	case s < 60:
		return fmt.Sprintf("%.1fs", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%dh%02dm", int(s)/3600, int(s)%3600/60)
}

// Tokens is a number of tokens as 500, 1.5k or 1.5M; "?" when unknown.
func Tokens(n *int64) string {
	switch {
	case n == nil:
		return "?"
	case *n < 1000:
		return fmt.Sprintf("%d", *n)
	case *n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(*n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(*n)/1e6)
}

// Age is how long ago something was: 30s, 15m, 3h or 3d ago.
func Age(since, now time.Time) string {
	d := max(now.Sub(since), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours())/24)
}

// Tools is how many tools were called, with errors, denials and rejections: 5 (2e 1d 1r).
func Tools(m result.Metrics) string {
	s := fmt.Sprintf("%d", m.ToolCalls)
	var odd string
	for _, n := range []struct {
		count  int
		letter string
	}{{m.ToolErrors, "e"}, {m.PermissionDenials, "d"}, {m.ToolRejections, "r"}} {
		if n.count > 0 {
			if odd != "" {
				odd += " "
			}
			odd += fmt.Sprintf("%d%s", n.count, n.letter)
		}
	}
	switch {
	case odd != "":
		return s + " (" + odd + ")"
	case m.ToolCalls == 0:
		return "—"
	}
	return s
}

// Change is how a number changed: +50%, -30%, "new" when there was none, "gone" when there is none
// any more, "" within the tolerance (a share, such as 0.15).
func Change(before, after *float64, tolerance float64) string {
	switch {
	case before == nil && after == nil:
		return ""
	case before == nil || *before == 0 && after != nil && *after != 0:
		return "new"
	case after == nil:
		return "gone"
	case *before == 0:
		return ""
	}
	change := (*after - *before) / *before
	if math.Abs(change) < tolerance {
		return ""
	}
	return fmt.Sprintf("%+.0f%%", 100*change)
}
