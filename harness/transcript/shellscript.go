package transcript

import "strings"

// ShellScript is the script of a command line that only starts a shell for it,
// as in "/bin/bash -lc 'SCRIPT'"; false for any other command line.
func ShellScript(line string) (string, bool) {
	if len(line) > maxShellBytes {
		return "", false
	}
	tokens := lexShell(line)
	if len(tokens) != 3 {
		return "", false
	}
	var words [3]string
	for i, t := range tokens {
		if t.op != "" {
			return "", false
		}
		for _, p := range t.parts {
			if p.kind != partLit {
				return "", false
			}
			words[i] += p.lit
		}
	}
	_, name, _ := cutLast(words[0], "/")
	if !interpreter[name] || !strings.HasPrefix(words[1], "-") || !strings.HasSuffix(words[1], "c") {
		return "", false
	}
	return words[2], true
}

// cutLast is strings.Cut at the last separator; without one, all is after it.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}
