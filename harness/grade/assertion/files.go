package assertion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// maxFile is how much of a file is looked at, in bytes.
const maxFile = 16 << 20

// inside is a path of a task file as one below the working directory, or why it is none.
func inside(p string) (rel, why string) {
	if path.IsAbs(p) {
		return "", fmt.Sprintf("%q is an absolute path: only the working directory is looked at", p)
	}
	rel = path.Clean(p)
	switch {
	case strings.HasPrefix(rel, "../") || rel == "..":
		return "", fmt.Sprintf("%q leaves the working directory", p)
	case rel == ".":
		return "", fmt.Sprintf("%q names the working directory itself, not a file in it", p)
	}
	return rel, ""
}

// refused turns what is wrong with a path in the working directory into a failure, and what is wrong
// on the runner's side into an error.
func refused(p string, err error) finding {
	var entry *treecopy.EntryError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found(false, "missing %s", p)
	case errors.As(err, &entry):
		return found(false, "%s is not read: %v", p, entry)
	}
	return broken("%s: %v", p, err)
}

func (g *grading) fileExists(c suite.FileExists) finding {
	rel, why := inside(c.Path)
	if why != "" {
		return found(false, "%s", why)
	}
	if g.rootErr != nil {
		return broken("%v", g.rootErr)
	}
	f, err := treecopy.OpenIn(g.root, rel)
	var entry *treecopy.EntryError
	switch {
	case err == nil:
		f.Close()
	case errors.As(err, &entry) && entry.Kind == treecopy.Unreadable && entry.Path == rel:
		// It is a regular file; what it holds is not asked.
	default:
		return refused(c.Path, err)
	}
	return found(true, "found %s", c.Path)
}

// text reads a file as text: what is not UTF-8 becomes U+FFFD, and every line ends in LF.
func (g *grading) text(p string) (text string, cut bool, failed *finding) {
	data, cut, failed := g.read(p)
	if failed != nil {
		return "", cut, failed
	}
	text = string([]rune(string(data)))
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), cut, nil
}

func (g *grading) read(p string) (data []byte, cut bool, failed *finding) {
	rel, why := inside(p)
	if why != "" {
		f := found(false, "%s", why)
		return nil, false, &f
	}
	if g.rootErr != nil {
		f := broken("%v", g.rootErr)
		return nil, false, &f
	}
	data, cut, err := treecopy.ReadFileIn(g.root, rel, maxFile)
	if err != nil {
		f := refused(p, err)
		return nil, cut, &f
	}
	return data, cut, nil
}

// search looks for a pattern or an expression in text. A search that is given up is a failure: the
// text is the agent's.
func search(text, where, pattern string, re *suite.Regexp) finding {
	ok := false
	if re != nil {
		pattern = re.String()
		var err error
		if ok, err = re.Search(text); err != nil {
			return found(false, "in %s: %v", where, err)
		}
	} else {
		ok = strings.Contains(text, pattern)
	}
	if ok {
		return found(true, "matched %q in %s", pattern, where)
	}
	return found(false, "no match for %q in %s", pattern, where)
}

func (g *grading) fileContains(c suite.FileContains) finding {
	text, cut, failed := g.text(c.Path)
	if failed != nil {
		return *failed
	}
	f := search(text, c.Path, c.Pattern, c.Regex)
	if cut && !f.pass {
		f.reason += fmt.Sprintf(", of which only the first %d MiB were searched", maxFile>>20)
	}
	return f
}

// jsonPath looks into a JSON file, or into the last answer when no file is named. It passes when one
// of the selected values is as asked; with nothing asked, when there is one. The query is RFC 9535's.
func (g *grading) jsonPath(c suite.JSONPath) finding {
	query, err := jsonpath.Parse(c.Query)
	if err != nil {
		return broken("the query %q: %v", c.Query, err)
	}
	data, where := []byte(unfence(g.Transcript.FinalText)), "the last answer"
	if c.Path != "" {
		where = c.Path
		var cut bool
		var failed *finding
		if data, cut, failed = g.read(c.Path); failed != nil {
			return *failed
		}
		if cut {
			return found(false, "%s is larger than %d MiB", c.Path, maxFile>>20)
		}
	}
	var doc any
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\uFEFF")), &doc); err != nil {
		return found(false, "%s is not JSON: %v", where, err)
	}
	values := query.Select(doc)
	if len(values) == 0 {
		return found(false, "%s selects nothing in %s", c.Query, where)
	}
	for _, v := range values {
		ok, err := isAsked(v, c)
		if err != nil {
			return found(false, "in %s: %v", where, err)
		}
		if ok {
			return found(true, "%s in %s is %s", c.Query, where, show(v))
		}
	}
	f := found(false, "%s in %s is %s", c.Query, where, show(values[0]))
	if len(values) > 1 {
		f.reason += fmt.Sprintf(" and %d more, none as asked", len(values)-1)
	}
	return f
}

func isAsked(v any, c suite.JSONPath) (bool, error) {
	if c.HasEqual && !reflect.DeepEqual(v, plain(c.Equals)) {
		return false, nil
	}
	if c.Matches == nil {
		return true, nil
	}
	switch v := v.(type) {
	case string:
		return c.Matches.Search(v)
	case float64, bool:
		return c.Matches.Search(show(v))
	}
	return false, nil
}

// plain is a value as encoding/json reads it, so that 1 equals 1.0.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(data, &out) != nil {
		return v
	}
	return out
}

// show is a value as JSON, cut for a sentence.
func show(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return short(string(data), shownResult)
}

// unfence takes the fence of Markdown away when an answer is one fenced block and nothing else.
func unfence(s string) string {
	s = strings.TrimSpace(s)
	if body, ok := strings.CutPrefix(s, "```"); ok {
		if body, ok = strings.CutSuffix(body, "```"); ok {
			if _, inner, ok := strings.Cut(body, "\n"); ok && !strings.Contains(inner, "```") {
				return inner
			}
		}
	}
	return s
}
