package report

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// What a trial's files may put on the page, in bytes.
const (
	mostPolicy  = 32 << 10
	mostOutput  = 4 << 10 // of one step's output; its end counts, so the start is cut
	mostOutputs = 60
)

// where says in which place a trial counts, and why, in the page's words.
func where(t *result.Trial) (at place, label, why string) {
	switch {
	case t.State != result.Finished:
		return placeNotRun, Clean(string(t.State)), "no end of this trial is recorded"
	case t.Excluded != nil:
		return placeExcluded, "excluded (" + Clean(t.Excluded.Kind) + ")", Clean(t.Excluded.Cause)
	case t.Execution == result.SetupFailure:
		return placeNotRun, "setup failure", Clean(t.ExecutionCause)
	case t.Execution == result.Cancelled:
		return placeNotRun, "cancelled", Clean(t.ExecutionCause)
	}
	why = Clean(t.ExecutionCause)
	switch t.Outcome {
	case result.Succeeded:
		return placeSucceeded, "succeeded", why
	case result.Failed:
		return placeFailed, "failed", because(t)
	case result.OutcomeInconclusive:
		return placeUnsure, "inconclusive", because(t)
	}
	return placeBroken, "no outcome", fmt.Sprintf("execution %q and outcome %q are not known here", Clean(string(t.Execution)), Clean(string(t.Outcome)))
}

// because names what kept a trial from succeeding.
func because(t *result.Trial) string {
	var parts []string
	if t.Execution != result.Completed {
		parts = append(parts, Clean(string(t.Execution)))
		if t.ExecutionCause != "" {
			parts = append(parts, Clean(t.ExecutionCause))
		}
	}
	for _, list := range [][]pageCheck{checks(t.Code), expected(t.Expectations)} {
		for _, c := range list {
			if c.Verdict != string(result.Pass) && c.Verdict != string(result.Skipped) {
				parts = append(parts, c.Name+": "+c.Verdict)
			}
		}
	}
	if t.Code != nil && len(t.Code.InvalidSubmission) > 0 {
		parts = append(parts, "the submission is invalid")
	}
	return strings.Join(parts, "; ")
}

// evidence is what the page shows of a trial on demand. root is its folder, open; starter is the task's,
// or "".
func evidence(t *result.Trial, root *os.Root, dir, starter string, starterNotes []string, b *budget) pageTrial {
	p := pageTrial{Stages: []pageStage{
		{"setup", t.Timings.Setup, t.DeadlinesSecs.Setup},
		{"agent", t.Timings.Agent, t.DeadlinesSecs.Agent},
		{"grading", t.Timings.Grading, 0},
	}}
	p.Place, p.Label, p.Why = where(t)
	p.Facts, p.Machine = facts(t), machine(t)
	p.Checks, p.Expected = checks(t.Code), expected(t.Expectations)
	if c := t.Code; c != nil {
		for _, x := range []struct {
			what  string
			paths []string
		}{{"edited outside the editable paths", c.EditsOutside}, {"invalid in the submission", c.InvalidSubmission}, {"could lead a grader astray (listed, not graded)", c.Suspicious}} {
			for _, name := range firstOf(x.paths) {
				p.Code = append(p.Code, x.what+": "+Clean(name))
			}
		}
		if c.InfrastructureError != "" {
			p.Code = append(p.Code, "the grading broke: "+Clean(c.InfrastructureError))
		}
	}
	if t.Submission != nil {
		for i, e := range t.Submission.LeftOut {
			if i == 20 {
				p.Code = append(p.Code, fmt.Sprintf("%d more entries could not be kept", len(t.Submission.LeftOut)-i))
				break
			}
			p.Code = append(p.Code, "not kept of the submission: "+Clean(e.Path)+" is "+e.Kind.Phrase())
		}
	}
	for i, f := range t.Findings {
		if i == 100 {
			p.Findings = append(p.Findings, [2]string{"more", fmt.Sprint(len(t.Findings) - i)})
			break
		}
		p.Findings = append(p.Findings, [2]string{Clean(f.Kind), Clean(f.Detail)})
	}
	for _, s := range firstOf(t.Isolation.AuditFindings) {
		p.Findings = append(p.Findings, [2]string{"names something outside", Clean(s)})
	}
	for _, s := range firstOf(t.Isolation.ConfigChanges) {
		p.Findings = append(p.Findings, [2]string{"changed configuration", Clean(s)})
	}
	p.Session = session(root, t.Client.Name, slices.Sorted(maps.Keys(t.ObservedLoad)), b)
	p.Changes.Notes = starterNotes
	if _, err := root.Lstat("submission"); err != nil {
		p.Changes.Notes = []string{"There is no submission."}
	} else if starter != "" {
		c := changes(starter, dir, b)
		p.Changes = pageChanges{Notes: append(slices.Clone(starterNotes), c.Notes...), Files: c.Files}
	}
	p.Outputs = outputs(root, t, b)
	if data, more, err := treecopy.ReadFileIn(root, "srt.json", mostPolicy); err == nil {
		p.Policy = b.text("", string(data), mostPolicy).Text
		if more {
			p.Policy += "\n… (cut)"
		}
	}
	return p
}

// firstOf bounds a list that a trial may have made long.
func firstOf(list []string) []string {
	const most = 20
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("… and %d more", len(list)-most))
}

func checks(c *result.Code) []pageCheck {
	if c == nil {
		return nil
	}
	reason := func(key string) string { return Clean(c.Reasons[key]) }
	out := []pageCheck{
		{"build", Clean(string(c.Build)), reason("build")},
		{"the library's own tests", Clean(string(c.CargoTestLib)), reason("test-lib")},
	}
	for _, name := range slices.Sorted(maps.Keys(c.Hidden)) {
		out = append(out, pageCheck{"hidden check " + Clean(name), Clean(string(c.Hidden[name])), reason("hidden-" + name)})
	}
	if c.CargoFmtCheck != nil {
		out = append(out, pageCheck{"format", Clean(string(*c.CargoFmtCheck)), reason("fmt")})
	}
	return out
}

