package result

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
)

// anything is a wildcard in a row of the outcome table.
const anything = "*"

var (
	testExecutions = []string{"completed", "timeout", "client_error", "setup_failure", "cancelled", "", "exploded"}
	testCodes      = map[string]*Code{
		"pass":            {Overall: Pass},
		"fail":            {Overall: Fail},
		"ungraded":        nil,
		"infra":           {Overall: Inconclusive, InfrastructureError: "no sandbox"},
		"infra over pass": {Overall: Pass, InfrastructureError: "no sandbox"},
		"unjudged":        {},
		"inconclusive":    {Overall: Inconclusive},
	}
	testExpectations = map[string]*Expectations{
		"none":              nil,
		"pass":              expectations(Pass, Pass, Pass),
		"fail":              expectations(Pass, Fail, Pass),
		"inconclusive":      expectations(Pass, Pass, Inconclusive),
		"fail+inconclusive": expectations(Inconclusive, Pass, Fail),
		"undecided":         {},
		"skipped":           expectations(Skipped, Pass, Pass),
		"timeout":           expectations(Pass, Pass, Timeout),
		"hook fails":        {Sync: passSync, Hooks: map[string]Verdict{"Stop": Pass, "PreToolUse": Fail}},
		"hook inconclusive": {Sync: passSync, Hooks: map[string]Verdict{"Stop": Inconclusive}},
		"skill fails":       {Sync: passSync, Skills: map[string]SkillExpectation{"a": {Used: verdict(Fail)}}},
		"skill undecided":   {Sync: passSync, Skills: map[string]SkillExpectation{"a": {NotUsed: verdict("")}}},
		"skills pass": {Sync: passSync, Skills: map[string]SkillExpectation{
			"a": {Installed: verdict(Pass), NotUsed: verdict(Pass)}, "b": {NotInstalled: verdict(Pass), Used: verdict(Pass)}}},
	}
	testExclusions = map[string]*Exclusion{
		"none": nil, "isolation": {Kind: ExcludedIsolation, Cause: "reached a home"},
		"grading": {Kind: ExcludedGrading, Cause: "an earlier grading broke"}, "unknown kind": {Kind: "weather"},
	}
	passSync     = SyncExpectation{Pass, Pass, Pass}
	symposiumArm = plan.Configuration{Name: plan.WithSymposium, Skills: plan.DeliverSymposium}
)

func expectations(empty, start, sync Verdict) *Expectations {
	return &Expectations{Sync: SyncExpectation{SkillDirEmptyBefore: empty, SessionStart: start, SyncRecorded: sync}}
}

func verdict(v Verdict) *Verdict { return &v }

// The outcome table of docs/reference/outcomes.md, the first matching row wins. A want of "" is no
// outcome; excluded says which exclusion stands afterwards.
var outcomeRows = []struct {
	execution, exclusion, code, configuration, expectations string
	want                                                    Outcome
	excluded                                                string
}{
	{"setup_failure", anything, anything, anything, anything, "", "none"},
	{"cancelled", anything, anything, anything, anything, "", "none"},
	{"", anything, anything, anything, anything, "", "as before"},
	{"exploded", anything, anything, anything, anything, "", "as before"},
	{anything, "isolation", anything, anything, anything, "", "isolation"},
	{anything, "unknown kind", anything, anything, anything, "", "unknown kind"},
	{"timeout", anything, anything, anything, anything, Failed, "none"},
	{"client_error", anything, anything, anything, anything, Failed, "none"},
	{"completed", anything, "ungraded", anything, anything, "", "grading"},
	{"completed", anything, "infra", anything, anything, "", "grading"},
	{"completed", anything, "infra over pass", anything, anything, "", "grading"},
	{"completed", anything, "unjudged", anything, anything, "", "grading"},
	{"completed", anything, "inconclusive", anything, anything, "", "grading"},
	{"completed", anything, "fail", anything, anything, Failed, "none"},
	{"completed", anything, "pass", plan.WithoutSymposium, anything, Succeeded, "none"},
	{"completed", anything, "pass", plan.StagedSkills, anything, Succeeded, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "pass", Succeeded, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "skills pass", Succeeded, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "fail", Failed, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "fail+inconclusive", Failed, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "timeout", Failed, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "hook fails", Failed, "none"},
	{"completed", anything, "pass", plan.WithSymposium, "skill fails", Failed, "none"},
	{"completed", anything, "pass", plan.WithSymposium, anything, OutcomeInconclusive, "none"},
}

func TestDecide(t *testing.T) {
	configurations, err := plan.Lookup(plan.Names()...)
	require.NoError(t, err)
	used := map[int]bool{}
	for _, execution := range testExecutions {
		for exclusion, ex := range testExclusions {
			for codeName, code := range testCodes {
				for _, conf := range configurations {
					for expName, exp := range testExpectations {
						name := fmt.Sprintf("%s/%s/%s/%s/%s", execution, exclusion, codeName, conf.Name, expName)
						row := -1
						for i, r := range outcomeRows {
							if matches(r.execution, execution) && matches(r.exclusion, exclusion) && matches(r.code, codeName) &&
								matches(r.configuration, conf.Name) && matches(r.expectations, expName) {
								row = i
								break
							}
						}
						require.GreaterOrEqual(t, row, 0, "no row for %s", name)
						used[row] = true
						tr := trialOf(conf, execution, ex, code, exp)
						tr.Decide()
						checkDecision(t, name, tr, outcomeRows[row].want, outcomeRows[row].excluded, exclusion)
						once := *tr
						tr.Decide()
						assert.Equal(t, once, *tr, "%s: deciding twice changes it", name)
					}
				}
			}
		}
	}
	assert.Len(t, used, len(outcomeRows), "a row of the table is never reached")
}

