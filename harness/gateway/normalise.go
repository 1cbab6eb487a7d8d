package gateway

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Placeholders in a cassette for what is another each time. Those of the first list are put back when it is played.
const (
	markRun     = "{{proctor:run}}"
	markDashed  = "{{proctor:run-dashed}}" // as Claude Code names folders after paths
	markBatch   = "{{proctor:batch}}"
	markGateway = "{{proctor:gateway}}"
	markToken   = "{{proctor:token}}"

	markSecret = "{{proctor:secret}}"
	markDate   = "{{proctor:date}}"
	markTime   = "{{proctor:time}}"
	markID     = "{{proctor:id}}"
)

// A normaliser takes out of a trial's traffic what is its own.
type normaliser struct {
	runDir, batchDir string // absolute; "" for none
	token, addr      string
	secrets          []string
}

func dashed(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}

// own pairs what is the trial's own with its mark, longest first.
func (n normaliser) own() [][2]string {
	all := [][2]string{{n.token, markToken}, {n.runDir, markRun}, {n.batchDir, markBatch}, {n.addr, markGateway}}
	if n.runDir != "" {
		all = append(all, [2]string{dashed(n.runDir), markDashed})
	}
	out := all[:0]
	for _, p := range all {
		if p[0] != "" {
			out = append(out, p)
		}
	}
	return out
}

// neutral takes out the trial's own paths, addresses and secrets.
func (n normaliser) neutral(s string) string {
	for _, secret := range n.secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, markSecret)
		}
	}
	for _, p := range n.own() {
		s = strings.ReplaceAll(s, p[0], p[1])
	}
	return secretShape.ReplaceAllString(s, "${1}"+markSecret)
}

// restore puts the trial's own back.
func (n normaliser) restore(s string) string {
	for _, p := range n.own() {
		s = strings.ReplaceAll(s, p[1], p[0])
	}
	return s
}

// secretShape is what keys look like, by the prefixes their issuers give them for this purpose. It reads JSON text: group 1
// is a line end's escape before a key, whose letter is no part of a word.
var secretShape = regexp.MustCompile(`(\\[bfnrt]|\b)(?:sk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{20,}|(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|` +
	`(?:AKIA|ASIA)[0-9A-Z]{16}\b|AIza[0-9A-Za-z_-]{35}\b|xox[abprs]-[0-9A-Za-z-]{10,}|glpat-[0-9A-Za-z_-]{20,}|hf_[A-Za-z0-9]{30,}|` +
	`npm_[A-Za-z0-9]{36}\b|crates?io[A-Za-z0-9]{32}\b|AGE-SECRET-KEY-1[0-9A-Z]{50,}|` +
	`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})|` +
	`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?:\\[nrt]|[A-Za-z0-9+/=:, -])*?-----END [A-Z ]*PRIVATE KEY-----|(?:\\[nrt]|[A-Za-z0-9+/=])*)`)

// volatile are forms that differ from one run to the next and mean nothing. They stand in JSON text, so a backslash may
// come before a letter.
var volatile = []struct {
	form *regexp.Regexp
	mark string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), markID},
	{regexp.MustCompile(`\b20[0-9]{2}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?(?:Z|[+-][0-2][0-9]:?[0-5][0-9])?)?`), markDate},
	{regexp.MustCompile(`\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* {1,2}[0-3]?[0-9],? (?:[0-2][0-9]:[0-5][0-9](?::[0-5][0-9])?|20[0-9]{2})`), markDate},
	{regexp.MustCompile(`\b[0-2]?[0-9]:[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?\b`), markTime},
	{regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)? ?(?:s|ms|µs|secs?|seconds?|milliseconds?)\b`), markTime}, // durations
	{regexp.MustCompile(`\bcc_version=[^ ;"\\]+`), "cc_version=" + markID},                              // Claude Code: has a hash of the text
	{regexp.MustCompile(`\bcch=[0-9a-f]+`), "cch=" + markID},
	{regexp.MustCompile(`\bChunk ID: [0-9a-f]+`), "Chunk ID: " + markID}, // Codex
	{regexp.MustCompile(`-[0-9a-f]{16}\b`), "-" + markID},                // cargo's file names
	{regexp.MustCompile(`\bses_[0-9A-Za-z]{6,}`), markID},                // OpenCode
	{regexp.MustCompile(`\bsocks-[0-9a-f]{16}`), "socks-" + markID},
	{regexp.MustCompile(`\((?:pid|PID)[ =][0-9]+\)`), "(pid " + markID + ")"},
}

// unordered are lines whose order is that of threads, run after run another: cargo test's and cargo build's. Each form is
// one line in JSON text, to its end.
var unordered = []*regexp.Regexp{
	regexp.MustCompile(`test [^\\"]{1,200} \.\.\. (?:ok|FAILED|ignored)[^\\"]{0,100}\\+n`),
	regexp.MustCompile(` {2,}(?:Compiling|Checking|Downloaded) [^\\"]{1,200}\\+n`),
}

// ordered sorts lines of one form that follow each other.
func ordered(text string) string {
	for _, line := range unordered {
		var b strings.Builder
		var run []string
		done := 0 // of text
		flush := func() {
			slices.Sort(run)
			b.WriteString(strings.Join(run, ""))
			run = run[:0]
		}
		for _, at := range line.FindAllStringIndex(text, -1) {
			if at[0] > done {
				flush()
				b.WriteString(text[done:at[0]])
			}
			run = append(run, text[at[0]:at[1]])
			done = at[1]
		}
		flush()
		text = b.String() + text[done:]
	}
	return text
}

// dropped are fields of a body, at its top, that name the session and not what is asked.
var dropped = []string{"metadata", "prompt_cache_key", "client_metadata", "safety_identifier", "user", "stream_options"}

// request is a body in the one form that is recorded and compared: keys sorted, indented, without what is volatile.
// What is no object is taken as text.
func (n normaliser) request(raw []byte) string {
	text := string(raw)
	if body := objectOf(raw); body != nil {
		for _, name := range dropped {
			delete(body, name)
		}
		text = canonical(body)
	}
	text = n.neutral(text)
	for _, v := range volatile {
		text = v.form.ReplaceAllString(text, v.mark)
	}
	return ordered(text)
}

// canonical sorts the keys at every depth. Numbers stay as they were written.
func canonical(body map[string]json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(encodeJSON(body)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(encodeJSON(body))
	}
	return string(encodeJSON(v))
}

// readable is a normalised request with a line for each field and each line of a text: what a difference is shown in.
func readable(request string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(request), "", "  ") != nil {
		return request
	}
	return strings.ReplaceAll(b.String(), `\n`, "\\n\n") + "\n"
}
