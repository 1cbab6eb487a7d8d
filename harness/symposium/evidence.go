package symposium

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Everything below was written by processes inside the trial and is read by the guarded reader.
const (
	maxTrace   = 64 << 20 // bytes
	maxRecords = 100_000  // of a trace
	maxRecord  = 1 << 20  // bytes of a sync record
	maxLog     = 16 << 20 // bytes of all logs together
)

// HookRecord is one line of the hook trace. A line is written only when the hook's work succeeded,
// so a line present means a successful exit.
type HookRecord struct {
	Event  string          `json:"event"`
	Agent  string          `json:"agent"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output"`
	// Offset is where the line begins in the file, in bytes.
	Offset int64 `json:"-"`
}

// Session is the session that the client told the hook, "" when it told none. Source of the names:
// the clients' hook input (claude, codex: session_id; copilot: sessionId).
func (r HookRecord) Session() string {
	var in struct {
		Session string `json:"session_id"`
		Camel   string `json:"sessionId"`
	}
	if json.Unmarshal(r.Input, &in) != nil {
		return ""
	}
	if in.Session == "" {
		return in.Camel
	}
	return in.Session
}

// CallID is the tool call the hook was told of, "" when it was told none.
func (r HookRecord) CallID() string {
	var in struct {
		ID string `json:"tool_use_id"`
	}
	if json.Unmarshal(r.Input, &in) != nil {
		return ""
	}
	return in.ID
}

// Trace is a decoded hook trace.
type Trace struct {
	Records []HookRecord
	// Bad counts lines that are not such a record; Cut says the file held more than is read.
	Bad int
	Cut bool
	// Err says why the file could not be read at all ("" when it could, or is not there).
	Err     string
	Present bool

	data []byte // as read
}

// Extends says whether the file still begins with what it held when earlier was read. Hooks only
// append.
func (t Trace) Extends(earlier Trace) bool { return bytes.HasPrefix(t.data, earlier.data) }

// ReadTrace reads evidence/hook-trace.jsonl.
func ReadTrace(evidenceDir string) Trace {
	data, cut, err := treecopy.ReadFile(evidenceDir, "hook-trace.jsonl", maxTrace)
	if errors.Is(err, fs.ErrNotExist) {
		return Trace{}
	}
	if err != nil {
		return Trace{Err: err.Error(), Present: true}
	}
	return decodeTrace(data, cut)
}

func decodeTrace(data []byte, cut bool) Trace {
	t := Trace{Cut: cut, Present: true, data: data}
	var next int64
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		offset := next
		next += int64(len(line)) + 1
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var r HookRecord
		if err := json.Unmarshal(line, &r); err != nil || r.Event == "" {
			t.Bad++
			continue
		}
		if len(t.Records) == maxRecords {
			t.Cut = true
			break
		}
		r.Offset = offset
		t.Records = append(t.Records, r)
	}
	return t
}

// Size is how many bytes of the file were read.
func (t Trace) Size() int64 { return int64(len(t.data)) }

// TraceSize is the size of the hook trace now, in bytes; 0 when there is none.
func TraceSize(evidenceDir string) int64 {
	root, err := os.OpenRoot(evidenceDir)
	if err != nil {
		return 0
	}
	defer root.Close()
	info, err := root.Lstat("hook-trace.jsonl")
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// First is the first record of an event by the given agent.
func (t Trace) First(agent, event string) (HookRecord, bool) {
	for _, r := range t.Records {
		if r.Event == event && r.Agent == agent {
			return r, true
		}
	}
	return HookRecord{}, false
}

// Count is the number of records of an event by the given agent.
func (t Trace) Count(agent, event string) int {
	n := 0
	for _, r := range t.Records {
		if r.Event == event && r.Agent == agent {
			n++
		}
	}
	return n
}

// Whole says whether the trace could be read to its end without a bad line.
func (t Trace) Whole() bool { return t.Err == "" && t.Bad == 0 && !t.Cut }

// SyncState says what the sync record tells.
type SyncState struct {
	Recorded bool
	// Detail says why it is not recorded, or cannot be told.
	Detail string
	// Unclear is true when the evidence is there but cannot be read.
	Unclear bool
}

// workspaceKey is the folder of a project's record in cargo-agents' cache:
// <basename>-<first 8 hex digits of SHA-256 over the canonical path>.
func workspaceKey(project string) (string, error) {
	real, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(real))
	return filepath.Base(real) + "-" + hex.EncodeToString(sum[:4]), nil
}

