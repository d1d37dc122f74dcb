package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// jsonFile is a JSON file that keeps servers in an object, by name.
type jsonFile struct {
	// key is the object's key.
	key string
	// stdio is true if entries state this type.
	stdio bool
	// comments, commas (trailing), empty (an empty file) and bom are true if the host accepts these
	// beyond JSON.
	comments, commas, empty, bom bool
	// projects is the key of an object that keeps more servers, for one project each.
	projects string
}

var bom = []byte("\xef\xbb\xbf")

// errNotObject is the error for a root that is not an object.
var errNotObject = lang.Errorf("is not an object")

// jsonDocument is a parsed file.
type jsonDocument struct {
	// text is the parsed text, without the BOM, which is in mark.
	mark, text []byte
	root       *hujson.Object
	start, end int // of the root
}

func (f jsonFile) parse(text []byte) (*jsonDocument, error) {
	d := &jsonDocument{}
	if bytes.HasPrefix(text, bom) {
		if !f.bom {
			return nil, lang.Errorf("it begins with a byte order mark, which the host does not take")
		}
		d.mark, text = bom, text[len(bom):]
	}
	d.text = text
	if len(bytes.TrimSpace(text)) == 0 {
		if len(text) > 0 && !f.empty {
			return nil, lang.Errorf("it is empty")
		}
		d.text, d.root = []byte("{}\n"), &hujson.Object{}
		d.end = 2
		return d, nil
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return nil, plain(err)
	}
	if err := f.accepts(text, value); err != nil {
		return nil, err
	}
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, lang.Errorf("its top level %w", errNotObject)
	}
	d.root, d.start, d.end = root, value.StartOffset, value.EndOffset
	return d, nil
}

// plain removes the library's name from its errors.
func plain(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "hujson: ")) }

// accepts refuses a file that the host itself would not read: it would ignore the file, or us.
func (f jsonFile) accepts(text []byte, value hujson.Value) error {
	if !f.comments && !value.IsStandard() {
		var v any
		return lang.Errorf("not valid JSON (%w), so the host would reject it", json.Unmarshal(text, &v))
	}
	if f.commas {
		return nil
	}
	var at int
	for v := range value.All() {
		var last *hujson.Value
		switch inner := v.Value.(type) {
		case *hujson.Object:
			if n := len(inner.Members); n > 0 {
				last = &inner.Members[n-1].Value
			}
		case *hujson.Array:
			if n := len(inner.Elements); n > 0 {
				last = &inner.Elements[n-1]
			}
		}
		if last != nil && last.AfterExtra != nil {
			at = last.EndOffset
		}
	}
	if at > 0 {
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		return lang.Errorf("line %d ends with a comma that the host does not take", line)
	}
	return nil
}

// member returns the value of a key of an object, the last one if there are several, as
// the hosts read it.
func member(o *hujson.Object, key string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if name, ok := o.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			return &o.Members[i]
		}
	}
	return nil
}

// servers returns the object with the servers, or nil if there is none.
func (f jsonFile) servers(d *jsonDocument) (*hujson.Object, error) {
	m := member(d.root, f.key)
	if m == nil {
		return nil, nil
	}
	o, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil, lang.Errorf("%q %w", f.key, errNotObject)
	}
	return o, nil
}

// once refuses duplicate keys: hosts differ in which one they use.
func (f jsonFile) once(d *jsonDocument, servers *hujson.Object, name string) error {
	count := func(o *hujson.Object, key string) (n int) {
		for _, m := range o.Members {
			if found, ok := m.Name.Value.(hujson.Literal); ok && found.String() == key {
				n++
			}
		}
		return n
	}
	if count(d.root, f.key) > 1 {
		return lang.Errorf("it has %q twice", f.key)
	}
	if servers != nil && count(servers, name) > 1 {
		return lang.Errorf("it has the server %q twice", name)
	}
	return nil
}

// decode reads a text as the host does.
func (f jsonFile) decode(text []byte) (map[string]any, error) {
	out := map[string]any{}
	text = bytes.TrimPrefix(text, bom)
	if len(bytes.TrimSpace(text)) == 0 {
		return out, nil
	}
	plain, err := hujson.Standardize(slices.Clone(text))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.UseNumber()
	return out, dec.Decode(&out)
}

// check returns a changed text if nothing but the entry of a name differs from before.
func (f jsonFile) check(before, after []byte, name string) ([]byte, error) {
	without := func(text []byte) (map[string]any, error) {
		all, err := f.decode(text)
		if err != nil {
			return nil, err
		}
		if servers, ok := all[f.key].(map[string]any); ok {
			if delete(servers, name); len(servers) == 0 {
				delete(all, f.key)
			}
		}
		return all, nil
	}
	was, err := without(before)
	if err != nil {
		return nil, err
	}
	is, err := without(after)
	if err != nil || !reflect.DeepEqual(was, is) {
		return nil, lang.Errorf("it is laid out so that the entry cannot be changed without touching something else")
	}
	return after, nil
}

func (f jsonFile) find(text []byte) ([]FoundEntry, error) {
	d, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	servers, err := f.servers(d)
	if err != nil {
		return nil, err
	}
	out := d.list(servers, "")
	if f.projects == "" {
		return out, nil
	}
	for _, project := range members(inner(d.root, f.projects)) {
		own, isObject := project.Value.Value.(*hujson.Object)
		if folder, ok := project.Name.Value.(hujson.Literal); ok && isObject {
			out = append(out, d.list(inner(own, f.key), folder.String())...)
		}
	}
	return out, nil
}

