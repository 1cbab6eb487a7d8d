package report

// The data the page shows on demand. Lists of pairs stand where a map would, so that no name that a trial
// chose becomes a key in the page's script.

// pageRow is one trial in the page's list.
type pageRow struct {
	Batch         int      `json:"batch"` // index of its batch
	Task          string   `json:"task"`
	Client        string   `json:"client"`
	Name          string   `json:"name"`
	Configuration string   `json:"configuration"`
	Round         int      `json:"round"`
	Place         place    `json:"place"`
	Label         string   `json:"label"`
	Cause         string   `json:"cause"`
	Tokens        *int64   `json:"tokens"`
	Secs          *float64 `json:"secs"`
}

// place is where a trial counts, as the page marks it.
type place string

const (
	placeSucceeded place = "succeeded"
	placeFailed    place = "failed"
	placeUnsure    place = "inconclusive"
	placeExcluded  place = "excluded"
	placeNotRun    place = "not-run" // setup failures, cancelled trials, and those still to come
	placeBroken    place = "broken"  // the record cannot be read
)

// pageTrial is the evidence of one trial.
type pageTrial struct {
	Name     string       `json:"name"`
	Folder   string       `json:"folder"`
	Place    place        `json:"place"`
	Label    string       `json:"label"`
	Why      string       `json:"why"`
	Problems []string     `json:"problems"` // what of the record could not be read
	Facts    [][2]string  `json:"facts"`
	Checks   []pageCheck  `json:"checks"`
	Code     []string     `json:"code"` // what else the grading says
	Outputs  []pageText   `json:"outputs"`
	Expected []pageCheck  `json:"expected"`
	Findings [][2]string  `json:"findings"`
	Session  *pageSession `json:"session"`
	Changes  pageChanges  `json:"changes"`
	Policy   string       `json:"policy"`
	Machine  [][2]string  `json:"machine"`
	Stages   []pageStage  `json:"stages"`
}

type pageCheck struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// pageText is a text with a title; Cut is how many bytes of it are not on the page.
type pageText struct {
	Title string `json:"title"`
	Text  string `json:"text"`
	Cut   int    `json:"cut"`
}

type pageStage struct {
	Name string   `json:"name"`
	Secs *float64 `json:"secs"` // null for a stage that did not run
	Most int      `json:"most"` // its deadline in seconds; 0 where the record does not say
}

type pageSession struct {
	Problem string      `json:"problem"` // why there is no transcript; "" when there is
	Facts   [][2]string `json:"facts"`
	Turns   []pageTurn  `json:"turns"`
	Omitted int         `json:"omitted"` // turns not on the page
}

type pageTurn struct {
	Who       string     `json:"who"`
	Time      string     `json:"time"`
	Text      pageText   `json:"text"`
	Reasoning pageText   `json:"reasoning"`
	Calls     []pageCall `json:"calls"`
	Inner     bool       `json:"inner"`  // of a subagent
	Folded    bool       `json:"folded"` // put there by the client: shown when asked for
}

type pageCall struct {
	Name   string   `json:"name"`
	Brief  string   `json:"brief"` // the start of the input, for the folded line
	Status string   `json:"status"`
	Input  pageText `json:"input"`
	Output pageText `json:"output"`
}

type pageChanges struct {
	Notes []string   `json:"notes"`
	Files []pageFile `json:"files"`
}

// pageFile is one file that differs from the starter.
type pageFile struct {
	Path   string   `json:"path"`
	Status string   `json:"status"` // added, changed, deleted
	Note   string   `json:"note"`
	Diff   pageText `json:"diff"`
}

// budget bounds what one trial puts on the page, in bytes.
type budget struct{ left int }

// text takes as much of s as the budget and most allow.
func (b *budget) text(title, s string, most int) pageText {
	shown, cut := Visible(s, max(0, min(most, b.left)))
	b.left -= len(shown)
	return pageText{Title: title, Text: shown, Cut: cut}
}
