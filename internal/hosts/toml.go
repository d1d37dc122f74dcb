package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// tomlFile is Codex's configuration: servers are tables below mcp_servers.
type tomlFile struct{}

const serversTable = "mcp_servers"

// errInline is the error for a file that cannot be changed line by line.
var errInline = lang.Errorf("its servers are written in a form that cannot be changed without rewriting it (mcp_servers = {…})")

// decode reads a file as the host does.
func (tomlFile) decode(text []byte) (map[string]any, error) {
	all := map[string]any{}
	if err := toml.Unmarshal(bytes.TrimPrefix(text, bom), &all); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, lang.Errorf("line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	return all, nil
}

// servers returns the servers of a decoded file, or nil if there are none.
func (tomlFile) servers(all map[string]any) (map[string]any, error) {
	value, ok := all[serversTable]
	if !ok {
		return nil, nil
	}
	servers, ok := value.(map[string]any)
	if !ok {
		return nil, lang.Errorf("%s is not a table", serversTable)
	}
	return servers, nil
}

func (f tomlFile) read(text []byte) (all, servers map[string]any, err error) {
	if all, err = f.decode(text); err == nil {
		servers, err = f.servers(all)
	}
	return all, servers, err
}

func (f tomlFile) find(text []byte) ([]FoundEntry, error) {
	_, servers, err := f.read(text)
	if err != nil {
		return nil, err
	}
	var out []FoundEntry
	for name, value := range servers {
		out = append(out, tomlFound(name, value))
	}
	slices.SortFunc(out, func(a, b FoundEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func tomlFound(name string, value any) FoundEntry {
	out := FoundEntry{Name: name}
	entry, _ := value.(map[string]any)
	out.Command, _ = entry["command"].(string)
	out.URL, _ = entry["url"].(string)
	args, _ := entry["args"].([]any)
	for _, a := range args {
		if s, ok := a.(string); ok {
			out.Args = append(out.Args, s)
		}
	}
	return out
}

func (f tomlFile) add(text []byte, e Entry, force bool) ([]byte, error) {
	all, servers, err := f.read(text)
	if err != nil {
		return nil, err
	}
	there, exists := servers[e.Name]
	found := tomlFound(e.Name, there)
	want := map[string]any{}
	var out []byte
	switch {
	case exists && found.Command == e.Command && slices.Equal(found.Args, e.Args):
		return text, nil
	case exists && !Ours(found.Command, e.Command) && !force:
		return nil, Taken{e.Name, found.Command}
	case exists && Ours(found.Command, e.Command):
		for key, value := range there.(map[string]any) {
			want[key] = value
		}
		if out, err = f.update(text, e); err != nil {
			return nil, err
		}
	default:
		if exists {
			if text, err = f.remove(text, e.Name, "", true); err != nil {
				return nil, err
			}
		}
		for key, value := range tomlEntry(e) {
			want[key] = value
		}
		out = appendBlock(text, f.snippet(e))
	}
	want["command"] = e.Command
	if delete(want, "args"); len(e.Args) > 0 {
		want["args"] = anyList(e.Args)
	}
	if servers == nil {
		servers = map[string]any{}
		all[serversTable] = servers
	}
	servers[e.Name] = want
	return f.check(out, all)
}

// appendBlock adds a table behind everything else, after an empty line.
func appendBlock(text []byte, block string) []byte {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	out := slices.Clone(text)
	if len(bytes.TrimPrefix(text, bom)) > 0 {
		if !bytes.HasSuffix(text, []byte("\n")) {
			out = append(out, newline...)
		}
		out = append(out, newline...)
	}
	return append(out, strings.ReplaceAll(block, "\n", newline)...)
}

// check returns a changed text if the change is the intended one and no other.
func (f tomlFile) check(text []byte, want map[string]any) ([]byte, error) {
	got, err := f.decode(text)
	if err != nil || !reflect.DeepEqual(comparable(got), comparable(want)) {
		return nil, errInline
	}
	return text, nil
}

// comparable replaces the values of a decoded file that are not equal to themselves.
func comparable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = comparable(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = comparable(value)
		}
		return out
	case float64:
		if math.IsNaN(v) {
			return "nan"
		}
	}
	return v
}

// update changes command and args of an entry in place.
func (f tomlFile) update(text []byte, e Entry) ([]byte, error) {
	parts, err := f.parts(text, e.Name)
	if err != nil {
		return nil, err
	}
	values := map[string]string{"command": tomlString(e.Command), "args": list(e.Args, tomlString)}
	out := slices.Clone(text)
	for _, p := range slices.Backward(parts) { // backwards, so that earlier positions stay valid
		value, ours := values[p.key]
		if !ours {
			continue
		}
		if p.key == "args" && len(e.Args) == 0 {
			out = slices.Delete(out, p.start, p.stop)
			continue
		}
		out = slices.Replace(out, p.value, p.body, []byte(value)...)
		if p.key == "command" && len(e.Args) > 0 && !slices.ContainsFunc(parts, func(o lineRange) bool { return o.key == "args" }) {
			if p.stop == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
				out = append(out, '\n') // the last line has no end yet
				p.stop++
			}
			line := strings.Replace(string(text[p.start:p.value]), "command", "args", 1) + values["args"] + lineEnd(text[:p.stop])
			out = slices.Insert(out, p.stop+len(value)-(p.body-p.value), []byte(line)...)
		}
	}
	return out, nil
}

// lineEnd returns the end of a text's last line, for example "\r\n".
func lineEnd(text []byte) string {
	if bytes.HasSuffix(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func (f tomlFile) remove(text []byte, name, program string, force bool) ([]byte, error) {
	all, servers, err := f.read(text)
	if err != nil {
		return nil, err
	}
	there, exists := servers[name]
	if !exists {
		return text, nil
	}
	if found := tomlFound(name, there); !Ours(found.Command, program) && !force {
		return nil, Taken{name, found.Command}
	}
	parts, err := f.parts(text, name)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(text)
	for _, p := range slices.Backward(parts) {
		start := p.start
		if p.table {
			start = withoutEmptyLine(out, start, p.stop)
		}
		out = slices.Delete(out, start, p.stop)
	}
	delete(servers, name)
	if len(servers) == 0 {
		if again, err := f.decode(out); err == nil && again[serversTable] == nil {
			delete(all, serversTable)
		}
	}
	return f.check(out, all)
}

// withoutEmptyLine moves the start of a table before the empty line in front of it if the file ends
// with the table or another empty line follows.
func withoutEmptyLine(text []byte, start, stop int) int {
	rest := bytes.TrimLeft(text[stop:], " \t")
	if len(rest) > 0 && rest[0] != '\n' && rest[0] != '\r' {
		return start
	}
	for _, empty := range []string{"\r\n", "\n"} {
		before := bytes.TrimSuffix(text[:start], []byte(empty))
		if len(before) < start && (len(before) == 0 || before[len(before)-1] == '\n') {
			return len(before)
		}
	}
	return start
}

func (f tomlFile) snippet(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s.%s]\ncommand = %s\n", serversTable, tomlKey(e.Name), tomlString(e.Command))
	if len(e.Args) > 0 {
		fmt.Fprintf(&b, "args = %s\n", list(e.Args, tomlString))
	}
	if len(e.Pass) > 0 {
		fmt.Fprintf(&b, "env_vars = %s\n", list(e.Pass, tomlString))
	}
	return b.String()
}

// tomlEntry returns an entry as a decoded file has it.
func tomlEntry(e Entry) map[string]any {
	out := map[string]any{"command": e.Command}
	if len(e.Pass) > 0 {
		out["env_vars"] = anyList(e.Pass)
	}
	return out
}

func anyList(items []string) []any {
	out := make([]any, len(items))
	for i, s := range items {
		out[i] = s
	}
	return out
}

// tomlString writes a text literally if it can, so that a Windows path stays readable.
func tomlString(s string) string {
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// bareKey has the characters of a key that needs no quotes.
const bareKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

func tomlKey(name string) string {
	if name == "" || strings.Trim(name, bareKey) != "" {
		return tomlString(name)
	}
	return name
}

// lineRange is a stretch of whole lines that belongs to an entry.
type lineRange struct {
	start, stop int
	// body is the end of its content, before spaces and comments.
	body int
	// table is true for a header.
	table bool
	// key is the entry's own key that the lines set, and value the position of its value.
	key   string
	value int
}

// parts returns the lines of a file that make up the entry of a name, in their order.
func (f tomlFile) parts(text []byte, name string) ([]lineRange, error) {
	mark := 0
	if bytes.HasPrefix(text, bom) {
		mark = len(bom)
	}
	p := unstable.Parser{KeepComments: true}
	p.Reset(text[mark:])
	var found []lineRange
	var table []string
	open := false // the last part's end is not known yet
	for p.NextExpression() {
		node := p.Expression()
		from := mark + exprStart(node)
		if line := lineStart(text, from); open && line > found[len(found)-1].body {
			last := &found[len(found)-1]
			last.stop, open = trimEmptyLines(text, last.body, line), false
		}
		next := lineRange{start: lineStart(text, from), body: from}
		var path []string
		switch node.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = keys(node)
			path, next.table = table, true
		case unstable.KeyValue:
			path = append(slices.Clone(table), keys(node)...)
			if len(path) == 1 && path[0] == serversTable {
				return nil, errInline
			}
			next.body = mark + int(node.Raw.Offset+node.Raw.Length)
			if len(path) == 3 {
				next.key, next.value = path[2], mark+valueStart(node, text[mark:])
			}
		default:
			continue
		}
		if len(path) >= 2 && path[0] == serversTable && path[1] == name {
			found, open = append(found, next), true
		}
	}
	if err := p.Error(); err != nil {
		return nil, err
	}
	if open {
		last := &found[len(found)-1]
		last.stop = trimEmptyLines(text, last.body, len(text))
	}
	return found, nil
}

// valueStart returns the position of a key's value.
func valueStart(node *unstable.Node, text []byte) int {
	at := 0
	for it := node.Key(); it.Next(); {
		at = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	rest := bytes.TrimLeft(text[at:], " \t")
	rest = bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("=")), " \t")
	return len(text) - len(rest)
}

func keys(node *unstable.Node) []string {
	var out []string
	for it := node.Key(); it.Next(); {
		out = append(out, string(it.Node().Data))
	}
	return out
}

// exprStart returns the position of an expression: that of its first key, or its comment.
func exprStart(node *unstable.Node) int {
	if node.Kind == unstable.Comment {
		return int(node.Raw.Offset)
	}
	it := node.Key()
	if !it.Next() {
		return int(node.Raw.Offset)
	}
	return int(it.Node().Raw.Offset)
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// trimEmptyLines returns the end of the lines from start to stop without empty ones at the end.
func trimEmptyLines(text []byte, start, stop int) int {
	end := start + len(bytes.TrimRight(text[start:stop], " \t\r\n"))
	if i := bytes.IndexByte(text[end:stop], '\n'); i >= 0 {
		return end + i + 1
	}
	return stop
}
