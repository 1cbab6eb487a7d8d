package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What prints to the process's own output, and where it may: the printer is put there once.
var outlets = map[string][]string{
	"os.Stdout":     {"cmd/proctor/main.go", "scripts/side-by-side/main.go"},
	"os.Stderr":     {"cmd/proctor/main.go", "scripts/side-by-side/main.go"},
	"fmt.Print":     nil,
	"fmt.Printf":    nil,
	"fmt.Println":   nil,
	"log.Print":     nil,
	"log.Printf":    nil,
	"log.Println":   nil,
	"log.Fatal":     nil,
	"slog.Info":     nil,
	"syscall.Write": nil,
	"report.Raw": {
		"cmd/proctor/enter.go", "cmd/proctor/recordscript.go", "cmd/proctor/report.go", // programs' own output, documents
		"cmd/proctor/completion.go",                       // a shell's script, our own
		"cmd/proctor/transcript.go", "cmd/proctor/run.go", // JSON; what setup's installers say
		"cmd/proctor/progress.go", "cmd/proctor/ci.go", // the table that is redrawn; JSON and workflow commands
	},
}

// builtins print past everything.
var builtins = []string{"print", "println"}

// No file prints past the printer, and evaltest hands testing nothing that did not go through say.
func TestNothingPrintsPastThePrinter(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if path != root && (name == "testdata" || name == "results" || name == "runs" || strings.HasPrefix(name, ".") && name != "..") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		rel, err := filepath.Rel(root, path)
		require.NoError(t, err)
		for _, found := range hunt(t, path, nil, filepath.ToSlash(rel)) {
			t.Error(found)
		}
		return nil
	}))
	assert.Greater(t, files, 150, "the sources were found")
}

// The hunt finds what it is for.
func TestTheHuntFinds(t *testing.T) {
	for source, want := range map[string]int{
		`package p; import "fmt"; func f() { fmt.Println("x") }`:                             1,
		`package p; import "os"; func f() { os.Stdout.WriteString("x"); _ = os.Stderr }`:     2,
		`package p; func f() { println("x"); print(1) }`:                                     2,
		`package p; import "fmt"; import "io"; func f(w io.Writer) { fmt.Fprintln(w, "x") }`: 0,
		`package evaltest; func f(t *testing.T, s string) { t.Log(s); t.Errorf("%s", s) }`:   2,
		`package evaltest; func f(t *testing.T, s string) { t.Log(say(s)); t.Skip("x") }`:    0,
		`package p; import f "fmt"; func g() { f.Print() }`:                                  1,
	} {
		assert.Len(t, hunt(t, "x.go", source, "x.go"), want, source)
	}
}

// hunt lists what of a file prints past the printer.
func hunt(t *testing.T, path string, source any, rel string) (found []string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	packages := map[string]string{} // the name in the file -> the package's own
	for _, im := range file.Imports {
		own := strings.Trim(im.Path.Value, `"`)
		own = own[strings.LastIndex(own, "/")+1:]
		name := own
		if im.Name != nil {
			name = im.Name.Name
		}
		packages[name] = own
	}
	tell := func(n ast.Node, what string) { found = append(found, fset.Position(n.Pos()).String()+": "+what) }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				name := packages[x.Name] + "." + n.Sel.Name
				if allowed, watched := outlets[name]; watched && !slices.Contains(allowed, rel) {
					tell(n, name)
				}
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains(builtins, f.Name) {
				tell(n, f.Name)
			}
			if what := unsaid(file.Name.Name, n); what != "" {
				tell(n, what)
			}
		}
		return true
	})
	return found
}

// unsaid is a call of evaltest that gives testing a text that did not go through say, or "".
func unsaid(pkg string, call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if pkg != "evaltest" || !ok {
		return ""
	}
	x, ok := f.X.(*ast.Ident)
	if !ok || x.Name != "t" || !slices.Contains([]string{"Log", "Logf", "Error", "Errorf", "Fatal", "Fatalf", "Skip", "Skipf"}, f.Sel.Name) {
		return ""
	}
	for _, arg := range call.Args {
		if _, ok := arg.(*ast.BasicLit); ok {
			continue
		}
		if c, ok := arg.(*ast.CallExpr); ok {
			if f, ok := c.Fun.(*ast.Ident); ok && (f.Name == "say" || f.Name == "sayf") {
				continue
			}
		}
		return "t." + f.Sel.Name + " of what say did not see"
	}
	return ""
}
