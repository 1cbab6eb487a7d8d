package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// check says what in l cannot reach the program as it is written, all at once.
func (l Launch) check() error {
	var problems []error
	if len(l.Argv) == 0 || l.Argv[0] == "" {
		problems = append(problems, errors.New("sandbox: no program to run"))
	}
	for i, arg := range l.Argv {
		if strings.ContainsRune(arg, 0) {
			problems = append(problems, fmt.Errorf("sandbox: argument %d of the program holds a NUL byte", i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Env)) {
		switch value := l.Env[name]; {
		case !isName(name) || isCarrier(name):
			problems = append(problems, fmt.Errorf("sandbox: %q cannot be the name of an environment variable here: use letters, digits and _, beginning with a letter, not V and digits", name))
		case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
			// Node.js passes the environment on as text. The value may be a secret: it is not shown.
			problems = append(problems, fmt.Errorf("sandbox: the value of the environment variable %s is not UTF-8 text without NUL", name))
		}
	}
	return errors.Join(problems...)
}

// isName tells whether s is the name of a shell variable.
func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// isCarrier tells whether the start script may use the name for a value on its way.
func isCarrier(s string) bool {
	digits, ok := strings.CutPrefix(s, "V")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// shellsOwn are variables that some shells export of themselves.
var shellsOwn = []string{"_", "OLDPWD", "PWD", "SHLVL"}

// startScript is the first thing to run inside. It confines itself further (see confine), says on
// stderr that the sandbox stands, and replaces itself with the program under exactly l.Env: everything
// srt added is dropped. Values
// travel in the environment under neutral names and are only named here, and the shell's own
// built-ins put them in place, so that no file and no command line ever holds one: not that of a
// process (which others on the machine can read) and not the one srt encodes into its variables.
func startScript(l Launch, nonce string) (script string, env []string) {
	var b strings.Builder
	keep := "V[0-9]*"
	if l.Proxy {
		keep += "|" + strings.Join(proxyNames, "|")
	}
	// A line of a value that looks like an export only names what is dropped anyway.
	fmt.Fprintf(&b, `set -f
IFS='
'
for line in $(export -p); do
	name=${line#export }
	name=${name%%%%=*}
	case $line in "export "*) ;; *) continue ;; esac
	case $name in %s|''|[0-9]*|*[!A-Za-z0-9_]*) ;; *) unset "$name" ;; esac
done
`, keep)
	for i, name := range slices.Sorted(maps.Keys(l.Env)) {
		carrier := fmt.Sprintf("V%d", i)
		env = append(env, carrier+"="+l.Env[name])
		fmt.Fprintf(&b, "export %s=\"$%s\"\nunset %s\n", name, carrier, carrier)
	}
	b.WriteString(l.confine(nonce))
	for _, word := range withoutShells(l) {
		b.WriteByte(' ')
		b.WriteString(Quote(word))
	}
	b.WriteByte('\n')
	return b.String(), env
}

// withoutShells is l's program, started without what a shell before it exported of itself.
func withoutShells(l Launch) []string {
	var argv []string
	// env would take a program with = in its path for an assignment.
	if !strings.Contains(l.Argv[0], "=") {
		argv = append(argv, "/usr/bin/env")
		for _, name := range shellsOwn {
			if _, ok := l.Env[name]; !ok {
				argv = append(argv, "-u", name)
			}
		}
	}
	return append(argv, l.Argv...)
}

// Quote makes s one word of a POSIX shell.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