func matches(pattern, value string) bool { return pattern == anything || pattern == value }

func trialOf(conf plan.Configuration, execution string, ex *Exclusion, code *Code, exp *Expectations) *Trial {
	tr := &Trial{
		State: Finished, Mode: conf.Name, Configuration: Configuration{Name: conf.Name, Mode: conf.Name, Skills: string(conf.Skills)},
		Execution: Execution(execution), Code: code, Expectations: exp, Success: Pass, Outcome: Succeeded,
	}
	if ex != nil {
		e := *ex
		tr.Excluded = &e
	}
	return tr
}

func checkDecision(t *testing.T, name string, tr *Trial, want Outcome, excluded, before string) {
	t.Helper()
	assert.Equal(t, want, tr.Outcome, name)
	mirror := map[Outcome]Verdict{Succeeded: Pass, Failed: Fail, OutcomeInconclusive: Inconclusive, "": ""}
	assert.Equal(t, mirror[want], tr.Success, "%s: success", name)
	switch {
	case excluded == "as before" && before == "none", excluded == "none":
		assert.Nil(t, tr.Excluded, name)
	case excluded == "as before":
		assert.Equal(t, testExclusions[before], tr.Excluded, name)
	case excluded == "grading":
		if assert.NotNil(t, tr.Excluded, name) {
			assert.Equal(t, ExcludedGrading, tr.Excluded.Kind, name)
			assert.NotEmpty(t, tr.Excluded.Cause, name)
			assert.NotContains(t, tr.Excluded.Cause, "earlier", "%s: the cause is of the grading that counts", name)
		}
	default:
		assert.Equal(t, testExclusions[excluded], tr.Excluded, name)
	}
}

// A grading infrastructure error excludes the trial; a regrade that works lifts that, and one that
// breaks again sets it anew.
func TestDecideRegrade(t *testing.T) {
	tr := trialOf(plan.Configuration{Name: plan.StagedSkills, Skills: plan.DeliverStaged}, "completed", nil, testCodes["infra"], nil)
	tr.Decide()
	require.Equal(t, &Exclusion{Kind: ExcludedGrading, Cause: "no sandbox"}, tr.Excluded)
	tr.Code = testCodes["fail"]
	tr.Decide()
	assert.Nil(t, tr.Excluded)
	assert.Equal(t, Failed, tr.Outcome)
	tr.Code = &Code{InfrastructureError: "disk full"}
	tr.Decide()
	assert.Equal(t, &Exclusion{Kind: ExcludedGrading, Cause: "disk full"}, tr.Excluded)
	assert.Empty(t, tr.Outcome)
	tr.Code = testCodes["pass"]
	tr.Decide()
	assert.Nil(t, tr.Excluded)
	assert.Equal(t, Succeeded, tr.Outcome)
}

func TestDecideKnowsSymposiumByThePlansName(t *testing.T) {
	assert.Equal(t, string(plan.DeliverSymposium), skillsBySymposium)
}

func TestJudge(t *testing.T) {
	pass := func() *Code {
		return &Code{Build: Pass, CargoTestLib: Pass, Hidden: map[string]Verdict{"a": Pass, "b": Pass}}
	}
	for name, row := range map[string]struct {
		change func(*Code)
		want   Verdict
	}{
		"all pass":                    {func(*Code) {}, Pass},
		"build fails":                 {func(c *Code) { c.Build = Fail }, Fail},
		"build times out":             {func(c *Code) { c.Build = Timeout }, Fail},
		"lib tests fail":              {func(c *Code) { c.CargoTestLib = Fail }, Fail},
		"a step was skipped":          {func(c *Code) { c.CargoTestLib = Skipped }, Fail},
		"a step has no verdict":       {func(c *Code) { c.Build = "" }, Fail},
		"one hidden check fails":      {func(c *Code) { c.Hidden["b"] = Fail }, Fail},
		"one hidden check times out":  {func(c *Code) { c.Hidden["b"] = Timeout }, Fail},
		"fmt passes":                  {func(c *Code) { c.CargoFmtCheck = verdict(Pass) }, Pass},
		"fmt fails":                   {func(c *Code) { c.CargoFmtCheck = verdict(Fail) }, Fail},
		"edits outside do not count":  {func(c *Code) { c.EditsOutside = []string{"Cargo.toml"} }, Pass},
		"an invalid submission":       {func(c *Code) { c.InvalidSubmission = []string{"src/x: symlink"} }, Fail},
		"the runner broke":            {func(c *Code) { c.InfrastructureError = "no sandbox" }, Inconclusive},
		"the runner broke after fail": {func(c *Code) { c.Build, c.InfrastructureError = Fail, "no sandbox" }, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			c := pass()
			row.change(c)
			c.Judge()
			assert.Equal(t, row.want, c.Overall)
		})
	}
}