// inner returns the object under a key of an object, or nil if there is none.
func inner(o *hujson.Object, key string) *hujson.Object {
	m := member(o, key)
	if m == nil {
		return nil
	}
	out, _ := m.Value.Value.(*hujson.Object)
	return out
}

// members returns the members of an object, which may be nil.
func members(o *hujson.Object) []hujson.ObjectMember {
	if o == nil {
		return nil
	}
	return o.Members
}

// list returns the entries of an object, which may be nil.
func (d *jsonDocument) list(servers *hujson.Object, folder string) []FoundEntry {
	var out []FoundEntry
	for _, m := range members(servers) {
		if name, ok := m.Name.Value.(hujson.Literal); ok {
			entry := d.readEntry(name.String(), m.Value)
			entry.Folder = folder
			out = append(out, entry)
		}
	}
	return out
}

// readEntry reads an entry, and ignores parts of other types.
func (d *jsonDocument) readEntry(name string, v hujson.Value) FoundEntry {
	out := FoundEntry{Name: name}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return out
	}
	read := func(key string, into any) {
		if m := member(o, key); m != nil {
			value := m.Value.Clone()
			value.Standardize()
			_ = json.Unmarshal(value.Pack(), into) // a value of another type is ignored
		}
	}
	read("command", &out.Command)
	read("args", &out.Args)
	for _, key := range []string{"url", "httpUrl"} {
		read(key, &out.URL)
	}
	return out
}

func (f jsonFile) add(text []byte, e Entry) ([]byte, error) {
	d, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	servers, err := f.servers(d)
	if err == nil {
		err = f.once(d, servers, e.Name)
	}
	if err != nil {
		return nil, err
	}
	after, err := f.insert(text, d, servers, e)
	if err != nil {
		return nil, err
	}
	return f.check(text, after, e.Name)
}

func (f jsonFile) insert(text []byte, d *jsonDocument, servers *hujson.Object, e Entry) ([]byte, error) {
	style := d.style()
	if servers == nil {
		return d.insert(d.root, d.end, 0, style, f.all(e)), nil
	}
	m := member(servers, e.Name)
	if m == nil {
		return d.insert(servers, member(d.root, f.key).Value.EndOffset, 1, style, f.entry(e)), nil
	}
	there := d.readEntry(e.Name, m.Value)
	entry, isObject := m.Value.Value.(*hujson.Object)
	switch {
	case there.starts(e):
		return text, nil
	case !isObject || !Ours(there.Command, e.Command):
		return d.splice(m.Value.StartOffset, m.Value.EndOffset, f.entry(e).value(style, 2)), nil
	}
	if args := member(entry, "args"); !slices.Equal(there.Args, e.Args) {
		var changed []byte
		if args != nil {
			changed = d.splice(args.Value.StartOffset, args.Value.EndOffset, list(e.Args))
		} else {
			changed = d.insert(entry, m.Value.EndOffset, 2, style, pair{"args", literal(list(e.Args))})
		}
		return f.add(changed, e) // positions have changed
	}
	command := member(entry, "command").Value
	return d.splice(command.StartOffset, command.EndOffset, quote(e.Command)), nil
}

func (f jsonFile) remove(text []byte, name string) ([]byte, error) {
	d, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	servers, err := f.servers(d)
	if err == nil {
		err = f.once(d, servers, name)
	}
	if err != nil || servers == nil {
		return text, err
	}
	m := member(servers, name)
	if m == nil {
		return text, nil
	}
	around := member(d.root, f.key)
	if len(servers.Members) == 1 && !hasComment(servers.AfterExtra, m.Name.BeforeExtra, m.Value.AfterExtra, around.Name.AfterExtra, around.Value.BeforeExtra) {
		return f.check(text, d.cut(d.root, around, d.start, d.end), name) // the last one: nobody wants the empty list
	}
	return f.check(text, d.cut(servers, m, around.Value.StartOffset, around.Value.EndOffset), name)
}

func hasComment(extras ...hujson.Extra) bool {
	return slices.ContainsFunc(extras, func(e hujson.Extra) bool { return len(bytes.TrimSpace(e)) > 0 })
}

func (f jsonFile) snippet(e Entry) string {
	return style{indent: "  ", newline: "\n"}.object(0, []pair{f.all(e)}) + "\n"
}

// all returns the object of servers with one entry in it.
func (f jsonFile) all(e Entry) pair {
	return pair{f.key, func(s style, depth int) string { return s.object(depth, []pair{f.entry(e)}) }}
}

func (f jsonFile) entry(e Entry) pair {
	var pairs []pair
	if f.stdio {
		pairs = append(pairs, pair{"type", literal(quote("stdio"))})
	}
	pairs = append(pairs, pair{"command", literal(quote(e.Command))})
	if len(e.Args) > 0 {
		pairs = append(pairs, pair{"args", literal(list(e.Args))})
	}
	return pair{e.Name, func(s style, depth int) string { return s.object(depth, pairs) }}
}

// entryText returns the entry of a name in a valid file as JSON on one line.
func (f jsonFile) entryText(text []byte, name string) string {
	all, _ := f.decode(text)
	servers, _ := all[f.key].(map[string]any)
	data, _ := json.Marshal(servers[name]) // was JSON
	return string(data)
}

func quote(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text
	return strings.TrimRight(buf.String(), "\n")
}

// list writes texts as a list, which JSON and TOML write alike.
func list(items []string) string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = quote(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
