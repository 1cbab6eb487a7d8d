package task

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/tomlspot"
)

// spec is a task.toml: its values, and where they stand. Values that were missing
// or bad have their defaults.
type spec struct {
	file string
	at   *locations

	kind          Kind
	description   string
	prompt        string
	editable      []item
	editableGood  bool // the list was given and has no problem
	editableBuild bool
	fixtures      []item
	plugins       []item
	fmtCheck      bool
	trials        int
	tags          []item
	deadlines     Deadlines
	installed     []item
	notInstalled  []item
	used          []item
	notUsed       []item
	hooks         []item
	modelScript   item
}

// item is one string with the offset it stands at.
type item struct {
	text string
	at   int
}

func texts(items []item) []string {
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it.text
	}
	return out
}

// The keys of task.toml and of its tables.
var (
	topKeys      = []string{"kind", "description", "prompt", "editable", "editable_build", "fixtures", "plugins", "fmt_check", "trials", "tags", "deadlines", "expected", "model_script"}
	deadlineKeys = []string{"setup_secs", "agent_secs", "grading_secs"}
	expectedKeys = []string{"installed", "not_installed", "used", "not_used", "hooks"}
)

// Bounds of the values. They keep a typing error from planning for a year.
const (
	maxTrials   = 10_000
	maxDeadline = 7 * 24 * 3600 // seconds
	maxItems    = 1000          // in one list
)

// parse reads a task.toml, UTF-8 with or without a byte order mark and with
// either line end, and checks everything that needs no other file.
func parse(file string, data []byte) (*spec, Problems) {
	d := &decoder{file: file}
	if !utf8.Valid(data) {
		before := data[:invalidAt(data)]
		d.problems = append(d.problems, Problem{File: file, Line: 1 + bytes.Count(before, []byte("\n")), Message: "the file is not UTF-8 text", Fix: "save it as UTF-8"})
		return d.spec(), d.problems
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	// A checkout's line ends must not reach the prompt.
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if _, err := toml.Decode(text, &d.top); err != nil {
		p := Problem{File: file, Line: 1, Message: "not valid TOML: " + err.Error(), Fix: "correct the syntax"}
		var bad toml.ParseError
		if errors.As(err, &bad) {
			// The decoder's message can quote the file, and then spans lines.
			p.Message = "not valid TOML: " + strings.ReplaceAll(strings.TrimSpace(bad.Message), "\n", " ")
			p.Line, p.Col = tomlspot.Of(text, bad)
		}
		d.problems = append(d.problems, p)
		d.top = nil
		return d.spec(), d.problems
	}
	d.at = locate(text)
	d.text = text
	s := d.spec()
	d.values()
	d.known(d.top, topKeys, nil)
	s.check(d)
	return s, d.problems
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// decoder turns the decoded tables into a spec, type by type.
type decoder struct {
	file     string
	text     string
	top      map[string]any
	at       *locations
	out      *spec
	problems Problems
}

func (d *decoder) spec() *spec {
	if d.at == nil {
		d.at = locate("")
	}
	d.out = &spec{file: d.file, at: d.at, trials: 10,
		deadlines: Deadlines{Setup: 120 * time.Second, Agent: 600 * time.Second, Grading: 300 * time.Second}}
	return d.out
}

// problem adds one at an offset of the text.
func (d *decoder) problem(offset int, message, fix string) {
	line, col := d.at.position(offset)
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Col: col, Message: message, Fix: fix})
}

func (d *decoder) values() {
	s := d.out
	s.kind = Kind(d.str(d.top, "kind").text)
	s.description = d.str(d.top, "description").text
	s.prompt = d.str(d.top, "prompt").text
	s.editable = d.list(d.top, nil, "editable")
	s.editableBuild = d.boolean(d.top, "editable_build")
	s.fixtures = d.list(d.top, nil, "fixtures")
	s.plugins = d.list(d.top, nil, "plugins")
	s.fmtCheck = d.boolean(d.top, "fmt_check")
	s.trials = d.integer(d.top, nil, "trials", s.trials, maxTrials)
	s.tags = d.list(d.top, nil, "tags")
	s.modelScript = d.str(d.top, "model_script")

	in := []string{"deadlines"}
	table := d.table("deadlines", deadlineKeys)
	for key, to := range map[string]*time.Duration{"setup_secs": &s.deadlines.Setup, "agent_secs": &s.deadlines.Agent, "grading_secs": &s.deadlines.Grading} {
		*to = time.Duration(d.integer(table, in, key, int(*to/time.Second), maxDeadline)) * time.Second
	}

	in = []string{"expected"}
	table = d.table("expected", expectedKeys)
	s.installed = d.list(table, in, "installed")
	s.notInstalled = d.list(table, in, "not_installed")
	s.used = d.list(table, in, "used")
	s.notUsed = d.list(table, in, "not_used")
	s.hooks = d.list(table, in, "hooks")
}

