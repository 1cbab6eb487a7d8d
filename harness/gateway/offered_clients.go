package gateway

import (
	"html"
	"path"
	"regexp"
	"strings"
)

// The skill listings of Codex, OpenCode and Copilot CLI. The forms were recorded from the real clients; see
// testdata/README.md.

const (
	codexOpen   = "<skills_instructions>"
	codexClose  = "</skills_instructions>"
	codexRoots  = "### Skill roots"
	codexSkills = "### Available skills"

	tagsOpen  = "<available_skills>"
	tagsClose = "</available_skills>"
	// OpenCode puts its listing last, behind the project's instructions; Copilot CLI in the part of its skill tool, before
	// them.
	openCodeHead   = "Use the skill tool to load a skill when a task matches its description.\n" + tagsOpen + "\n"
	copilotHead    = "\n<skill>\n" + tagsOpen + "\n"
	copilotProject = "\n<custom_instruction>\n"
)

var (
	codexRoot  = regexp.MustCompile("^- `(r[0-9]{1,4})` = `([^`]+)`$")
	codexEntry = regexp.MustCompile(`^- ([A-Za-z0-9][A-Za-z0-9._:-]{0,127}?)(?:: .*)? \(file: (.+)\)$`)
	tagEntry   = regexp.MustCompile(`(?s)<skill>\s*<name>([^<]{1,200})</name>(.*?)</skill>`)
	tagPlace   = regexp.MustCompile(`<location>([^<]+)</location>`)
	plainName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)
)

// codex reads Codex's forms. Its listing is a developer text that is one <skills_instructions>, with a table of roots and
// an entry a skill. What a hook adds comes without a head, as a developer text behind the first message of the user,
// which the client opens with the project's instructions and the environment; the client's own developer texts stand
// before that. Whatever a person or a project says comes as the user's.
func (s *offerSet) codex(before []Message) {
	behindUser := false
	for _, m := range before {
		if m.Role == "user" {
			behindUser = true
		}
		if m.Role != "system" {
			continue
		}
		for _, t := range textsOf(m) {
			inner, ok := strings.CutPrefix(strings.TrimSpace(t), codexOpen)
			switch {
			case ok && strings.HasSuffix(inner, codexClose):
				s.codexListing(strings.TrimSuffix(inner, codexClose))
			case behindUser:
				for line := range strings.Lines(t) {
					s.scanLine(hookSection, strings.TrimRight(line, "\r\n"))
				}
			}
		}
	}
}

func (s *offerSet) codexListing(text string) {
	roots := map[string]string{}
	in := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "### ") {
			in = line
		}
		switch in {
		case codexRoots:
			if m := codexRoot.FindStringSubmatch(line); m != nil && len(roots) < maxOffers {
				roots[m[1]] = m[2]
			}
		case codexSkills:
			if m := codexEntry.FindStringSubmatch(line); m != nil {
				s.add(Offer{Skill: m[1], Via: ViaListing, Path: rooted(roots, m[2])})
			}
		}
	}
}

// rooted resolves r1/name/SKILL.md by the table of roots.
func rooted(roots map[string]string, file string) string {
	root, rest, ok := strings.Cut(file, "/")
	if dir := roots[root]; ok && dir != "" {
		return path.Join(dir, rest)
	}
	return file
}

// tagged reads the <available_skills> of OpenCode and Copilot CLI, whatever the dialect: it stands in their one system
// text. It is nothing to a client without a tool called skill.
func (s *offerSet) tagged(r *Request, before []Message) {
	tool, ok := r.tool("skill")
	if !ok {
		return
	}
	openCode := tool.takes("name") // Copilot CLI's takes "skill"
	texts := r.System
	for _, m := range before {
		if m.Role == "system" {
			texts = append(texts[:len(texts):len(texts)], textsOf(m)...)
		}
	}
	for _, t := range texts {
		listing, ok := ownListing(t, openCode)
		if !ok {
			continue
		}
		for _, m := range tagEntry.FindAllStringSubmatch(listing, maxOffers) {
			name := strings.TrimSpace(html.UnescapeString(m[1]))
			if !plainName.MatchString(name) {
				continue
			}
			o := Offer{Skill: name, Via: ViaListing}
			if p := tagPlace.FindStringSubmatch(m[2]); p != nil && strings.HasSuffix(p[1], "/SKILL.md") {
				o.Path = html.UnescapeString(p[1])
			}
			s.add(o)
		}
		return
	}
}

// ownListing returns the inside of the client's own listing in a system text.
func ownListing(text string, openCode bool) (string, bool) {
	i, rest := -1, ""
	if openCode {
		if i = strings.LastIndex(text, openCodeHead); i >= 0 {
			rest = text[i+len(openCodeHead):]
		}
	} else {
		own, _, _ := strings.Cut(text, copilotProject)
		if i = strings.Index(own, copilotHead); i >= 0 {
			rest = own[i+len(copilotHead):]
		}
	}
	listing, _, ok := strings.Cut(rest, tagsClose)
	return listing, ok && i >= 0
}
