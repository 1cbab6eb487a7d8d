package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The file has the form that readers of JUnit rely on: counts that are those of the cases, a name, a class
// and a time for each case, at most one end for each, and no attribute or element beside.
func TestJUnitForm(t *testing.T) {
	type counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	type end struct {
		Message string `xml:"message,attr"`
	}
	var doc struct {
		XMLName xml.Name `xml:"testsuites"`
		counts
		Suites []struct {
			Name string `xml:"name,attr"`
			counts
			Cases []struct {
				Name      string   `xml:"name,attr"`
				Classname string   `xml:"classname,attr"`
				Time      *float64 `xml:"time,attr"`
				Failure   []end    `xml:"failure"`
				Error     []end    `xml:"error"`
				Skipped   []end    `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	var out bytes.Buffer
	require.NoError(t, JUnit(&out, madeCI("\x00\x1b[31m]]>\ufffe")))
	require.NoError(t, xml.Unmarshal(out.Bytes(), &doc))
	require.NotEmpty(t, doc.Suites)
	var all counts
	for _, s := range doc.Suites {
		assert.NotEmpty(t, s.Name)
		var got counts
		seen := map[string]bool{}
		for _, c := range s.Cases {
			assert.NotEmpty(t, c.Name)
			assert.NotEmpty(t, c.Classname)
			if !strings.HasPrefix(c.Name, "gate") && c.Name != "ended early" { // which took none
				require.NotNil(t, c.Time, c.Name)
				assert.GreaterOrEqual(t, *c.Time, 0.0)
			}
			assert.False(t, seen[c.Name], "%s is there twice", c.Name)
			seen[c.Name] = true
			assert.LessOrEqual(t, len(c.Failure)+len(c.Error)+len(c.Skipped), 1, c.Name)
			for _, e := range append(append(c.Failure, c.Error...), c.Skipped...) {
				assert.NotEmpty(t, e.Message, c.Name)
			}
			got.Tests++
			got.Failures += len(c.Failure)
			got.Errors += len(c.Error)
			got.Skipped += len(c.Skipped)
		}
		assert.Equal(t, got, s.counts, s.Name)
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+got.Tests, all.Failures+got.Failures, all.Errors+got.Errors, all.Skipped+got.Skipped
	}
	assert.Equal(t, all, doc.counts)

	d := xml.NewDecoder(&out)
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		assert.Contains(t, []string{"testsuites", "testsuite", "testcase", "properties", "property", "failure", "error", "skipped"}, e.Name.Local)
		for _, a := range e.Attr {
			assert.Contains(t, []string{"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "classname", "file", "line", "message", "type", "value"}, a.Name.Local)
		}
	}
}
