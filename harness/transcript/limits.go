package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The limits that bound the memory of a decoded session. The raw stream on
// disk keeps what they cut.
const (
	MaxLineBytes   = 64 << 20  // a longer line is counted as unparsed and skipped
	MaxTextBytes   = 256 << 10 // of one text, reasoning or tool output
	MaxInputBytes  = 256 << 10 // of one tool call's arguments
	MaxTotalBytes  = 64 << 20  // of everything kept of one session
	MaxOpenCalls   = 20_000    // tool calls waiting for their result
	MaxLoads       = 10_000    // skill load events
	MaxListed      = 2_000     // skills in a listing
	MaxRetries     = 50
	MaxDenials     = 500
	MaxSamples     = 5
	MaxSampleBytes = 200
	maxNameBytes   = 512 // ids, names, models, paths of the session
	maxKinds       = 64  // names in Ignored and models in UsageByModel
	turnOverhead   = 256 // bytes a turn or call costs beside its text
	inputStringCut = 4 << 10
)

// clip returns s as valid UTF-8 and at most max bytes long, never cutting a
// character in two.
func clip(s string, max int) string {
	if len(s) > max {
		cut := max
		for cut > 0 && cut > max-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	// Clone, so that a short piece does not keep a whole line alive.
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

// Name returns s fit for an id or a name: valid UTF-8 of at most 512 bytes.
func Name(s string) string { return clip(s, maxNameBytes) }

// cutInput returns input compact and within [MaxInputBytes]: whole, with its
// long strings cut (cut is true), or nil when even that is too large.
func cutInput(input json.RawMessage) (out json.RawMessage, cut bool) {
	if len(input) == 0 {
		return nil, false
	}
	var compact bytes.Buffer
	if json.Compact(&compact, input) != nil {
		return nil, true
	}
	if compact.Len() <= MaxInputBytes {
		return json.RawMessage(strings.ToValidUTF8(compact.String(), "\uFFFD")), false
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return nil, true
	}
	short, err := json.Marshal(cutStrings(value))
	if err != nil || len(short) > MaxInputBytes {
		return nil, true
	}
	return short, true
}

// cutStrings cuts every string inside a decoded JSON value.
func cutStrings(value any) any {
	switch v := value.(type) {
	case string:
		return clip(v, inputStringCut)
	case []any:
		for i := range v {
			v[i] = cutStrings(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = cutStrings(v[k])
		}
	}
	return value
}
