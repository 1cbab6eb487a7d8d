package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
)

// watched feeds a stream byte by byte, as slow as one can be, and returns what had been fed when the
// watch spoke, or "".
func watched(t *testing.T, name string, stream []byte) string {
	t.Helper()
	decoder, err := client.LookupDecoder(name)
	require.NoError(t, err)
	at, spoken := 0, 0
	w := &skillWatch{decoder: decoder, invoked: func() { spoken++ }}
	for i := range stream {
		n, err := w.Write(stream[i : i+1])
		require.NoError(t, err)
		require.Equal(t, 1, n)
		if spoken > 0 && at == 0 {
			at = i + 1
		}
	}
	assert.LessOrEqual(t, spoken, 1)
	return string(stream[:at])
}

// TestSkillWatch: on real streams of every client, the watch speaks at the line in which the client
// first calls for a skill, and not before: a listing of skills is no invocation.
func TestSkillWatch(t *testing.T) {
	files, err := filepath.Glob("../testdata/transcripts/*/*.stdout.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	spoken := map[string]int{}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		stream, err := os.ReadFile(file)
		require.NoError(t, err)
		if len(stream) > 200_000 {
			continue
		}
		decoder, err := client.LookupDecoder(name)
		require.NoError(t, err)
		whole, err := decoder.Decode(client.Recording{Stream: bytes.NewReader(stream)})
		require.NoError(t, err)
		t.Run(name+"/"+filepath.Base(file), func(t *testing.T) {
			seen := watched(t, name, stream)
			first := firstInvocation(whole)
			if first == nil {
				assert.Empty(t, seen)
				return
			}
			require.NotEmpty(t, seen, "the session invokes %s", first.Skill)
			spoken[name]++
			part, err := decoder.Decode(client.Recording{Stream: strings.NewReader(seen)})
			require.NoError(t, err)
			require.NotNil(t, firstInvocation(part))
			assert.Equal(t, first.Skill, firstInvocation(part).Skill)
			before := seen[:strings.LastIndexByte(strings.TrimSuffix(seen, "\n"), '\n')+1]
			part, err = decoder.Decode(client.Recording{Stream: strings.NewReader(before)})
			require.NoError(t, err)
			assert.Nil(t, firstInvocation(part), "it was known a line earlier")
		})
	}
	for _, name := range client.Names() {
		assert.Positive(t, spoken[name], "%s: no stream with a skill", name)
	}
}

// A stream without an end of line, or without end, is not kept for ever.
func TestSkillWatchIsBounded(t *testing.T) {
	decoder, err := client.LookupDecoder("claude")
	require.NoError(t, err)
	w := &skillWatch{decoder: decoder, invoked: func() { t.Error("nothing was invoked") }}
	chunk := []byte(strings.Repeat("skill ", 1<<16))
	for range 3 * maxWatched / len(chunk) {
		n, err := w.Write(chunk)
		require.NoError(t, err)
		require.Equal(t, len(chunk), n)
	}
	assert.Empty(t, w.seen)
}
