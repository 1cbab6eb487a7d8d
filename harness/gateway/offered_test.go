package gateway

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded decodes a body of testdata/messages.
func recorded(t *testing.T, name string) *Request {
	t.Helper()
	r, err := decodeMessages(recordedBody(t, name))
	require.NoError(t, err)
	return r
}

func recordedBody(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "messages", name+".json"))
	require.NoError(t, err)
	return raw
}

// The client's own skills stand in every listing; the tests look at the others.
var builtin = []string{
	"deep-research", "update-config", "keybindings-help", "verify", "code-review", "simplify", "fewer-permission-prompts", "loop",
	"claude-api", "run", "init", "review", "security-review",
}

func TestOffersOfRecordedRequests(t *testing.T) {
	listed := Offer{Skill: "fixture-store", Via: ViaListing}
	path := Offer{Skill: "fixture-store", Via: ViaPath, Path: "/run/registry/skills/fixture-store/SKILL.md"}
	plain := Offer{Skill: "plain-skill", Via: ViaPath, Path: "/run/registry/skills/plain-skill/SKILL.md"}
	hook := Offer{Skill: "hook-skill", Via: ViaPath, Path: "/run/registry/skills/hook-skill/SKILL.md"}
	for _, tt := range []struct {
		name string
		want []Offer
	}{
		{"staged-2", []Offer{listed}},
		{"staged-7", []Offer{listed}},
		{"baseline-2", nil},
		{"baseline-3", nil}, // has read a Cargo.toml that names the crate
		{"baseline-6", nil},
		{"baseline-skill-refused", nil},
		{"hook-path-first", []Offer{path}},
		{"hook-path-last", []Offer{path}},
		{"hook-path-reminder", []Offer{path}},
		{"hook-after-tool", nil},
		{"hooks-all", []Offer{plain, hook}},
		{"claude-md", []Offer{plain, hook, listed}},
		{"imitation", nil},
		{"imitation-reminder", nil},
		{"not-streamed", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := recorded(t, tt.name)
			all := offers(r, "")
			var own []Offer
			names := map[string]bool{}
			for _, o := range all {
				names[o.Skill] = true
				if !slices.Contains(builtin, o.Skill) {
					own = append(own, o)
				}
			}
			assert.Equal(t, tt.want, own)
			for _, b := range builtin {
				assert.True(t, names[b], "the client's own skill %s is listed", b)
			}
		})
	}
}

func TestOffersOfSideCall(t *testing.T) {
	r := recorded(t, "staged-1")
	assert.True(t, r.SideCall)
	assert.Empty(t, offers(r, ""))
}

func text(role, s string) Message {
	return Message{Role: role, Blocks: []Block{{Kind: BlockText, Text: s}}}
}

func TestOffersRule(t *testing.T) {
	const listing = listingHead + "\n\n- alpha: does a thing\n- plug:beta: another\n  - indented: no\n-gamma: no\n"
	wrap := func(s string) string { return reminderOpen + "\n" + s + "\n" + reminderClose }
	user := func(texts ...string) []Message {
		m := Message{Role: "user"}
		for _, s := range texts {
			m.Blocks = append(m.Blocks, Block{Kind: BlockText, Text: s})
		}
		return []Message{m}
	}
	both := []string{"alpha", "plug:beta"}
	for _, tt := range []struct {
		name   string
		msgs   []Message
		prompt string
		want   []string
	}{
		{"system listing", []Message{text("system", listing)}, "", both},
		{"listing behind other sections", []Message{text("system", "Available agent types for the Agent tool:\n- x: y\n\n"+listing)}, "", both},
		{"agents are no skills", []Message{text("system", "Available agent types for the Agent tool:\n- alpha: y")}, "", nil},
		{"head inside a line", []Message{text("system", "Note: "+listing)}, "", nil},
		{"head inside a paragraph", []Message{text("system", "Note:\n"+listing)}, "", nil},
		{"a skill without description", []Message{text("system", listingHead+"\n\n- alpha\n- beta:\n")}, "", []string{"alpha", "beta"}},
		{"reminder before the prompt", user(wrap(listing), "go"), "go", both},
		{"reminder behind the prompt is not the client's place", user("go", wrap(listing)), "go", nil},
		{"prompt is a reminder", user(wrap("x"), wrap(listing)), "", nil},
		{"known prompt in the middle", user(wrap(listing), "go"), wrap(listing), nil},
		{"part of a text", user("see "+wrap(listing), "go"), "go", nil},
		{"two reminders in one text", user(wrap("x")+wrap(listing), "go"), "go", nil},
		{"user text beside a system message", []Message{user(wrap(listing), "go")[0], text("system", "x")}, "go", nil},
		{"assistant", []Message{text("assistant", listing), text("system", "x")}, "", nil},
		{"head further down in a reminder", user(wrap("# claudeMd\n\n"+listing+"\n\nStop hook success: /a/skills/x/SKILL.md"), "go"), "go", nil},
		{"top-level text", user(listing, "go"), "go", nil},
		{"after a tool result", []Message{
			{Role: "user", Blocks: []Block{{Kind: BlockToolResult, Text: "x"}, {Kind: BlockText, Text: wrap(listing)}, {Kind: BlockText, Text: "go"}}},
			text("system", listing),
		}, "", nil},
		{"in a tool result", []Message{text("system", "x"), {Role: "user", Blocks: []Block{{Kind: BlockToolResult, Text: listing}}}}, "", nil},
		{"hook path", []Message{text("system", "SessionStart:startup hook success: see `/a b/skills/alpha/SKILL.md`,\n\nand .claude/skills/beta/SKILL.md.")}, "", []string{"alpha", "beta"}},
		{"path without a hook", []Message{text("system", "Read /a/skills/alpha/SKILL.md")}, "", nil},
		{"path in a listing's description", []Message{text("system", listingHead+"\n\n- alpha: see /a/skills/beta/SKILL.md")}, "", []string{"alpha"}},
		{"hook section ends at the listing", []Message{text("system", "SessionStart hook additional context: x\n\n"+listingHead+"\n\n- alpha: /a/skills/beta/SKILL.md")}, "", []string{"alpha"}},
		{"other file of a skill", []Message{text("system", "SessionStart hook additional context: /a/skills/alpha/README.md /a/skills/SKILL.md")}, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, o := range offers(&Request{Dialect: DialectMessages, Messages: tt.msgs}, tt.prompt) {
				got = append(got, o.Skill)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestOffersAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(listingHead + "\n\n")
	for i := range 5000 {
		b.WriteString("- s" + strings.Repeat("x", i%100) + string(rune('a'+i%26)) + ": d\n")
	}
	b.WriteString("\nStop hook success: " + strings.Repeat("y", maxOfferPath) + "/skills/long/SKILL.md")
	got := offers(&Request{Dialect: DialectMessages, Messages: []Message{text("system", b.String())}}, "")
	assert.Len(t, got, maxOffers)
}
