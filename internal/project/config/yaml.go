package config

import (
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// entry is a leaf of a YAML file.
type entry struct {
	// key is its dotted path.
	key    string
	line   int
	values []string
	// err is why its value cannot be read.
	err error
}

// eachSetting calls set for every leaf of a YAML file. It returns an error of set with the file and the line of the
// key.
func eachSetting(name string, data []byte, set func(entry) error) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return invalid(name, lineOf(err), errors.New(yamlPlace.ReplaceAllString(err.Error(), "")))
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return nil
	}
	w := walker{name: name, lines: map[string]int{}, set: set}
	return w.walk("", doc.Content[0])
}

// walker walks the blocks of a YAML file.
type walker struct {
	name string
	// lines are those of the keys seen so far.
	lines map[string]int
	set   func(entry) error
}

func (w *walker) walk(prefix string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" && prefix == "" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return invalid(w.name, n.Line, lang.Errorf("expected a block of key: value lines"))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		path := prefix + key.Value
		if line, twice := w.lines[path]; twice {
			return invalid(w.name, key.Line, lang.Errorf("%s is in line %d already", path, line))
		}
		w.lines[path] = key.Line
		// stages.<stage> are the only blocks; everything else is a leaf.
		if path == "stages" || prefix == "stages." {
			if err := w.walk(path+".", value); err != nil {
				return err
			}
			continue
		}
		if err := w.set(read(path, key.Line, value)); err != nil {
			return invalid(w.name, key.Line, err)
		}
	}
	return nil
}

// read reads the value of a key.
func read(path string, line int, value *yaml.Node) entry {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	values, err := leaf(value)
	if err == nil && (path == "verify" || strings.HasSuffix(path, ".verify")) {
		values, err = command(path, value, values)
	}
	return entry{path, line, values, err}
}

// command reads a verify command more strictly than other leaves: one that became empty
// because of its spelling would drop evidence that nobody meant to drop.
func command(path string, n *yaml.Node, values []string) ([]string, error) {
	switch {
	case n.Kind == yaml.MappingNode:
		return nil, lang.Errorf("%s takes one command, not a block", path)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return []string{""}, nil // "null" and "~" are not commands
	}
	return values, nil
}

func leaf(n *yaml.Node) ([]string, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}, nil
	case yaml.SequenceNode:
		var out []string
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, lang.Errorf("expected a list of plain values")
			}
			out = append(out, item.Value)
		}
		return out, nil
	}
	// A block under an unknown key: set lists the valid keys.
	return []string{""}, nil
}

func invalid(name string, line int, err error) error {
	return fault.New(fault.InvalidArgument, "%s, line %d: %w", name, max(line, 1), err).
		WithHint("correct that line; nothing was changed")
}

// yamlPlace matches the library's prefix: our message has the line already.
var yamlPlace = pattern.New(`^yaml: (?:line \d+: )?`)

var yamlLine = pattern.New(`line (\d+)`)

func lineOf(err error) int {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return 1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
