package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
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
	if line, err := workflow.ReadYAML(data, &doc); err != nil {
		return invalid(name, line, explain(err))
	}
	if len(doc.Content) == 0 {
		return nil
	}
	if n := sharedNode(&doc); n != nil {
		return invalid(name, n.Line, lang.Errorf("anchors (&), aliases (*) and merges (<<) are not read; write the value where it counts"))
	}
	w := walker{name: name, lines: map[string]int{}, set: set}
	return w.walk("", doc.Content[0])
}

// sharedNode returns the first node by which a value counts where nobody reads it; nil without one.
func sharedNode(n *yaml.Node) *yaml.Node {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Tag == "!!merge" {
		return n
	}
	for _, part := range n.Content {
		if shared := sharedNode(part); shared != nil {
			return shared
		}
	}
	return nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// explain returns an error of the library, with its remedy where its words do not say it.
func explain(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "cannot start any token"):
		return lang.Errorf("a character stands where YAML takes none, such as a tab; indent by blanks")
	case strings.Contains(text, "UTF-8"), strings.Contains(text, "control characters"):
		return lang.Errorf("it is not a text in UTF-8; save the file as one")
	}
	return err
}

// walker walks the blocks of a YAML file.
type walker struct {
	name string
	// lines are the lines of the keys seen so far.
	lines map[string]int
	set   func(entry) error
}

func (w *walker) walk(prefix string, n *yaml.Node) error {
	if isNull(n) && prefix == "" {
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

// read reads the value of a key: a plain value, or a list of them. Null is the empty text, however it is written.
func read(path string, line int, value *yaml.Node) entry {
	e := entry{key: path, line: line}
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		items = value.Content
	}
	for _, item := range items {
		switch {
		case item.Kind == yaml.MappingNode && item == value:
			e.err = lang.Errorf("%s takes a value, not a block", path)
		case item.Kind != yaml.ScalarNode:
			e.err = lang.Errorf("expected a list of plain values")
		case isNull(item):
			e.values = append(e.values, "")
		default:
			e.values = append(e.values, item.Value)
		}
	}
	return e
}

func invalid(name string, line int, err error) error {
	return fault.New(fault.InvalidArgument, "%s, line %d: %w", name, max(line, 1), err).
		WithHint("correct that line; nothing was changed")
}
