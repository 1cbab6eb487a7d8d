package gateway

import (
	"regexp"
	"strings"
)

// Limits on what one request can make the gateway remember.
const (
	maxOffers    = 256
	maxOfferPath = 4096 // bytes
)

const (
	listingHead   = "The following skills are available for use with the Skill tool:"
	reminderOpen  = "<system-reminder>"
	reminderClose = "</system-reminder>"
)

// The forms below were recorded from Claude Code 2.1.197; see testdata/README.md.
var (
	listingEntry = regexp.MustCompile(`^- ([A-Za-z0-9][A-Za-z0-9._:-]{0,127}?)(?:: |:?$)`)
	// "SessionStart:startup hook success: …", "UserPromptSubmit hook additional context: …"
	hookHead  = regexp.MustCompile(`^[A-Z][A-Za-z]{2,39}(?::[^\s:]{1,100})? hook (?:additional context|success): `)
	agentHead = regexp.MustCompile(`^Available agent types for the Agent tool:`)
	skillPath = regexp.MustCompile("(?:[^\\s\"'`<>()\\[\\]{},;|=*]*/)?skills/([A-Za-z0-9][A-Za-z0-9._-]{0,127})/SKILL\\.md\\b")
)

// offers returns the skills the client itself puts before the model, in order and once each: the entries of its skill
// listing, and the skills whose SKILL.md a hook's context names by path. Only what stands before the first tool result
// counts, so that nothing the agent reads or runs can offer a skill; in Codex, which puts what a tool's hooks add before
// the result, only what stands before the first call.
//
// prompt is the trial's prompt when known. Each client has its own form; a request is read in those its dialect and its
// tools allow. The forms are told by their place and their heads, so that a project's own instructions (CLAUDE.md,
// AGENTS.md), which clients pass on beside them, do not count.
func offers(r *Request, prompt string) []Offer {
	var set offerSet
	before := beforeFirst(r.Messages, BlockToolResult)
	switch r.Dialect {
	case DialectMessages:
		set.claude(before, prompt)
	case DialectResponses:
		before = beforeFirst(before, BlockToolCall)
		set.codex(before)
	}
	set.tagged(r, before)
	return set.list
}

// claude reads Claude Code's forms. It writes its context in one of two, which depends on the model's name: as messages
// of role system, or as text blocks of the user message that are a <system-reminder> each. In the second form a prompt
// could imitate them; so the block equal to prompt, and the last text of the message (where the client puts the prompt),
// never count. Where a system message is present, user text never counts.
func (set *offerSet) claude(before []Message, prompt string) {
	bySystem := false
	for _, m := range before {
		if m.Role != "system" {
			continue
		}
		bySystem = true
		for _, b := range m.Blocks {
			set.scanSystem(b.Text)
		}
	}
	if bySystem {
		return
	}
	for _, m := range before {
		if m.Role != "user" {
			continue
		}
		texts := textsOf(m)
		for i, t := range texts {
			if i == len(texts)-1 || strings.TrimSpace(t) == strings.TrimSpace(prompt) {
				continue
			}
			if inner, ok := reminder(t); ok {
				set.scanReminder(inner)
			}
		}
	}
}

// beforeFirst cuts the conversation at its first block of that kind.
func beforeFirst(msgs []Message, kind BlockKind) []Message {
	for i, m := range msgs {
		for j, b := range m.Blocks {
			if b.Kind == kind {
				cut := append([]Message{}, msgs[:i]...)
				return append(cut, Message{Role: m.Role, Blocks: m.Blocks[:j]})
			}
		}
	}
	return msgs
}

func textsOf(m Message) []string {
	var texts []string
	for _, b := range m.Blocks {
		if b.Kind == BlockText {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

// reminder returns the inside of a block that is one <system-reminder> and nothing else.
func reminder(text string) (string, bool) {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, reminderOpen) || !strings.HasSuffix(t, reminderClose) {
		return "", false
	}
	t = strings.TrimSuffix(strings.TrimPrefix(t, reminderOpen), reminderClose)
	if strings.Contains(t, reminderOpen) || strings.Contains(t, reminderClose) {
		return "", false
	}
	return strings.TrimSpace(t), true
}

// An offerSet collects offers, each skill once a way.
type offerSet struct {
	list []Offer
	seen map[[2]string]bool
}

// add takes o in if it is new and within the limits.
func (s *offerSet) add(o Offer) {
	key := [2]string{o.Skill, o.Via}
	if s.seen[key] || len(s.list) >= maxOffers || len(o.Path) > maxOfferPath {
		return
	}
	if s.seen == nil {
		s.seen = map[[2]string]bool{}
	}
	s.seen[key] = true
	s.list = append(s.list, o)
}

// A section is a part of the client's context, told by its head at the start of a paragraph.
type section int

const (
	otherSection section = iota
	listingSection
	hookSection
)

// sectionOf says which section a line heads; ok is false when it heads none.
func sectionOf(line string) (s section, ok bool) {
	switch {
	case line == listingHead:
		return listingSection, true
	case hookHead.MatchString(line):
		return hookSection, true
	case agentHead.MatchString(line):
		return otherSection, true
	}
	return otherSection, false
}

// scanReminder reads one reminder, which is one section: a head further down is text the client only passes on, such as
// a CLAUDE.md.
func (s *offerSet) scanReminder(text string) {
	head, _, _ := strings.Cut(text, "\n")
	in, _ := sectionOf(strings.TrimRight(head, "\r"))
	for line := range strings.Lines(text) {
		s.scanLine(in, strings.TrimRight(line, "\r\n"))
	}
}

// scanSystem reads a system message, which holds many sections. (A hook that prints a paragraph with the listing's head
// is taken for the listing: the text alone does not tell, and it is the product under test that would be lying.)
func (s *offerSet) scanSystem(text string) {
	in, paragraph := otherSection, true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if next, ok := sectionOf(line); ok && paragraph {
			in = next
		}
		paragraph = line == ""
		s.scanLine(in, line)
	}
}

func (s *offerSet) scanLine(in section, line string) {
	switch in {
	case listingSection:
		if m := listingEntry.FindStringSubmatch(line); m != nil {
			s.add(Offer{Skill: m[1], Via: ViaListing})
		}
	case hookSection:
		if !strings.Contains(line, "/SKILL.md") { // spares the expression on long hostile lines
			return
		}
		for _, m := range skillPath.FindAllStringSubmatch(line, -1) {
			s.add(Offer{Skill: m[1], Via: ViaPath, Path: m[0]})
		}
	}
}
