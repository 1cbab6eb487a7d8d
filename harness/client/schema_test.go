package client

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// schema compiles the published schema. closed forbids fields it does not
// name, so that no field can be forgotten there.
func schema(t testing.TB, closed bool) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(transcript.Schema))
	require.NoError(t, err)
	if closed {
		closeObjects(doc)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("transcript.json", doc))
	s, err := c.Compile("transcript.json")
	require.NoError(t, err)
	return s
}

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok {
			v["additionalProperties"] = false
		}
		for _, sub := range v {
			closeObjects(sub)
		}
	case []any:
		for _, sub := range v {
			closeObjects(sub)
		}
	}
}

func instance(t testing.TB, v any) any {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	got, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return got
}

// TestSchema checks the form of every capture against the published schema.
func TestSchema(t *testing.T) {
	open, closed := schema(t, false), schema(t, true)
	checked := 0
	for _, d := range Decoders() {
		for _, capture := range captured(t, d.Name()) {
			doc := instance(t, decodeCapture(t, d, capture).Document("alpha-skill"))
			assert.NoError(t, open.Validate(doc), capture)
			assert.NoError(t, closed.Validate(doc), capture)
			checked++
		}
	}
	assert.GreaterOrEqual(t, checked, 98)

	// What the limits leave, and what the schema refuses.
	cut := decode(t, stream(initLine, `{"type":"x"}`, bash("1", "a"), "garbage"))
	assert.NoError(t, closed.Validate(instance(t, cut.Document())))
	for name, spoil := range map[string]func(map[string]any){
		"another version":     func(d map[string]any) { d["schema_version"] = 2 },
		"a missing field":     func(d map[string]any) { delete(d, "turns") },
		"an unknown status":   func(d map[string]any) { turn(d)["tool_calls"].([]any)[0].(map[string]any)["status"] = "fine" },
		"tokens below 0":      func(d map[string]any) { d["usage"].(map[string]any)["input_tokens"] = -1 },
		"an odd observation":  func(d map[string]any) { d["skills"].(map[string]any)["x"] = "maybe" },
		"a time that is none": func(d map[string]any) { turn(d)["time"] = "yesterday" },
	} {
		d := instance(t, decodeCapture(t, Claude{}, "success").Document()).(map[string]any)
		require.NoError(t, open.Validate(d))
		spoil(d)
		assert.Error(t, open.Validate(d), name)
	}
	// A newer writer's fields are no error.
	d := instance(t, cut.Document()).(map[string]any)
	d["brand_new"] = true
	assert.NoError(t, open.Validate(d))
	assert.Error(t, closed.Validate(d))
}

func turn(d map[string]any) map[string]any { return d["turns"].([]any)[0].(map[string]any) }
