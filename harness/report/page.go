package report

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
)

//go:embed page/page.html page/page.css page/page.js
var pageFiles embed.FS

// The page's own style and script. Their hashes stand in its content security policy, which lets
// nothing else run, load or be sent.
var (
	pageStyle  = mustRead("page/page.css")
	pageScript = mustRead("page/page.js")
	pageHTML   = template.Must(template.New("page").Funcs(template.FuncMap{
		"clean": Clean, "points": points, "plot": newPlot, "p": func(p float64) string { return strings.TrimPrefix(pValue(p), "= ") },
	}).ParseFS(pageFiles, "page/page.html"))
)

func mustRead(name string) string {
	data, err := pageFiles.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(data)
}

// PageOptions say what the page is made from.
type PageOptions struct {
	// Run is the run's folder, with run.json.
	Run string
	// Starter finds the tasks' starters; nil where they are not at hand.
	Starter Starter
}

// PageInfo says what a page holds.
type PageInfo struct {
	Trials     int
	Unreadable int // records of trials that could not be read; the page says which
}

// Page writes a run's report as one HTML file that loads nothing. It is made from the run's records and
// what its trials left; a record that cannot be read is shown as such. An error means that there is no
// run to show, or is the writer's.
func Page(w io.Writer, o PageOptions) (PageInfo, error) {
	l, err := loadRun(o.Run, o.Starter)
	if err != nil {
		return PageInfo{}, err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	head := struct {
		Title, Policy string
		Style         template.CSS
	}{"Proctor: " + Clean(l.run.RunID), contentPolicy(), template.CSS(pageStyle)}
	if err := pageHTML.ExecuteTemplate(out, "head", head); err != nil {
		return PageInfo{}, err
	}
	// The answer stands before the evidence, so that a browser shows it at once; but it marks each
	// trial's place, so the records are read first. mostPage bounds the evidence held meanwhile.
	var info PageInfo
	var blocks bytes.Buffer
	if err := l.trials(&blocks); err != nil {
		return info, err
	}
	view := l.view()
	for _, b := range l.batches {
		info.Trials += len(b.rows)
		info.Unreadable += b.broken
	}
	rows := make([]pageRow, 0, info.Trials)
	for _, b := range l.batches {
		rows = append(rows, b.rows...)
	}
	if err := pageHTML.ExecuteTemplate(out, "body", view); err != nil {
		return info, err
	}
	if err := dataBlock(out, "trial-rows", rows); err != nil {
		return info, err
	}
	if _, err := blocks.WriteTo(out); err != nil {
		return info, err
	}
	if err := pageHTML.ExecuteTemplate(out, "foot", template.JS(pageScript)); err != nil {
		return info, err
	}
	return info, out.Flush()
}

func contentPolicy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(pageStyle) + "; script-src " + hash(pageScript) + "; base-uri 'none'; form-action 'none'"
}
