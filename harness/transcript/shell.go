package transcript

import (
	"path"
	"slices"
	"strings"
)

// ShellScan is what one shell command does with files, as far as its text
// tells without running it.
type ShellScan struct {
	// Reads are files that a reader (cat, head, tail, sed, less, …) prints to
	// the command's output, also through pipes of such programs.
	Reads []ShellRead
	// Opaque is the text of the parts nobody can interpret here: other
	// programs with their arguments, substitutions, scripts for interpreters.
	Opaque []OpaqueText
	// Paths are the words that name a path outside an argument known to be
	// text, absolute and clean where the working directory is known.
	Paths []string
	// Commands counts the simple commands that may print something.
	Commands int
	// Cwd is the working directory after a successful run; "" when it cannot be known.
	Cwd string
}

// ShellRead is one file given to a reader.
type ShellRead struct {
	Path string // absolute and clean; may hold * ? [ ] { } when Glob
	Glob bool
	// Sure means that a successful command without an error message really
	// ran this reader and showed its errors.
	Sure bool
}

// OpaqueText is a part of a command that was not interpreted.
type OpaqueText struct {
	Text string
	Cwd  string // "" when unknown
	// Words means that Text is the words of a command, whose paths stand in
	// Paths already.
	Words bool
}

const (
	maxShellBytes = 256 << 10 // of a command that is interpreted at all
	maxShellWords = 64        // a loop variable expands to
	maxShellDepth = 4         // of sh -c inside sh -c
	maxScanItems  = 2000
	maxWordBytes  = 8 << 10 // of an evaluated word; "a=$a$a" again and again doubles it
	maxGlobReads  = 50
)

// ScanShell interprets a command started in the absolute folder cwd ("" when
// unknown) by a user whose home is home ("~" when unknown).
func ScanShell(command, cwd, home string) ShellScan {
	s := &scanner{home: home, cwd: cwd, vars: map[string][]value{}}
	s.script(command, 0)
	s.out.Cwd = s.cwd
	return s.out
}

// value is an evaluated word.
type value struct {
	text    string
	raw     string // as written, for Opaque
	dynamic bool   // holds something only a run can tell
	glob    bool
	tilde   bool // starts with an unquoted ~
}

type scanner struct {
	home, cwd, oldCwd string
	vars              map[string][]value
	out               ShellScan
}

// command is a simple command of a pipeline.
type command struct {
	words    []value
	stdin    []value
	heredoc  string
	quiet    bool // its standard error is hidden
	redirect bool // its standard output goes to a file
	copied   bool // … which keeps it
	targets  []value
	partial  bool // what it prints may leave all of its file out
}

// script interprets a whole script; depth counts nested shells.
func (s *scanner) script(src string, depth int) {
	if len(src) > maxShellBytes || depth > maxShellDepth {
		s.opaque(src)
		return
	}
	w := &walker{scanner: s, tokens: lexShell(src), depth: depth}
	w.walk()
}

func (s *scanner) opaque(text string) {
	s.opaqueText(OpaqueText{Text: text, Cwd: s.cwd})
}

func (s *scanner) opaqueText(o OpaqueText) {
	if o.Text != "" && len(s.out.Opaque) < maxScanItems {
		s.out.Opaque = append(s.out.Opaque, o)
	}
}

func (s *scanner) path(p string) {
	if len(s.out.Paths) < maxScanItems && !slices.Contains(s.out.Paths, p) {
		s.out.Paths = append(s.out.Paths, p)
	}
}

// eval evaluates a word to one or, through a loop variable, several values.
// Substitutions inside are reported as opaque text.
func (s *scanner) eval(parts []part) []value {
	values := []value{{}}
	for i, p := range parts {
		var piece []value
		switch p.kind {
		case partVar:
			piece = s.variable(p.lit)
		case partSub:
			s.opaque(p.lit)
			piece = []value{{dynamic: true, raw: "$(" + p.lit + ")"}}
		default:
			piece = []value{{
				text: p.lit, raw: p.lit,
				glob:  !p.quoted && strings.ContainsAny(p.lit, "*?[{"),
				tilde: !p.quoted && i == 0 && strings.HasPrefix(p.lit, "~"),
			}}
		}
		next := make([]value, 0, len(values)*len(piece))
		for _, a := range values {
			for _, b := range piece {
				if len(next) == maxShellWords {
					next[len(next)-1].dynamic = true
					break
				}
				if len(a.raw)+len(b.raw)+len(a.text)+len(b.text) > 2*maxWordBytes {
					// Too long for a path: keep what there is, and say that it is not all.
					a.dynamic = true
					next = append(next, a)
					continue
				}
				next = append(next, value{
					text: a.text + b.text, raw: a.raw + b.raw,
					dynamic: a.dynamic || b.dynamic, glob: a.glob || b.glob, tilde: a.tilde || i == 0 && b.tilde,
				})
			}
		}
		values = next
	}
	return values
}

func (s *scanner) variable(name string) []value {
	if v, ok := s.vars[name]; ok {
		return v
	}
	switch name {
	case "HOME":
		return []value{{text: s.home, raw: "$HOME", dynamic: s.home == ""}}
	case "PWD":
		return []value{{text: s.cwd, raw: "$PWD", dynamic: s.cwd == ""}}
	}
	return []value{{raw: "$" + name, dynamic: true}}
}

// resolve makes a word absolute and clean; ok is false when only a run can tell.
func (s *scanner) resolve(v value) (string, bool) {
	text := v.text
	if v.tilde {
		if text != "~" && !strings.HasPrefix(text, "~/") {
			return text, true // another user's home: as it stands
		}
		text = s.home + text[1:]
	}
	switch {
	case v.dynamic || text == "":
		return "", false
	case path.IsAbs(text) || strings.HasPrefix(text, "~"):
		return path.Clean(text), true
	case s.cwd == "":
		return "", false
	}
	return path.Join(s.cwd, text), true
}

// chdir follows a cd.
func (s *scanner) chdir(words []value) {
	target := value{text: s.home}
	for _, w := range words[1:] {
		if w.text != "-P" && w.text != "-L" && w.text != "--" {
			target = w
			break
		}
	}
	previous := s.cwd
	if target.text == "-" {
		s.cwd, s.oldCwd = s.oldCwd, previous
		return
	}
	resolved, ok := s.resolve(target)
	if !ok || target.glob {
		resolved = ""
	}
	s.cwd, s.oldCwd = resolved, previous
}
