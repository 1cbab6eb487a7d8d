package transcript

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// What programs do with the files they are given. A program in none of these
// tables is opaque.
var (
	// readers print their files' content.
	readers = set("cat tac nl head tail less more most bat batcat sed fold fmt cut column strings expand sort uniq tee tr")
	// filters work on their input; that they open a file named in it is not to be feared.
	filters = set("awk gawk mawk jq perl diff cmp")
	// silent programs print nothing of interest and deliver no content.
	silent = set("cd pushd popd true false : test [ [[ export set unset mkdir touch chmod chown rm rmdir sleep exit return local readonly shopt umask kill wait trap")
	// listings print names, sizes or sums, never content.
	listings = set("ls ll dir tree find stat file du df wc md5sum sha1sum sha256sum sha512sum cksum realpath readlink dirname basename echo printf pwd which type whoami id date uname hostname cargo rustc rustup")
	// searches print matching lines; with these flags only names or counts.
	searches    = set("grep egrep fgrep rg ag")
	namesOnly   = set("--files-with-matches --files-without-match --count --quiet --silent --files")
	interpreter = set("sh bash dash zsh ksh /bin/sh /bin/bash /usr/bin/bash /bin/zsh")
	wrappers    = set("command builtin exec env sudo nice nohup stdbuf time timeout ionice setsid")
	opening     = set("if while until for case select { function")
	middle      = set("then else elif do ! time")
	shutting    = set("fi done esac }")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// walker goes through the tokens of a script, command by command.
type walker struct {
	*scanner
	tokens  []token
	depth   int
	nesting int      // of compound commands
	cwds    []string // of the subshells around
	afterOr bool     // this list holds a ||
	afterIf bool     // an earlier && in this list decides whether this runs
	list    int      // number of the current list
	used    bool     // it holds a command
	chained []chained
}

// chained is a read behind an &&: sure only in the list that ends the script.
type chained struct{ read, list int }

// walk splits the script into pipelines. A read is sure when its success
// follows from that of the script: it runs always, or in the && chain that
// ends the script.
func (w *walker) walk() {
	var pipeline []command
	var current command
	flushCommand := func() {
		if len(current.words) > 0 || len(current.stdin) > 0 || len(current.targets) > 0 {
			pipeline = append(pipeline, current)
		}
		current = command{}
	}
	flush := func() {
		flushCommand()
		if len(pipeline) > 0 {
			w.used = true
			w.pipeline(pipeline)
		}
		pipeline = nil
	}
	endList := func() {
		flush()
		w.afterOr, w.afterIf = false, false
		if w.used {
			w.list, w.used = w.list+1, false
		}
	}
	for i := 0; i < len(w.tokens); i++ {
		t := w.tokens[i]
		if t.op == "" {
			first := len(current.words) == 0
			word := wordText(t.parts)
			switch {
			case first && (word == "case" || word == "function" || word == "select"):
				// Patterns and definitions are beyond this reader: the rest is opaque.
				w.rest(i)
				return
			case first && word == "for":
				i = w.loop(i)
				w.nesting++
				continue
			case first && opening[word]:
				w.nesting++
				continue
			case first && shutting[word]:
				w.nesting = max(w.nesting-1, 0)
				continue
			case first && middle[word]:
				continue
			case first && assignment(t.parts):
				w.used = true
				w.assign(t.parts)
				continue
			}
			if len(current.words) >= maxScanItems {
				w.rest(i)
				return
			}
			current.words = append(current.words, w.eval(t.parts)...)
			continue
		}
		operator := strings.TrimLeft(t.op, "0123456789")
		switch operator {
		case "|", "|&":
			flushCommand()
		case "&&":
			flush()
			w.afterIf = true
		case "||":
			flush()
			w.afterOr = true
		case "(":
			if len(current.words) > 0 { // a function definition
				w.rest(i - 1)
				return
			}
			flush()
			w.cwds = append(w.cwds, w.cwd)
			w.nesting++
		case ")":
			flush()
			if n := len(w.cwds); n > 0 {
				w.cwd, w.cwds = w.cwds[n-1], w.cwds[:n-1]
			}
			w.nesting = max(w.nesting-1, 0)
		case "\n", ";", "&", ";;", ";;&":
			if afterOperator(w.tokens, i) {
				break // a line end there continues the list
			}
			endList()
		default:
			if i+1 < len(w.tokens) && w.tokens[i+1].op == "" {
				i++
				w.redirection(&current, t, w.eval(w.tokens[i].parts))
			}
		}
	}
	flush()
	last := w.list
	if !w.used {
		last--
	}
	for _, c := range w.chained {
		if c.list != last {
			w.out.Reads[c.read].Sure = false
		}
	}
}

// afterOperator reports whether token i is a line end right after &&, || or |.
func afterOperator(tokens []token, i int) bool {
	for i--; i >= 0 && tokens[i+1].op == "\n"; i-- {
		if op := tokens[i].op; op != "\n" {
			return op == "&&" || op == "||" || op == "|" || op == "|&"
		}
	}
	return false
}

// wordText is a word's literal text; "" when it is not one plain piece.
func wordText(parts []part) string {
	if len(parts) == 1 && parts[0].kind == partLit && !parts[0].quoted {
		return parts[0].lit
	}
	return ""
}

func assignment(parts []part) bool {
	if parts[0].kind != partLit || parts[0].quoted {
		return false
	}
	n := nameLength(parts[0].lit)
	return n > 0 && strings.HasPrefix(parts[0].lit[n:], "=")
}

func (w *walker) assign(parts []part) {
	name, first, _ := strings.Cut(parts[0].lit, "=")
	rest := append([]part{{lit: first}}, parts[1:]...)
	if first == "" {
		rest = rest[1:]
	}
	w.vars[name] = w.eval(rest)
}

// loop reads "for NAME in WORDS" and returns the index of the last token read.
func (w *walker) loop(i int) int {
	name := ""
	if i+1 < len(w.tokens) {
		name = wordText(w.tokens[i+1].parts)
	}
	i += 2
	var values []value
	if i < len(w.tokens) && wordText(w.tokens[i].parts) == "in" {
		for i++; i < len(w.tokens) && w.tokens[i].op == ""; i++ {
			values = append(values, w.eval(w.tokens[i].parts)...)
		}
	}
	if len(values) == 0 || len(values) > maxShellWords {
		values = []value{{raw: "$" + name, dynamic: true}}
	}
	w.vars[name] = values
	return min(i, len(w.tokens)) - 1
}

// rest makes everything from token i on opaque.
func (w *walker) rest(i int) {
	var text strings.Builder
	for _, t := range w.tokens[i:] {
		text.WriteString(t.op + t.body + " ")
		for _, p := range t.parts {
			text.WriteString(p.lit)
		}
	}
	w.opaque(text.String())
	w.out.Commands += 2 // anything may be printed
	w.cwd = ""
}

func (w *walker) redirection(c *command, t token, target []value) {
	descriptor := strings.TrimRight(t.op, "<>&|")
	null := len(target) == 1 && target[0].text == "/dev/null"
	switch operator := strings.TrimLeft(t.op, "0123456789"); operator {
	case "<<":
		c.heredoc = t.body
	case "<<<":
		c.heredoc = target[0].raw
	case "<", "<>":
		c.stdin = append(c.stdin, target...)
	case ">&", "<&":
		// 2>&1 shows errors in the output; >&2 shows the output too.
	default:
		switch {
		case operator[0] == '&':
			c.redirect, c.quiet = true, true
		case descriptor == "2":
			c.quiet = true
		case descriptor == "" || descriptor == "1":
			c.redirect = true
		}
		if !null {
			c.copied = c.copied || c.redirect
			c.targets = append(c.targets, target...)
		}
	}
}

// pipeline interprets the commands between two list operators.
func (w *walker) pipeline(commands []command) {
	delivered := true // does what a command prints reach the output?
	clear := true     // through readers only?
	whole := true     // and through none that may leave all of it out?
	handsOn := false  // does a program downstream take names from its input?
	for i := len(commands) - 1; i >= 0; i-- {
		c := &commands[i]
		c.words = unwrap(c.words)
		if c.redirect {
			delivered = false
		}
		c.partial = !whole || showsPart(c.words)
		w.simple(c, i == len(commands)-1, delivered, clear, handsOn)
		name := program(c.words)
		switch {
		case readers[name] && showsNothing(c.words):
			delivered = false
		case readers[name] && showsOther(c.words):
			clear = false
		case readers[name] && !inPlace(c.words):
			whole = !c.partial && (name != "sed" || showsLines(c.words))
		case searches[name] && !countsOnly(c.words):
			clear = false
		case listings[name] || silent[name] || searches[name]:
			delivered = false
		default:
			clear = false
			handsOn = handsOn || !searches[name] && !filters[name]
		}
	}
}

func program(words []value) string {
	if len(words) == 0 || words[0].dynamic {
		return ""
	}
	return path.Base(words[0].text)
}

// unwrap removes programs that only start another one.
func unwrap(words []value) []value {
	for len(words) > 1 && wrappers[program(words)] {
		words = words[1:]
		for len(words) > 1 && (strings.HasPrefix(words[0].text, "-") || strings.Contains(words[0].text, "=") ||
			words[0].text != "" && words[0].text[0] >= '0' && words[0].text[0] <= '9') {
			words = words[1:]
		}
	}
	return words
}

// countsOnly tells a search that prints names or counts, no content.
func countsOnly(words []value) bool {
	return slices.ContainsFunc(words, func(v value) bool {
		short := strings.HasPrefix(v.text, "-") && !strings.HasPrefix(v.text, "--")
		return namesOnly[v.text] || short && strings.ContainsAny(v.text, "lLcq")
	})
}

// showsNothing tells a head or tail of no lines or bytes.
func showsNothing(words []value) bool {
	if name := program(words); name != "head" && name != "tail" {
		return false
	}
	return slices.ContainsFunc(words[1:], func(v value) bool { return noCount.MatchString(v.text) }) ||
		slices.ContainsFunc(pairs(words), func(p string) bool { return noCount.MatchString(p) })
}

var noCount = regexp.MustCompile(`^(-[nc]?|--lines=|--bytes=)[+]?0+$`)

// showsPart tells a reader that succeeds without a word where its file is short or has nothing of the kind: from a line
// on, all but the last lines, repeated lines, lines with a delimiter.
func showsPart(words []value) bool {
	some, ok := partOf[program(words)]
	if !ok {
		return false
	}
	return slices.ContainsFunc(words[1:], func(v value) bool { return some.MatchString(v.text) }) ||
		slices.ContainsFunc(pairs(words), func(p string) bool { return some.MatchString(p) })
}

var partOf = map[string]*regexp.Regexp{
	"head": regexp.MustCompile(`^(-[nc]|--(lines|bytes)=)-`),
	"tail": regexp.MustCompile(`^(-[nc]|--(lines|bytes)=)?\+0*([2-9]|1\d)`),
	"sed":  regexp.MustCompile(`^0*([2-9]|1\d)\d*([,~+]([1-9]\d*|\$))?p;?$`),
	"cut":  regexp.MustCompile(`^(-[a-z]*s[a-z]*|--only-delimited)$`),
	"uniq": regexp.MustCompile(`^(-[a-zA-Z]*[duD][a-zA-Z]*|--(repeated|unique|all-repeated.*))$`),
}

// showsOther tells a reader that prints something else than its file: help, its version, whether the file is sorted.
func showsOther(words []value) bool {
	if len(words) == 0 {
		return false
	}
	name := program(words)
	return slices.ContainsFunc(words[1:], func(v value) bool {
		return v.text == "--help" || v.text == "--version" || strings.HasPrefix(v.text, "--list-") || name == "sort" && sortsAside.MatchString(v.text)
	})
}

var sortsAside = regexp.MustCompile(`^(-[a-zA-Z]*[cCo].*|--check.*|--output.*)$`)

// pairs are each word with the one behind it, as "-n 0" is -n0.
func pairs(words []value) []string {
	var out []string
	for i := 1; i+1 < len(words); i++ {
		out = append(out, words[i].text+words[i+1].text)
	}
	return out
}

// showsLines tells a sed whose script certainly prints lines of its file: plain line numbers to print, or
// substitutions alone.
func showsLines(words []value) bool {
	quiet, script := false, ""
	for _, v := range words[1:] {
		switch {
		case v.dynamic:
			return false
		case v.text == "-n" || v.text == "--quiet" || v.text == "--silent" || v.text == "-ne" || v.text == "-nE" || v.text == "-nr":
			quiet = true
		case strings.HasPrefix(v.text, "-"):
		case script == "":
			script = v.text
		}
	}
	return sedPrints.MatchString(script) || !quiet && strings.HasPrefix(script, "s")
}

var sedPrints = regexp.MustCompile(`^([1-9]\d*|\$)?([,~+]([1-9]\d*|\$))?p;?$`)

func inPlace(words []value) bool {
	return program(words) == "sed" && slices.ContainsFunc(words, func(v value) bool {
		return strings.HasPrefix(v.text, "-i") || strings.HasPrefix(v.text, "--in-place")
	})
}

// simple interprets one command of a pipeline; the flags say what becomes of
// its output.
func (w *walker) simple(c *command, last, delivered, clear, handsOn bool) {
	w.wordPaths(c)
	name := program(c.words)
	switch {
	case name == "cd" || name == "pushd":
		w.chdir(c.words)
		return
	case name == "popd":
		w.cwd = ""
		return
	case silent[name] || len(c.words) == 0 && len(c.stdin) == 0:
		return
	}
	if last && !c.redirect {
		w.out.Commands++
	}
	switch {
	case interpreter[name] && len(c.words) > 2 && strings.HasPrefix(c.words[1].text, "-") && strings.HasSuffix(c.words[1].text, "c") && !c.words[2].dynamic:
		w.nested(c.words[2].text, last && delivered)
	case name == "find" && slices.ContainsFunc(c.words, func(v value) bool {
		return slices.Contains([]string{"-exec", "-execdir", "-ok", "-fprint", "-delete"}, v.text)
	}):
		w.opaqueCommand(c, false)
	case readers[name] && !inPlace(c.words) && showsNothing(c.words):
	case readers[name] && showsOther(c.words), name == "sed" && !inPlace(c.words) && !showsLines(c.words):
		w.opaqueCommand(c, true)
	case readers[name] && !inPlace(c.words):
		w.read(c, delivered, clear)
	case listings[name]:
		// "find … | xargs cat": the names lead to content.
		if handsOn {
			w.opaqueCommand(c, false)
		}
	case searches[name] && countsOnly(c.words):
	default:
		w.opaqueCommand(c, true)
	}
}

// nested interprets the script of "sh -c".
func (w *walker) nested(script string, visible bool) {
	if !visible {
		w.opaque(script)
		return
	}
	cwd, from := w.cwd, len(w.out.Reads)
	w.out.Commands--
	w.script(script, w.depth+1)
	w.cwd = cwd
	if w.nesting > 0 || w.afterOr || w.afterIf {
		for i := from; i < len(w.out.Reads); i++ {
			w.out.Reads[i].Sure = false
		}
	}
}

// read records the files of a reader.
func (w *walker) read(c *command, delivered, clear bool) {
	files := append(slices.Clone(c.words[1:]), c.stdin...)
	if program(c.words) == "tee" {
		files = c.stdin // the others are written
	}
	for _, v := range files {
		if strings.HasPrefix(v.text, "-") && !v.dynamic {
			continue
		}
		p, ok := w.resolve(v)
		switch {
		case !ok || !clear && delivered:
			w.opaque(v.raw)
		case !delivered:
			// Copied or counted, not shown; a copy can be read later.
			if c.copied {
				w.opaque(v.raw)
			}
		case len(w.out.Reads) < maxScanItems:
			sure := w.nesting == 0 && !w.afterOr && !c.quiet && !c.partial
			w.out.Reads = append(w.out.Reads, ShellRead{Path: p, Glob: v.glob, Sure: sure})
			if w.afterIf {
				w.chained = append(w.chained, chained{len(w.out.Reads) - 1, w.list})
			}
		}
	}
}

// opaqueCommand reports a command nobody can interpret here. With resolved
// set, a word that names a SKILL.md is given as the absolute path it means.
func (w *walker) opaqueCommand(c *command, resolved bool) {
	var b strings.Builder
	for _, v := range append(slices.Clone(c.words), c.stdin...) {
		text := v.raw
		if v.text != "" && !v.dynamic {
			text = v.text
		}
		if p, ok := w.resolve(v); ok && resolved && !v.glob && strings.HasSuffix(v.text, "SKILL.md") {
			text = p
		}
		b.WriteString(text + " ")
	}
	w.opaqueText(OpaqueText{Text: strings.TrimSpace(b.String()), Cwd: w.cwd, Words: true})
	w.opaque(c.heredoc)
}
