package report

import (
	"encoding/xml"
	"fmt"
	"io"
)

type junitRoot struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	File       string           `xml:"file,attr,omitempty"`
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	Properties []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name       string           `xml:"name,attr"`
	Class      string           `xml:"classname,attr"`
	Time       string           `xml:"time,attr,omitempty"` // seconds
	Properties *junitProperties `xml:"properties"`
	Failure    *junitMessage    `xml:"failure"`
	Error      *junitMessage    `xml:"error"`
	Skipped    *junitMessage    `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the run as JUnit XML: a testsuite for each group, a testcase for each trial and one,
// "gate", "gate 2" and so on, for each thing that fails the run and is no single trial's. All text goes through Clean, so that
// no character that XML forbids is left.
func JUnit(w io.Writer, ci CI) error {
	root := junitRoot{Name: "proctor " + Clean(ci.RunID)}
	for _, g := range ci.Groups {
		class := Clean(g.Name + "." + g.Client)
		s := junitSuite{Name: class, File: Clean(g.File), Properties: junitPairs(properties("client", g.Client, "model", g.Model, "result", g.Dir))}
		for _, c := range g.Cases {
			s.add(CICase{Name: c.Name, Seconds: c.Seconds, State: c.State, Message: c.Message, Properties: c.Properties}, class)
		}
		if g.Benchmark != nil { // a suite's gates are its cases
			for i, gate := range g.Gates {
				state, name := CIFailure, "gate"
				if i > 0 { // readers take two cases of one name for one
					name = fmt.Sprintf("gate %d", i+1)
				}
				if gate.Infrastructure {
					state = CIError
				}
				s.add(CICase{Name: name, State: state, Message: gate.Text}, class)
			}
		}
		root.Tests, root.Failures, root.Errors, root.Skipped = root.Tests+s.Tests, root.Failures+s.Failures, root.Errors+s.Errors, root.Skipped+s.Skipped
		root.Suites = append(root.Suites, s)
	}
	if ci.Cause != "" {
		s := junitSuite{Name: "run"}
		s.add(CICase{Name: "ended early", State: CIError, Message: ci.Cause}, "run")
		root.Tests, root.Errors = root.Tests+1, root.Errors+1
		root.Suites = append(root.Suites, s)
	}
	text, err := xml.MarshalIndent(root, "", "  ")
	if err != nil {
		return fmt.Errorf("report: junit: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

func (s *junitSuite) add(c CICase, class string) {
	out := junitCase{Name: Clean(c.Name), Class: class, Properties: junitPairs(c.Properties)}
	if c.Seconds != nil {
		out.Time = fmt.Sprintf("%.3f", *c.Seconds)
	}
	message := &junitMessage{Message: Clean(c.Message)}
	s.Tests++
	switch c.State {
	case CIFailure:
		out.Failure = message
		s.Failures++
	case CIError:
		out.Error = message
		s.Errors++
	case CISkipped:
		out.Skipped = message
		s.Skipped++
	}
	s.Cases = append(s.Cases, out)
}

func junitPairs(pairs [][2]string) *junitProperties {
	if len(pairs) == 0 {
		return nil
	}
	out := &junitProperties{}
	for _, p := range pairs {
		out.Properties = append(out.Properties, junitProperty{Name: p[0], Value: Clean(p[1])})
	}
	return out
}
