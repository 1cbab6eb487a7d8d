package suite

import (
	"fmt"
	"maps"
	"math/big"
	"path"
	"slices"
	"strings"
)

// evalsJSON is what a file of agentskills holds: evals.json in its own form and in skill-creator's,
// or skill-creator's set of queries.
type evalsJSON struct {
	skill    string
	evals    []anEval
	positive []string
	negative []string
	unused   map[string]int // keys that say nothing here -> how often
}

type anEval struct {
	at       spot
	name     string // of the task
	prompt   string
	expected string
	files    []string
	checks   []string
	skill    *string // expected_skill: "" when none is to fire; nil when it is not given
}

// evalsFile reads the file's value.
func (d *decoder) evalsFile(v *value) *evalsJSON {
	e := &evalsJSON{unused: map[string]int{}}
	list := v
	loc := ""
	if v.kind == isMap {
		o := &object{d, v, ""}
		if o.get("cases") != nil && o.get("evals") == nil {
			d.add(v.at, "cases", "this is BenchFlow's form of evals.json, which is not read", "write evals with id, prompt, expected_output and assertions")
			return e
		}
		e.skill = o.optional("skill_name")
		e.unusedKeys(v, "", "skill_name", "evals")
		if list, loc = o.need("evals"), "evals"; list == nil {
			return e
		}
	}
	if list.kind != isList {
		d.add(list.at, loc, wantList, "")
		return e
	}
	names := map[string]bool{}
	for i, item := range list.items {
		at := loc + index(i)
		switch {
		case item.kind != isMap:
			d.add(item.at, at, wantMap, "")
		case item.get("query") != nil:
			e.query(&object{d, item, at})
		default:
			one := e.eval(&object{d, item, at}, i)
			for base, n := one.name, 2; names[one.name]; n++ {
				one.name = fmt.Sprintf("%s-%d", base, n)
			}
			names[one.name] = true
			e.evals = append(e.evals, one)
		}
	}
	if len(list.items) == 0 {
		d.add(list.at, loc, "the list is empty: there is nothing to import", "")
	}
	return e
}

func (e *evalsJSON) unusedKeys(v *value, prefix string, used ...string) {
	for _, f := range v.fields {
		if !slices.Contains(used, f.name) {
			e.unused[prefix+f.name]++
		}
	}
}

func (e *evalsJSON) query(o *object) {
	e.unusedKeys(o.v, "", "query", "should_trigger")
	query := o.requiredText("query")
	if o.need("should_trigger") == nil {
		return
	}
	if o.strictBool("should_trigger", false) {
		e.positive = append(e.positive, query)
	} else {
		e.negative = append(e.negative, query)
	}
}

func (e *evalsJSON) eval(o *object, i int) anEval {
	one := anEval{at: o.v.at, name: fmt.Sprintf("eval-%d", i+1), prompt: o.requiredText("prompt"), expected: o.optional("expected_output")}
	e.unusedKeys(o.v, "evals[].", "id", "name", "eval_name", "prompt", "expected_output", "files", "assertions", "expectations", "expected_skill")
	if id := o.given("id"); id != nil {
		switch n := id.scalar.(type) {
		case *big.Int:
			one.name = "eval-" + n.String()
		case string:
			one.name = slug(n, one.name)
		default:
			o.d.add(id.at, o.at("id"), "must be a number or a string", "")
		}
	}
	for _, key := range []string{"name", "eval_name"} {
		if name := o.optional(key); name != "" {
			one.name = slug(name, one.name)
			break
		}
	}
	if f := o.given("files"); f != nil {
		if f.kind == isScalar {
			f = &value{at: f.at, kind: isList, items: []*value{f}}
		}
		for j, item := range f.items {
			if name, ok := o.d.text(item, o.at("files")+index(j)); ok {
				one.files = append(one.files, name)
				o.inside(item, o.at("files")+index(j), name)
			}
		}
		if f.kind == isMap {
			o.d.add(f.at, o.at("files"), wantList, "")
		}
	}
	for _, key := range []string{"assertions", "expectations"} {
		if o.given(key) == nil {
			continue
		}
		for j, item := range o.list(key) {
			one.checks = append(one.checks, e.check(o.d, item, o.at(key)+index(j)))
		}
	}
	if s := o.get("expected_skill"); s != nil {
		name := o.optional("expected_skill")
		one.skill = &name
	}
	return one
}

// check is an assertion's text: it is a string, or an object with one.
func (e *evalsJSON) check(d *decoder, v *value, loc string) string {
	if v.kind != isMap {
		return d.filled(v, loc)
	}
	e.unusedKeys(v, "evals[].assertions[].", "text")
	return (&object{d, v, loc}).requiredText("text")
}

// inside wants a path that stays in its folder.
func (o *object) inside(v *value, loc, name string) {
	clean := path.Clean(name)
	if name == "" || clean == "." || path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(name, "\\\x00") {
		o.d.add(v.at, loc, quoted(name)+" is no path below the skill's folder", "")
	}
}

// slug is a text as the name of a file, or def when nothing of it is left.
func slug(text, def string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 60 {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return def
}

// notes say which keys of the file were not used.
func (e *evalsJSON) notes() []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(e.unused)) {
		out = append(out, fmt.Sprintf("not imported: %s (%d times)", quoted(key), e.unused[key]))
	}
	return out
}
