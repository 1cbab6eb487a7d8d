package transcript

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// AuditInput is what a trial may name.
type AuditInput struct {
	Cwd             string   // the working directory tools start in; "" takes the transcript's
	Home            string   // HOME inside the trial
	RunPaths        []string // absolute folders of the trial itself
	AllowedPrefixes []string // other absolute files and folders it may name: system, toolchain, staged tools
	Baseline        bool     // no Symposium: any mention of it is a finding
}

// AuditState is the audit's conclusion.
type AuditState string

// The states. Clean proves nothing: a command's text can hide what it does.
const (
	AuditClean            AuditState = "clean"
	AuditSuspicious       AuditState = "suspicious"
	AuditNotInterpretable AuditState = "not_interpretable" // no finding, but not all was there to be read
)

// The kinds of [Finding].
const (
	FindingPathOutside = "path_outside_trial"
	FindingSymposium   = "symposium_in_baseline"
)

// Finding is one tool call that names something it should not. It does not
// say that the thing was reached; Status tells how the call ended.
type Finding struct {
	Kind   string `json:"kind"`
	Tool   string `json:"tool"`
	CallID string `json:"call_id"`
	Status Status `json:"status"`
	Detail string `json:"detail"` // the path or the words; hostile text
}

// AuditReport is the result of [Audit].
type AuditReport struct {
	State    AuditState `json:"state"`
	Findings []Finding  `json:"findings"` // at most [MaxFindings]
	More     int        `json:"more"`     // findings beyond that
}

// MaxFindings is how many findings a report lists.
const MaxFindings = 100

// devices are harmless wherever they are named.
var devices = []string{"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd", "/dev/tty", "/dev/zero", "/dev/random", "/dev/urandom"}

// symposium finds a call of cargo-agents in any spelling, and its folder.
var symposium = regexp.MustCompile(`(?i)cargo-agents|\bcargo\s+agents\b|\.symposium\b`)

// contentKeys are arguments that hold what is written, not where.
var contentKeys = set("content new_string old_string new_source description prompt query todos subject thought body")

// commandKeys are arguments that hold a shell command.
var commandKeys = set("command cmd script")

// pathKeys are arguments that hold one path, absolute or not.
var pathKeys = set("file_path path notebook_path cwd workdir directory dir filePath")

// fileTools are the clients' tools that look at files and change none.
var fileTools = set("Read Grep Glob LS read grep glob list view")

// FileTool tells whether a tool of a client looks at files and changes none.
func FileTool(name string) bool { return fileTools[name] }

// Audit looks through all tool inputs for paths outside the trial and, in a
// baseline, for Symposium. It reads text, so it can be evaded.
func Audit(t *Transcript, in AuditInput) AuditReport {
	a := &auditor{in: in, report: AuditReport{Findings: []Finding{}}, seen: map[Finding]bool{}}
	if a.in.Cwd == "" {
		a.in.Cwd = t.Cwd
	}
	if a.in.Home == "" {
		a.in.Home = "~"
	}
	readable := true
	for i := range t.Turns {
		for j := range t.Turns[i].ToolCalls {
			call := &t.Turns[i].ToolCalls[j]
			readable = a.call(call) && readable
		}
	}
	ok, _ := t.Interpretable()
	switch {
	case len(a.report.Findings) > 0:
		a.report.State = AuditSuspicious
	case !ok || !readable || t.Dropped.ToolCalls > 0 || t.Dropped.Turns > 0:
		a.report.State = AuditNotInterpretable
	default:
		a.report.State = AuditClean
	}
	return a.report
}

type auditor struct {
	in     AuditInput
	report AuditReport
	seen   map[Finding]bool
}

// call looks at one tool call and reports whether all of its input was there.
func (a *auditor) call(c *ToolCall) bool {
	var input any
	if len(c.Input) > 0 && json.Unmarshal(c.Input, &input) != nil {
		return false
	}
	if a.in.Baseline {
		a.symposium(c, input)
	}
	a.value(c, "", input)
	return !c.InputCut
}

func (a *auditor) symposium(c *ToolCall, value any) {
	switch v := value.(type) {
	case string:
		if m := symposium.FindString(v); m != "" {
			a.find(c, FindingSymposium, m)
		}
	case []any:
		for _, item := range v {
			a.symposium(c, item)
		}
	case map[string]any:
		for _, item := range v {
			a.symposium(c, item)
		}
	}
}

func (a *auditor) value(c *ToolCall, key string, value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			a.value(c, key, item)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			a.value(c, k, v[k])
		}
	case string:
		switch {
		case contentKeys[key]:
		case commandKeys[key]:
			a.command(c, v)
		case pathKeys[key]:
			a.path(c, v)
		case strings.HasPrefix(v, "/") || strings.HasPrefix(v, "~"):
			a.path(c, v)
		}
	}
}

func (a *auditor) command(c *ToolCall, command string) {
	scan := ScanShell(command, a.in.Cwd, a.in.Home)
	for _, p := range scan.Paths {
		a.path(c, p)
	}
	for _, o := range scan.Opaque {
		if o.Words {
			continue // seen above
		}
		for _, p := range pathsInText(o.Text) {
			a.path(c, p)
		}
	}
}

// path records a finding when p is outside what the trial may name.
func (a *auditor) path(c *ToolCall, p string) {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		if a.in.Home == "~" {
			return // its own home, wherever that is
		}
		p = path.Join(a.in.Home, p[1:])
	case strings.HasPrefix(p, "~"):
	case !path.IsAbs(p):
		if a.in.Cwd == "" {
			return
		}
		p = path.Join(a.in.Cwd, p)
	}
	// A pattern is judged by the folder above it.
	if i := strings.IndexAny(p, "*?[{"); i >= 0 {
		p = p[:strings.LastIndexByte(p[:i], '/')+1]
	}
	p = realPath(p)
	for _, allowed := range slices.Concat(a.in.RunPaths, a.in.AllowedPrefixes, devices) {
		if allowed = realPath(allowed); p == allowed || strings.HasPrefix(p, strings.TrimSuffix(allowed, "/")+"/") {
			return
		}
	}
	a.find(c, FindingPathOutside, p)
}

func (a *auditor) find(c *ToolCall, kind, detail string) {
	f := Finding{Kind: kind, Tool: c.Name, CallID: c.ID, Status: c.Status, Detail: Name(detail)}
	if a.seen[f] {
		return
	}
	if len(a.report.Findings) >= MaxFindings {
		a.report.More++
		return
	}
	a.seen[f] = true
	a.report.Findings = append(a.report.Findings, f)
}
