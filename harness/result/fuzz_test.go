package result

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDecodeTrial: no bytes bring the reader down; what it takes, it writes and reads again the
// same; and whatever it says, deciding and counting it never panics.
func FuzzDecodeTrial(f *testing.F) {
	b, err := json.Marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema_version":1,"mode":"a","MODE":"b","gradings":[null,{"x":1}],"code":null,"expectations":{"skills":{"a":null,"\ud800":{"y":{}}}}}`))
	f.Add([]byte(`{"schema_version":1,"model":{"settings":{"n":1e999,"":[{}]}},"success":null,"x":"` + "\xff" + `","x":2}`))
	f.Add([]byte(`{"schema_version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first Trial
		if decode(data, &first, &first.strays) != nil {
			return
		}
		once, err := json.Marshal(first)
		if err != nil {
			// Only a time whose year has no four digits can be read and not written.
			require.ErrorContains(t, err, "Time.MarshalJSON")
			return
		}
		var second Trial
		require.NoError(t, decode(once, &second, &second.strays), "%s", once)
		twice, err := json.Marshal(second)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		for _, g := range second.Gradings {
			if second.CountLatest(g.ChecksHash) {
				require.Equal(t, second.Counting().Code, second.Code)
			}
		}
		second.Decide()
		if c, err := Count([]*Trial{&second}); err == nil {
			_, err := json.Marshal(c)
			require.NoError(t, err)
			_ = Compare("a", c, "b", c)
		}
	})
}

func large(c Counts) bool { return c.Eligible > 40 && !c.impossible() }

// FuzzDecodeBenchmark: as FuzzDecodeTrial, and counts that contradict themselves compare to nothing.
func FuzzDecodeBenchmark(f *testing.F) {
	b, err := json.Marshal(Benchmark{SchemaVersion: 1, Configurations: map[string]Counts{"a": counts(3, 0, 1, 1), "b": counts(0, 3, 1, 1)}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema_version":1,"configurations":{"a":{"eligible":-1,"succeeded":9223372036854775807},"b":{"eligible":3,"succeeded":4,"excluded":{"isolation":-7}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b Benchmark
		if decode(data, &b, &b.strays) != nil {
			return
		}
		_, err := json.Marshal(b)
		require.NoError(t, err)
		_ = b.Check()
		_, err = json.Marshal(Summarize([]*Benchmark{&b, &b}))
		require.NoError(t, err)
		for _, c := range b.Configurations {
			for _, d := range b.Configurations {
				if large(c) || large(d) {
					continue // slow, and no other code
				}
				_, err := json.Marshal(Compare("a", c, "b", d))
				require.NoError(t, err)
			}
		}
	})
}

// FuzzDecodeRun: as FuzzDecodeTrial.
func FuzzDecodeRun(f *testing.F) {
	b, err := json.Marshal(Run{SchemaVersion: 1, RunID: "r", Batches: []Batch{{BatchID: "b", Detectable: DetectableAt(3, 3, 0, 0.5),
		Trials: []PlannedTrial{{Name: "trial-1-without-symposium", State: Started}}}}, Summary: []Summary{{Tasks: 2, MeanDelta: ptr(0.5)}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema_version":1,"batches":[null,{"trials":[null],"detectable":[{"gain":1e308}]}],"summary":[{"seed":18446744073709551615}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first Run
		if decode(data, &first, &first.strays) != nil {
			return
		}
		once, err := json.Marshal(first)
		if err != nil {
			require.ErrorContains(t, err, "Time.MarshalJSON")
			return
		}
		var second Run
		require.NoError(t, decode(once, &second, &second.strays), "%s", once)
		twice, err := json.Marshal(second)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		for _, b := range second.Batches {
			for _, d := range b.Detectable {
				_ = d.String()
			}
		}
	})
}
