package transcript

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// calls builds a transcript with one turn a call, "NAME" or "NAME!" for one
// without a result.
func calls(names ...string) *Builder {
	b := NewBuilder("x")
	for i, name := range names {
		open := name[len(name)-1] == '!'
		if open {
			name = name[:len(name)-1]
		}
		turn := b.Turn(Turn{Role: RoleAssistant, Text: name})
		b.Call(turn, fmt.Sprint(i), name, json.RawMessage(`{}`))
		if !open {
			b.Result(fmt.Sprint(i), "out "+name, StatusOK)
		}
	}
	return b
}

func TestMerge(t *testing.T) {
	byName := func(a, b *ToolCall) bool { return a.Name == b.Name }
	for _, c := range []struct {
		name        string
		here, there []string
		want        []string
	}{
		{"nothing new", []string{"a", "b"}, []string{"a", "b"}, []string{"a ok ", "b ok "}},
		{"missing at the start", []string{"b"}, []string{"a", "b"}, []string{"a ok session", "b ok "}},
		{"missing in the middle", []string{"a", "c"}, []string{"a", "b", "c"}, []string{"a ok ", "b ok session", "c ok "}},
		{"missing at the end", []string{"a"}, []string{"a", "b", "c"}, []string{"a ok ", "b ok session", "c ok session"}},
		{"another order", []string{"b", "a"}, []string{"a", "b"}, []string{"b ok ", "a ok "}},
		{"the same twice", []string{"a", "a"}, []string{"a", "a", "a"}, []string{"a ok ", "a ok ", "a ok session"}},
		{"completed", []string{"a!"}, []string{"a"}, []string{"a ok session"}},
		{"not undone", []string{"a"}, []string{"a!"}, []string{"a ok "}},
		{"nothing here", nil, []string{"a"}, []string{"a ok session"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := calls(c.here...)
			ids := b.Merge(calls(c.there...).T, byName)
			var got []string
			for _, turn := range b.T.Turns {
				for _, call := range turn.ToolCalls {
					got = append(got, fmt.Sprintf("%s %s %s", call.Name, call.Status, call.Source))
				}
			}
			assert.Equal(t, c.want, got)
			assert.Len(t, ids, len(c.there)+1)
		})
	}
}

// A person's turn is taken once, and what no longer fits is counted.
func TestMergeLimits(t *testing.T) {
	b, s := calls("a"), NewBuilder("x")
	b.Turn(Turn{Role: RoleUser, Text: "go"})
	s.Turn(Turn{Role: RoleUser, Text: "go"})
	s.Turn(Turn{Role: RoleUser, Text: "more"})
	b.Merge(s.T, func(a, b *ToolCall) bool { return false })
	require.Len(t, b.T.Turns, 3)
	assert.Equal(t, "more", b.T.Turns[0].Text)
	assert.Equal(t, SourceSession, b.T.Turns[0].Source)

	b = calls("a")
	b.left = 0
	b.Merge(calls("a", "b", "c").T, func(a, b *ToolCall) bool { return a.Name == b.Name })
	assert.Len(t, b.T.Turns, 1)
	assert.EqualValues(t, 2, b.T.Dropped.ToolCalls)
}

func TestShellScript(t *testing.T) {
	for line, want := range map[string]string{
		`/bin/bash -lc 'echo a'`:      "echo a",
		`bash -c "echo \"a\" $"`:      `echo "a" $`,
		`/bin/zsh -lc 'echo '\''a'\'`: "echo 'a'",
		`sh -c 'a | b > c'`:           "a | b > c",
		`bash -lc ls`:                 "ls",
		`bash script.sh x`:            "",
		`bash -c 'a' 'b'`:             "",
		`bash -c 'a' && b`:            "",
		`python3 -c 'print()'`:        "",
		`bash -c "$X"`:                "",
		`bash -c`:                     "",
		``:                            "",
	} {
		got, ok := ShellScript(line)
		assert.Equal(t, want, got, line)
		assert.Equal(t, want != "", ok, line)
	}
}

func TestDocument(t *testing.T) {
	b := NewBuilder("x")
	b.T.Lines, b.T.Understood, b.T.Started, b.T.Completed = 1, 1, true, true
	b.Listed([]string{"listed", "used"})
	b.Load(SkillLoad{Skill: "used", State: LoadLoaded})
	b.Load(SkillLoad{Skill: "tried", State: LoadAttempted})
	assert.Equal(t, map[string]Load{"listed": NotObserved, "used": Loaded, "tried": Attempted, "asked": NotObserved}, b.T.Document("asked").Skills)
	// A call that may have loaded any skill leaves all but the loaded one open.
	b.Load(SkillLoad{State: LoadUnclear})
	d := b.T.Document("asked")
	assert.Equal(t, map[string]Load{"listed": Unknown, "used": Loaded, "tried": Unknown, "asked": Unknown}, d.Skills)
	for skill, load := range d.Skills {
		assert.Equal(t, load, b.T.LoadOf(skill))
	}
	assert.True(t, d.Interpretable)
	b.T.Completed = false
	assert.Equal(t, "no completion marker", b.T.Document().Why)
}