// known reports the keys of a table that mean nothing.
func (d *decoder) known(table map[string]any, keys, in []string) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if slices.Contains(keys, key) {
			continue
		}
		path := append(slices.Clone(in), key)
		fix := "the keys here are " + strings.Join(keys, ", ")
		if near := closest(key, keys); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		d.problem(d.at.spans[pathOf(path...)].key, fmt.Sprintf("unknown key %q", strings.Join(path, ".")), fix)
	}
}

func (d *decoder) table(key string, keys []string) map[string]any {
	v, ok := d.top[key]
	if !ok {
		return nil
	}
	table, ok := v.(map[string]any)
	if !ok {
		d.wrong(nil, key, "a table", v, fmt.Sprintf("write [%s] and its keys below it", key))
		return nil
	}
	d.known(table, keys, []string{key})
	return table
}

// wrong reports a value of the wrong type.
func (d *decoder) wrong(in []string, key, want string, got any, fix string) {
	path := append(slices.Clone(in), key)
	d.problem(d.at.spans[pathOf(path...)].key, fmt.Sprintf("%s must be %s, not %s", strings.Join(path, "."), want, typeName(got)), fix)
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "an array of tables"
	}
	return "an array"
}

// str is a top-level string, located at its key.
func (d *decoder) str(table map[string]any, key string) item {
	v, ok := table[key]
	at := d.at.spans[pathOf(key)].key
	if !ok {
		return item{}
	}
	s, ok := v.(string)
	if !ok {
		d.wrong(nil, key, "a string", v, fmt.Sprintf(`write %s = "…"`, key))
	}
	return item{s, at}
}

func (d *decoder) boolean(table map[string]any, key string) bool {
	v, ok := table[key]
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		d.wrong(nil, key, "a boolean", v, fmt.Sprintf("write %s = true or %s = false", key, key))
	}
	return b
}

func (d *decoder) integer(table map[string]any, in []string, key string, def, most int) int {
	v, ok := table[key]
	if !ok {
		return def
	}
	n, ok := v.(int64)
	if !ok {
		d.wrong(in, key, "an integer", v, fmt.Sprintf("write a plain number such as %s = %d", key, def))
		return def
	}
	if n < 1 || n > int64(most) {
		path := append(slices.Clone(in), key)
		d.problem(d.at.spans[pathOf(path...)].key, fmt.Sprintf("%s is %d", strings.Join(path, "."), n), fmt.Sprintf("choose from 1 to %d", most))
		return def
	}
	return int(n)
}

// list is an array of strings, each located where it stands.
func (d *decoder) list(table map[string]any, in []string, key string) []item {
	v, ok := table[key]
	if !ok {
		return nil
	}
	array, ok := v.([]any)
	if !ok {
		fix := fmt.Sprintf(`write %s = ["…"]`, key)
		if s, ok := v.(string); ok {
			fix = fmt.Sprintf("write %s = [%q]", key, s)
		}
		d.wrong(in, key, "an array of strings", v, fix)
		return nil
	}
	path := pathOf(append(slices.Clone(in), key)...)
	if len(array) > maxItems {
		d.problem(d.at.spans[path].key, fmt.Sprintf("%s has %d entries", strings.ReplaceAll(path, "\x00", "."), len(array)), fmt.Sprintf("keep it within %d", maxItems))
		return nil
	}
	var items []item
	for i, v := range array {
		at := d.at.spans[itemOf(path, i)].key
		s, ok := v.(string)
		if !ok {
			d.problem(at, fmt.Sprintf("%s[%d] must be a string, not %s", strings.ReplaceAll(path, "\x00", "."), i, typeName(v)), "put it in quotes or remove it")
			continue
		}
		items = append(items, item{s, at})
	}
	return items
}
