package report

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/setup"
)

// tab is a tab of a headless browser, and what its pages said and asked for.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	said     []string // console lines, exceptions, refused content
	requests []string
}

// newTab starts a browser for a test. It is a tool like the others: missing, it is an error.
func newTab(t *testing.T) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	tools, err := setup.Locate(t.Context(), setup.Options{}, setup.NeedBrowser)
	require.NoError(t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(tools.ByName[setup.Browser].Path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.UserDataDir(t.TempDir()))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.hear)) // starts the browser
	limited, late := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(late)
	b.ctx = limited
	_, err = chromedp.Call(b.ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	return b
}

func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprintf("console %s", ev.Type))
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, "exception "+ev.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.said = append(b.said, "log "+ev.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, ev.Request.URL)
	}
}

// heard takes what was heard since it was last taken.
func (b *tab) heard() (said, requests []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said, requests = b.said, b.requests
	b.said, b.requests = nil, nil
	return said, requests
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, steps...))
}

// open shows a file's page and waits for its script's end.
func (b *tab) open(path string) {
	b.Helper()
	// From elsewhere: to another fragment of the same file a browser would not load it again.
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()))
	// Asked again rather than polled in the page: the document that is asked first may be the one that goes.
	for {
		ready, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`document.documentElement.dataset.ready === "yes"`))
		if err == nil && ready {
			return
		}
		require.NoError(b, b.ctx.Err(), "%s was never ready: %v", path, err)
		time.Sleep(10 * time.Millisecond)
	}
}

func (b *tab) run(script string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script))
}

func eval[T any](b *tab, script string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	require.NoError(b, err)
	return v
}

// frames waits until what was done is drawn.
func (b *tab) frames() {
	b.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](`new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true))))`, chromedp.EvalAwaitPromise))
	require.NoError(b, err)
}

// looking says that somebody keeps what the test makes.
func looking() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// shot keeps a picture of the page from the place at on among the test's artifacts, for eyes. Without
// -artifacts nobody would see it.
func (b *tab) shot(name, at string, width, height int64) {
	b.Helper()
	if !looking() {
		return
	}
	b.do(chromedp.EmulateViewport(width, height))
	b.run(fmt.Sprintf(`document.querySelector(%q).scrollIntoView()`, at))
	b.frames()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(b.ArtifactDir(), name), png, 0o644))
}

// The page opens without a word on the console and asks for nothing but itself; the keyboard alone
// reaches every trial and its evidence; hostile text stays text; both colour schemes are there; hundreds of trials open.
func TestPageInBrowser(t *testing.T) {
	verdicts, _, _ := makePage(t, madeVerdicts(t), "verdicts.html")
	broken, _, _ := makePage(t, madeHostile(t), "hostile.html")
	b := newTab(t)

	// Positive control: what the listener is for is heard.
	control := filepath.Join(t.TempDir(), "control.html")
	require.NoError(t, os.WriteFile(control, []byte(`<html data-ready="yes"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'"><img src="http://127.0.0.1:1/x"><script>console.log("hello"); nosuch()</script>`), 0o644))
	b.open(control)
	b.frames()
	said, _ := b.heard()
	all := strings.Join(said, "\n")
	require.Contains(t, all, "console log")
	require.Contains(t, all, "exception")
	require.Contains(t, all, "Content Security Policy")

	b.walk(verdicts)
	b.colours(verdicts)
	b.inert(broken)
	b.large()

	said, requests := b.heard()
	assert.Empty(t, said)
	assert.NotEmpty(t, requests, "the pages themselves")
	for _, r := range requests {
		assert.Regexp(t, `^(about:blank|file://.*\.html(#.*)?)$`, r)
	}
}