// ReadSync reads the record of a successful sync of project.
func ReadSync(home, project string) SyncState {
	key, err := workspaceKey(project)
	if err != nil {
		return SyncState{Unclear: true, Detail: err.Error()}
	}
	rel := path.Join(".symposium/cache/workspaces", key, "state.json")
	data, cut, err := treecopy.ReadFile(home, rel, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return SyncState{Detail: "no sync record: ~/" + rel + " is not there"}
	}
	if err != nil {
		return SyncState{Unclear: true, Detail: fmt.Sprintf("~/%s cannot be read: %v", rel, err)}
	}
	if cut {
		return SyncState{Unclear: true, Detail: fmt.Sprintf("~/%s is larger than %d bytes", rel, maxRecord)}
	}
	var state struct {
		Root *string `json:"workspace-root"`
	}
	if err := json.Unmarshal(data, &state); err != nil || state.Root == nil {
		return SyncState{Unclear: true, Detail: "~/" + rel + " is not a sync record"}
	}
	real, _ := filepath.EvalSymlinks(project)
	if *state.Root != real && *state.Root != project {
		return SyncState{Unclear: true, Detail: fmt.Sprintf("~/%s records another workspace, %q", rel, *state.Root)}
	}
	return SyncState{Recorded: true}
}

// Installed is what was found in the client's skill folder for one skill.
type Installed struct {
	Present bool // a folder of that name is there
	Marker  bool // with Symposium's .symposium marker
	Matches bool // and the plugin's content
	Detail  string
	Unclear bool
}

// CheckInstalled compares skills/<name> below the submission with the skill's source. The two
// files Symposium itself adds at the skill's root, .symposium and .gitignore, are left out.
func CheckInstalled(skillDir string, s Skill) Installed {
	dir := filepath.Join(skillDir, s.Name)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Installed{Detail: "not in the skill folder"}
	}
	if err != nil || !info.IsDir() {
		return Installed{Present: true, Unclear: true, Detail: "the skill folder's entry is not a folder"}
	}
	in := Installed{Present: true}
	if _, _, err := treecopy.ReadFile(dir, ".symposium", 1); err == nil {
		in.Marker = true
	} else {
		in.Detail = "without Symposium's .symposium marker"
	}
	diff, err := treecopy.Diff(s.Dir, dir, treecopy.Options{Untrusted: true, Ignore: func(rel string) bool {
		return rel == ".symposium" || rel == ".gitignore"
	}})
	switch {
	case err != nil:
		in.Unclear, in.Detail = true, "cannot be compared: "+err.Error()
	case diff.Empty() && !diff.Incomplete:
		in.Matches = true
	default:
		in.Detail = join(in.Detail, "differs from the plugin in "+some(slices.Concat(diff.Added, diff.Changed, diff.Deleted)))
	}
	return in
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// some quotes the first few of the paths, which a trial may have chosen.
func some(paths []string) string {
	const most = 10
	if len(paths) <= most {
		return fmt.Sprintf("%q", paths)
	}
	return fmt.Sprintf("%q and %d more", paths[:most], len(paths)-most)
}

// logsFolder is where cargo-agents keeps its logs, below the home folder.
const logsFolder = ".symposium/logs"

// Logs are cargo-agents' log files, concatenated by name, each after a line with its name.
func Logs(home string) []byte {
	var out bytes.Buffer
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil
	}
	defer root.Close()
	// A FIFO of that name would never open, a link lead elsewhere.
	for _, p := range []string{path.Dir(logsFolder), logsFolder} {
		if info, err := root.Lstat(p); err != nil || !info.IsDir() {
			return nil
		}
	}
	dir, err := root.Open(logsFolder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(1000)
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		data, cut, err := treecopy.ReadFileIn(root, path.Join(logsFolder, name), int64(max(0, maxLog-out.Len())))
		if err != nil {
			fmt.Fprintf(&out, "== %q: %v\n", name, err)
			continue
		}
		fmt.Fprintf(&out, "== %q\n%s", name, data)
		if cut {
			fmt.Fprintf(&out, "\n== cut here\n")
			break
		}
	}
	return out.Bytes()
}