func expected(e *result.Expectations) []pageCheck {
	if e == nil {
		return nil
	}
	var out []pageCheck
	add := func(name, key string, v *result.Verdict) {
		if v != nil {
			out = append(out, pageCheck{name, Clean(string(*v)), Clean(e.Causes[key])})
		}
	}
	add("skill folder empty before launch", "sync.skill_dir_empty_before", &e.Sync.SkillDirEmptyBefore)
	add("SessionStart hook ran", "sync.session_start", &e.Sync.SessionStart)
	add("sync recorded", "sync.sync_recorded", &e.Sync.SyncRecorded)
	for _, name := range slices.Sorted(maps.Keys(e.Hooks)) {
		v := e.Hooks[name]
		add("hook "+Clean(name)+" ran", "hooks."+name, &v)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Skills)) {
		s, skill, key := e.Skills[name], "skill "+Clean(name), "skills."+name
		add(skill+" installed", key+".installed", s.Installed)
		add(skill+" not installed", key+".not_installed", s.NotInstalled)
		add(skill+" used", key+".used", s.Used)
		add(skill+" not used", key+".not_used", s.NotUsed)
	}
	return out
}

func facts(t *result.Trial) [][2]string {
	ended := Clean(string(t.Execution))
	if t.ExecutionCause != "" {
		ended += ": " + Clean(t.ExecutionCause)
	}
	out := [][2]string{
		{"configuration", Clean(t.Mode)},
		{"round", fmt.Sprintf("%d, as number %d of the batch", t.Round, t.Order)},
		{"session", ended},
		{"started", clock(t.StartedAt)},
	}
	u := t.Usage
	out = append(out, [2]string{"tokens", fmt.Sprintf("%s in all; input %s, output %s, cache read %s, cache write %s",
		tokens(u.Total()), tokens(u.InputTokens), tokens(u.OutputTokens), tokens(u.CacheReadTokens), tokens(u.CacheWriteTokens))})
	for _, skill := range slices.Sorted(maps.Keys(t.ObservedLoad)) {
		offered := "not offered"
		for _, o := range t.Offered {
			if o.Skill == skill {
				offered = "offered by " + Clean(o.Via)
			}
		}
		out = append(out, [2]string{"skill " + Clean(skill), Clean(t.ObservedLoad[skill]) + "; " + offered + " to the model"})
	}
	return out
}

// machine is what the trial ran on and with.
func machine(t *result.Trial) [][2]string {
	version := func(v, sum string) string {
		if sum != "" {
			v += "  sha256 " + sum
		}
		return Clean(v)
	}
	out := [][2]string{
		{"isolation", Clean(t.Isolation.Mode) + ", transcript audit: " + Clean(t.Isolation.AuditState)},
		{"system", Clean(t.OS)}, {"toolchain", Clean(t.Toolchain)},
		{"client", Clean(t.Client.Name) + " " + version(t.Client.Version, t.Client.SHA256)},
		{"model", Clean(t.Model.Name) + " (" + Clean(t.Model.Kind) + ")"},
	}
	for _, key := range slices.Sorted(maps.Keys(t.Model.Settings)) {
		out = append(out, [2]string{"model setting " + Clean(key), Clean(fmt.Sprint(t.Model.Settings[key]))})
	}
	if s := t.Symposium; s != nil {
		out = append(out, [2]string{"cargo-agents", version(s.Version, s.SHA256)})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Tools)) {
		out = append(out, [2]string{Clean(name), version(t.Tools[name].Version, t.Tools[name].SHA256)})
	}
	if g := t.Gateway; g != nil {
		out = append(out, [2]string{"model traffic", fmt.Sprintf("%d requests, %d turns, %d side calls, %d refused, %d failures", g.Requests, g.Turns, g.SideCalls, g.Refused, g.Failures)})
	}
	if len(t.StandIns) > 0 {
		out = append(out, [2]string{"stand-ins", Clean(strings.Join(t.StandIns, ", "))})
	}
	out = append(out, [2]string{"side by side", fmt.Sprintf("up to %d batches", max(1, t.Jobs))})
	if t.Isolation.Root {
		out = append(out, [2]string{"runner", "was root"})
	}
	return out
}

// outputs are what the grading's steps printed, of the grading that counts.
func outputs(root *os.Root, t *result.Trial, b *budget) []pageText {
	folder := "grading"
	for _, g := range t.Gradings {
		if g.Counts {
			folder = g.Folder
		}
	}
	if folder != path.Base(folder) || !strings.HasPrefix(folder, "grading") {
		return nil // no grading writes such a record
	}
	if info, err := root.Lstat(folder); err != nil || !info.IsDir() {
		return nil
	}
	f, err := root.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(1000)
	slices.SortFunc(entries, func(x, y os.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	var out []pageText
	for _, e := range entries {
		if len(out) == mostOutputs || b.left <= 0 {
			break
		}
		data, _, err := treecopy.ReadFileIn(root, folder+"/"+e.Name(), 1<<20)
		if err != nil || len(data) == 0 {
			continue
		}
		start := max(0, len(data)-mostOutput)
		text := b.text(Clean(e.Name()), string(data[start:]), mostOutput)
		text.Cut += start
		out = append(out, text)
	}
	return out
}

// clock writes a time for people; the zero time is none.
func clock(t time.Time) string {
	if t.IsZero() {
		return "—"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
