package transcript

import (
	"regexp"
	"strings"
)

// textFirst are programs whose first plain argument is a program text or a
// pattern, which may well start with a slash.
var textFirst = set("sed awk gawk mawk grep egrep fgrep rg ag perl jq tr")

// textOnly are programs whose arguments are text to print.
var textOnly = set("echo printf")

// wordPaths collects the words of a command that name paths.
func (w *walker) wordPaths(c *command) {
	name := program(c.words)
	skip := textFirst[name]
	for i, v := range c.words {
		switch {
		case i > 0 && textOnly[name]:
			continue
		case i > 0 && skip && !strings.HasPrefix(v.text, "-"):
			skip = false
			continue
		}
		w.pathsIn(v)
	}
	for _, v := range append(append([]value{}, c.stdin...), c.targets...) {
		w.pathsIn(v)
	}
}

// pathsIn records the path a word is, or holds after "=" or ":".
func (w *walker) pathsIn(v value) {
	if strings.Contains(v.text, "://") {
		return
	}
	if v.tilde || strings.HasPrefix(v.text, "/") || hasDotDot(v.text) {
		if strings.HasPrefix(v.text, "//") {
			return // a comment of some language
		}
		known := v
		if v.dynamic {
			// "/root/$X" still starts with /root.
			if !strings.HasPrefix(v.raw, v.text) || !strings.HasPrefix(v.text, "/") {
				return
			}
			known.dynamic = false
		}
		if p, ok := w.resolve(known); ok {
			w.path(p)
		}
		return
	}
	for _, p := range pathsInText(v.text) {
		w.path(p)
	}
}

func hasDotDot(s string) bool {
	return s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") || strings.HasSuffix(s, "/..")
}

// absolute finds absolute paths and those below a home in free text: after a
// space, a quote, an opening bracket, "=", ":" or "," and not in an address.
var absolute = regexp.MustCompile(`(?:^|[\s'"=(\[{:,<>])((?:/|~/)[A-Za-z0-9._][^\s'"()\[\]{};|&<>,:]*)`)

func pathsInText(text string) []string {
	var found []string
	for _, m := range absolute.FindAllStringSubmatch(text, 200) {
		found = append(found, m[1])
	}
	return found
}