// walk uses the keyboard alone.
func (b *tab) walk(page string) {
	b.open(page)
	b.do(chromedp.KeyEvent(kb.Tab))
	assert.Equal(b, "#answer", eval[string](b, `document.activeElement.hash`), "the first stop skips to the answer")
	// j goes from trial to trial, also over the borders of the list's pages.
	b.run(`location.hash = "#trial-0"`)
	b.frames()
	b.do(chromedp.KeyEvent(kb.Escape))
	where := func() string {
		return eval[string](b, `document.activeElement.id + " " + document.querySelector("#evidence h3").textContent`)
	}
	for i := range 67 {
		assert.Regexp(b, fmt.Sprintf(`^row-%d .trial-\d+-`, i), where())
		b.do(chromedp.KeyEvent("j"))
	}
	assert.Contains(b, where(), "trial-12-staged-skills", "the last one stays")
	b.do(chromedp.KeyEvent("k"))
	assert.Contains(b, where(), "trial-11-staged-skills")
	// Enter goes to the evidence, from where Tab and Enter fold it.
	b.do(chromedp.KeyEvent(kb.Enter))
	b.frames()
	assert.Equal(b, "evidence", eval[string](b, `document.activeElement.id`))
	assert.True(b, eval[bool](b, `document.querySelector("#evidence .part").open`))
	b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	assert.False(b, eval[bool](b, `document.querySelector("#evidence .part").open`))
	assert.Equal(b, "solid", eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`), "what has the focus is seen")
	// Tab alone reaches every row of the list, too.
	b.run(`document.getElementById("f-place").focus()`)
	seen := map[string]bool{}
	for range 17 { // the second page of the list has the last 17
		b.do(chromedp.KeyEvent(kb.Tab))
		seen[eval[string](b, `document.activeElement.id`)] = true
	}
	assert.Len(b, seen, 17)
	assert.True(b, seen["row-50"] && seen["row-66"], "%v", seen)
}

// colours looks at both schemes, by the system's wish and by the page's own switch, and at the widths.
func (b *tab) colours(page string) {
	const dark, light = "rgb(20, 22, 26)", "rgb(250, 249, 246)"
	background := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	b.open(page)
	assert.Equal(b, light, background())
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	require.NoError(b, err)
	assert.Equal(b, dark, background())
	b.contrast("dark")
	b.shot("dark-wide.png", "body", 1440, 1100)
	b.run(`location.hash = "#trial-19"`)
	b.frames()
	b.shot("report-evidence.png", "#trials", 1280, 1250)
	b.shot("dark-changes.png", "#evidence .part:nth-of-type(4)", 1280, 1200)
	b.shot("report-narrow.png", "body", 360, 1100)
	b.shot("dark-narrow-trials.png", "#trials", 360, 1700)
	b.do(chromedp.KeyEvent("t"))
	assert.Equal(b, light, background())
	b.contrast("light")
	b.shot("report-verdicts.png", "body", 1100, 1250)
	b.shot("light-left-out.png", "#left-out", 1100, 1300)
	b.shot("light-narrow-tasks.png", "#left-out", 360, 1500)
	b.do(chromedp.KeyEvent("t"))
	assert.Equal(b, dark, background())
	for _, width := range []int64{360, 768, 1600} {
		b.do(chromedp.EmulateViewport(width, 900))
		assert.LessOrEqual(b, eval[int](b, `document.documentElement.scrollWidth - innerWidth`), 0, "nothing is wider than %d pixels", width)
	}
	b.run(`localStorage.clear()`)
}

// contrast holds every visible text of the page against its background: WCAG's AA asks for 4.5 to 1.
func (b *tab) contrast(scheme string) {
	worst := eval[[]string](b, `(() => {
		const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		const rgb = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return canvas.getImageData(0, 0, 1, 1).data; };
		const light = d => { const [r, g, b] = [...d].slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
		const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] === 255) return c; } return "white"; };
		const bad = new Map(); let n = 0;
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) {
			const e = walk.currentNode.parentElement;
			if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest("script, :disabled")) continue;
			n++;
			const a = light(rgb(getComputedStyle(e).color)), z = light(rgb(behind(e)));
			const ratio = (Math.max(a, z) + .05) / (Math.min(a, z) + .05);
			if (ratio < 4.5) bad.set(e.tagName + "." + e.className, ratio.toFixed(2));
		}
		return [n > 200 ? "many" : "few", ...[...bad].map(([k, v]) => k + " " + v)];
	})()`)
	assert.Equal(b, []string{"many"}, worst, scheme)
}

// inert looks at the page of a run whose every text is hostile.
func (b *tab) inert(page string) {
	b.open(page)
	b.run(`location.hash = "#trial-2"`)
	b.frames()
	b.run(`document.querySelectorAll("#evidence details").forEach(d => { d.open = true })`)
	b.frames()
	assert.Zero(b, eval[int](b, `document.querySelectorAll("img, iframe, object, embed, form:not(.filters), svg:not(.plot):not(.timeline), #evidence script").length`))
	assert.True(b, eval[bool](b, `window.broken === undefined && {}.polluted === undefined`))
	assert.GreaterOrEqual(b, eval[int](b, `document.querySelectorAll("#evidence .turn details pre").length`), 8, "the folded calls, open")
	text := eval[string](b, `document.querySelector("#evidence").textContent`)
	for _, want := range []string{"</script><img src=x onerror=\"window.broken=1\">", "]]><svg onload=", "__proto__", `\x1b[31mred\x1b[0m\a`, `\u202egnp.exe\u2066`, `<img onerror=x>.rs`} {
		assert.Contains(b, text, want)
	}
	b.shot("hostile.png", "#trials", 1280, 1500)
}

// large opens a page of many trials, and shows its last. The times go to the log. With -artifacts, by
// hand, it is two thousand trials, which take a while to write.
func (b *tab) large() {
	rounds := 40
	if looking() {
		rounds = 200
	}
	run := makeRun(b.T, largeRun(rounds)...)
	start := time.Now()
	path, html, info := makePage(b.T, run, "large.html")
	made := time.Since(start)
	assert.Equal(b, PageInfo{Trials: 10 * rounds}, info)
	assert.Less(b, len(html), mostPage*2)
	start = time.Now()
	b.open(path)
	opened := time.Since(start)
	start = time.Now()
	b.run(fmt.Sprintf(`location.hash = "#trial-%d"`, info.Trials-1))
	b.frames()
	assert.Contains(b, eval[string](b, `document.querySelector("#evidence h3").textContent`), fmt.Sprintf("trial-%d-staged-skills", rounds))
	b.Logf("%d trials: %.1f MB, made in %.1f s, opened in %.2f s, the last trial shown in %.2f s", info.Trials, float64(len(html))/1e6, made.Seconds(), opened.Seconds(), time.Since(start).Seconds())
	assert.Equal(b, 50, eval[int](b, `document.querySelectorAll("#rows a").length`), "the list is paged")
}

// largeRun is five tasks of two configurations.
func largeRun(rounds int) []madeBatch {
	var batches []madeBatch
	for _, task := range []string{"one", "two", "three", "four", "five"} {
		batches = append(batches, madeBatch{task: task, arms: map[string][]*result.Trial{baseline: arm(baseline, rounds/4, rounds-rounds/4), staged: arm(staged, rounds/2, rounds-rounds/2)}})
	}
	return batches
}
