package result

// Benchmark is benchmark.json: the count over one batch.
type Benchmark struct {
	SchemaVersion  int               `json:"schema_version"`
	RunID          string            `json:"run_id"`
	BatchID        string            `json:"batch_id"`
	Task           string            `json:"task"`
	Kind           string            `json:"kind"`
	ContentHash    string            `json:"content_hash"`
	Client         string            `json:"client"`
	Model          Model             `json:"model"`
	Isolation      string            `json:"isolation"`
	Jobs           int               `json:"jobs"`
	StandIns       []string          `json:"stand_ins"`
	Configurations map[string]Counts `json:"configurations"`
	Delta          Delta             `json:"delta"`
	Comparisons    []Comparison      `json:"comparisons"`
	// Look says how many looks at this content, client and model there were, this one included: batches,
	// and regrades with changed checks. Looking until a verdict appears makes false verdicts likelier.
	Look int `json:"look"`
	// ChecksChanged is how many times this batch was regraded with changed checks; they are in Look.
	ChecksChanged int `json:"regraded_with_changed_checks,omitempty"`
	// ChecksHash identifies what the counted submissions were graded with; null when none was graded,
	// or not all with the same. NotCompared then says in words why nothing is compared, else it is "".
	ChecksHash  *string `json:"checks_hash"`
	NotCompared string  `json:"not_compared,omitempty"`

	strays strays // fields of a newer writer
}

// Counts are one configuration's numbers. They satisfy
//
//	planned  = setup_failures + cancelled + started
//	eligible = started - excluded.isolation - excluded.grading
//	         = succeeded + failed + inconclusive
type Counts struct {
	Planned       int            `json:"planned"`
	SetupFailures int            `json:"setup_failures"`
	Cancelled     int            `json:"cancelled"`
	Started       int            `json:"started"`
	Excluded      ExcludedCounts `json:"excluded"`
	Eligible      int            `json:"eligible"`
	Succeeded     int            `json:"succeeded"`
	Failed        int            `json:"failed"`
	Inconclusive  int            `json:"inconclusive"`
	// SuccessRate is succeeded/eligible, with its Wilson 95 % interval; null with no eligible trial.
	SuccessRate   *float64    `json:"success_rate"`
	SuccessRateCI *[2]float64 `json:"success_rate_ci95"`
	// CodePassRate is code_passed/code_judged, whatever the session and the expectations said.
	// CodeJudged are the eligible trials whose code was graded to a verdict.
	CodePassRate *float64 `json:"code_pass_rate"`
	CodePassed   int      `json:"code_passed"`
	CodeJudged   int      `json:"code_judged"`
	// PassAll says whether every eligible trial succeeded; null with none.
	PassAll *bool `json:"pass_all"`
	// PassAt is pass@k: the estimated chance that at least one of k trials succeeds; PassHat is pass^k,
	// that all of them do. By k, for each of PassKs; null with fewer than k eligible trials.
	PassAt  map[string]*float64 `json:"pass_at"`
	PassHat map[string]*float64 `json:"pass_hat"`
	// Causes counts setup failures, cancellations, exclusions and failed executions by cause.
	Causes Causes `json:"causes"`
	// ObservedLoad is per skill; each skill's counts add up to Eligible.
	ObservedLoad map[string]LoadCounts `json:"observed_load,omitempty"`
	// Offered is in how many eligible trials the client offered the skill to the model.
	Offered map[string]int `json:"offered,omitempty"`
	// AuditSuspicious counts started trials whose transcript names something outside the trial; see
	// isolation.audit_findings in their result.json.
	AuditSuspicious int   `json:"audit_suspicious"`
	Cost            Costs `json:"cost"`
}

// ExcludedCounts are exclusions by kind.
type ExcludedCounts struct {
	Isolation int `json:"isolation"`
	Grading   int `json:"grading"`
}

// Causes counts by cause.
type Causes struct {
	SetupFailures map[string]int `json:"setup_failures,omitempty"`
	Cancelled     map[string]int `json:"cancelled,omitempty"`
	Excluded      map[string]int `json:"excluded,omitempty"`
	Executions    map[string]int `json:"executions,omitempty"`
}

