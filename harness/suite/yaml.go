package suite

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/proctor-evals/proctor/harness/task"
)

// maxNodes bounds a file with all its aliases written out.
const maxNodes = 200_000

// parseYAML reads a file's only document. An empty file is null.
func parseYAML(file string, data []byte) (*value, task.Problems) {
	whole := spot{file: file}
	if !utf8.Valid(data) {
		return nil, task.Problems{whole.problem("the file is not UTF-8 text", "save it as UTF-8")}
	}
	dec := yaml.NewDecoder(strings.NewReader(strings.TrimPrefix(string(data), "\ufeff")))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &value{at: spot{file, Place{1, 1}}}, nil
		}
		return nil, task.Problems{syntax(file, err)}
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, task.Problems{syntax(file, err)}
	default:
		return nil, task.Problems{(spot{file, Place{second.Line, second.Column}}).problem("the file holds a second document", "keep one document a file")}
	}
	c := converter{file: file, done: map[*yaml.Node]sized{}, open: map[*yaml.Node]bool{}}
	v := c.convert(doc.Content[0])
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return v.value, nil
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax is a syntax error of the library, which tells a line at most.
func syntax(file string, err error) task.Problem {
	text := err.Error()
	s := spot{file: file}
	if m := syntaxLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		s.Line, _ = strconv.Atoi(m[1])
	}
	return s.problem("this is no YAML: "+text, "correct the syntax")
}

// sized is a value and how many values it is with its aliases written out.
type sized struct {
	*value
	size int
}

type converter struct {
	file     string
	problems task.Problems
	done     map[*yaml.Node]sized
	open     map[*yaml.Node]bool // anchors around the current node
	tooLarge bool
}

func (c *converter) add(n *yaml.Node, message, fix string) {
	c.problems = append(c.problems, c.at(n).problem(message, fix))
}

func (c *converter) at(n *yaml.Node) spot { return spot{c.file, Place{n.Line, n.Column}} }

func (c *converter) convert(n *yaml.Node) sized {
	if s, ok := c.done[n]; ok {
		return s
	}
	out := sized{&value{at: c.at(n)}, 1}
	if c.tooLarge {
		return out
	}
	if c.open[n] {
		c.add(n, "an anchor stands within itself", "write the value out")
		return out
	}
	c.open[n] = true
	defer delete(c.open, n)
	switch n.Kind {
	case yaml.AliasNode:
		target := c.convert(n.Alias)
		copied := *target.value
		copied.at = c.at(n)
		out = sized{&copied, target.size}
	case yaml.ScalarNode:
		out.scalar = c.scalar(n)
	case yaml.SequenceNode:
		out.kind = isList
		c.container(n, "!!seq")
		for _, item := range n.Content {
			s := c.convert(item)
			out.items = append(out.items, s.value)
			out.size += s.size
		}
	case yaml.MappingNode:
		out.kind = isMap
		c.container(n, "!!map")
		out.size += c.mapping(n, out.value)
	}
	if out.size > maxNodes && !c.tooLarge {
		c.tooLarge = true
		c.add(n, fmt.Sprintf("the file is larger than %d values with its aliases written out", maxNodes), "use fewer aliases")
	}
	out.size = min(out.size, maxNodes+1)
	c.done[n] = out
	return out
}

func (c *converter) container(n *yaml.Node, want string) {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != want {
		c.add(n, fmt.Sprintf("the tag %s is not read", n.Tag), "remove it")
	}
}

func (c *converter) scalar(n *yaml.Node) any {
	explicit, tag := n.Style&yaml.TaggedStyle != 0, n.ShortTag()
	plain := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if explicit && tag == "!!str" || !explicit && !plain {
		return n.Value
	}
	v, err := scalar(n.Value)
	if err != nil {
		message, fix, _ := strings.Cut(err.Error(), "; ")
		c.add(n, message, fix)
		return nil
	}
	if n, ok := v.(*big.Int); ok && explicit && tag == "!!float" {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	if explicit && tag != tagOf(v) {
		c.add(n, fmt.Sprintf("the tag %s does not fit, or is not read", n.Tag), "remove it, or quote the value")
		return nil
	}
	return v
}

func tagOf(v any) string {
	switch v.(type) {
	case nil:
		return "!!null"
	case bool:
		return "!!bool"
	case *big.Int:
		return "!!int"
	case float64:
		return "!!float"
	case stamp:
		return "!!timestamp"
	}
	return "!!str"
}

// mapping fills in the fields. What a merge key brings stands below the mapping's own keys.
func (c *converter) mapping(n *yaml.Node, out *value) int {
	size := 0
	var merged, own []field
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Style == 0 {
			fields, s := c.merge(val)
			merged = append(merged, fields...)
			size += s
			continue
		}
		k := c.convert(key)
		v := c.convert(val)
		size += k.size + v.size
		if k.kind != isScalar {
			c.add(key, "a key must be a scalar", "write a text")
			continue
		}
		name, _ := pythonText(k.scalar)
		own = append(own, field{k.scalar, name, c.at(key), v.value})
	}
	at := map[any]int{}
	for _, f := range append(merged, own...) {
		id := identity(f.key)
		if i, ok := at[id]; ok {
			out.fields[i] = f
			continue
		}
		at[id] = len(out.fields)
		out.fields = append(out.fields, f)
	}
	return size
}

// merge is the fields of a merge key's value: of a list, the first entry with a key wins.
func (c *converter) merge(n *yaml.Node) ([]field, int) {
	v := c.convert(n)
	if c.tooLarge {
		return nil, v.size
	}
	switch v.kind {
	case isMap:
		return v.fields, v.size
	case isList:
		var out []field
		for i := len(v.items) - 1; i >= 0; i-- {
			if v.items[i].kind != isMap {
				c.add(n, "a merge key takes mappings", "name mappings")
				return nil, v.size
			}
			out = append(out, v.items[i].fields...)
		}
		return out, v.size
	}
	c.add(n, "a merge key takes mappings", "name a mapping")
	return nil, v.size
}

// identity compares keys as a Python dict does: 1 and "1" are two keys.
func identity(key any) any {
	switch k := key.(type) {
	case *big.Int:
		return [2]string{"int", k.String()}
	case float64:
		return [2]string{"float", pythonFloat(k)}
	}
	return key
}