// LoadCounts counts observed loads of one skill over eligible trials.
type LoadCounts struct {
	Loaded      int `json:"loaded"`
	Attempted   int `json:"attempted"`
	NotObserved int `json:"not_observed"`
	Unknown     int `json:"unknown"`
}

// Mean is a mean over the trials that report the number; null over none. CI95 is its t-interval;
// null over fewer than two, which show no spread.
type Mean struct {
	Mean   *float64    `json:"mean"`
	Trials int         `json:"trials"`
	CI95   *[2]float64 `json:"ci95"`
}

// Cost are mean costs of a set of trials. Tokens is input + output + both cache counts.
type Cost struct {
	Tokens     Mean `json:"tokens"`
	Input      Mean `json:"input"`
	Output     Mean `json:"output"`
	CacheRead  Mean `json:"cache_read"`
	CacheWrite Mean `json:"cache_write"`
	AgentSecs  Mean `json:"agent_secs"`
}

// Costs are the costs of eligible and of succeeded trials.
type Costs struct {
	Eligible  Cost `json:"eligible"`
	Succeeded Cost `json:"succeeded"`
}

// Delta is with-symposium minus without-symposium; null where either is unknown.
type Delta struct {
	SuccessRate  *float64   `json:"success_rate"`
	CodePassRate *float64   `json:"code_pass_rate"`
	Cost         DeltaCosts `json:"cost"`
}

// DeltaCosts are differences of mean costs.
type DeltaCosts struct {
	Eligible  DeltaCost `json:"eligible"`
	Succeeded DeltaCost `json:"succeeded"`
}

// DeltaCost is a difference of mean costs.
type DeltaCost struct {
	Tokens     *float64 `json:"tokens"`
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
	AgentSecs  *float64 `json:"agent_secs"`
}

// Judgement is the answer of a comparison.
type Judgement string

// The judgements.
const (
	Helps      Judgement = "helps"
	Hurts      Judgement = "hurts"
	CannotTell Judgement = "cannot tell"
)

// Comparison sets one configuration against the baseline.
type Comparison struct {
	Treatment string   `json:"treatment"`
	Baseline  string   `json:"baseline"`
	Diff      *float64 `json:"diff"`
	// CI95 is the Newcombe method 10 interval of Diff; descriptive, the verdict does not use it.
	CI95 *[2]float64 `json:"ci95"`
	// Method names the test behind P and the bounds. A bound of more than stats.BoschlooLimit
	// trials has Fisher's p, whatever Method says.
	Method  string    `json:"method"`
	P       *float64  `json:"p"`
	FisherP *float64  `json:"fisher_p"`
	Verdict Judgement `json:"verdict"`
	// Reason says in words why the verdict is what it is.
	Reason string `json:"reason"`
	// Bounds are the ways of counting that decide: the plain one first, the ends, and the worst.
	Bounds []Bound `json:"bounds"`
	// CodePassDiff is the difference of code pass rates; Code says more of it.
	CodePassDiff *float64       `json:"code_pass_rate_diff"`
	Code         CodeComparison `json:"code"`
	Means        DeltaCosts     `json:"means"`
}

// CodeComparison compares the code alone, over the trials whose code was graded to a verdict. It tells
// a skill that does not help from one that was not delivered. It is descriptive: the verdict is the
// Comparison's.
type CodeComparison struct {
	Treatment [2]int      `json:"treatment"` // code passed, of
	Baseline  [2]int      `json:"baseline"`
	Diff      *float64    `json:"diff"`
	CI95      *[2]float64 `json:"ci95"` // Newcombe, method 10
	P         *float64    `json:"p"`    // Boschloo, or Fisher above stats.BoschlooLimit trials
}

// Bound is the comparison under one way of counting what could not be counted.
type Bound struct {
	Counting  string  `json:"counting"`  // reads on after "if"
	Treatment [2]int  `json:"treatment"` // successes, of
	Baseline  [2]int  `json:"baseline"`
	Diff      float64 `json:"diff"`
	P         float64 `json:"p"`
}
