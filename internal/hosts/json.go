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

// jsonFile is a JSON file with servers in an object, by name.
type jsonFile struct {
	// key is the object's key.
	key string
	// stdio is true if entries state this type.
	stdio bool
	// comments, commas (trailing), empty (an empty file) and bom are true if the host accepts these
	// beyond JSON.
	comments, commas, empty, bom bool
	// projects is the key of an object with more servers, for one project each.
	projects string
}

var bom = []byte("\xef\xbb\xbf")

// errNotObject is the error for a root of another kind.
var errNotObject = lang.Errorf("is not an object")

// jsonDocument is a parsed file.
type jsonDocument struct {
	// text is the parsed text, without the BOM, which is in mark.
	mark, text []byte
	root       *hujson.Object
	start, end int // of the root
}

func (f jsonFile) parseText(text []byte) (*jsonDocument, error) {
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
	if isDeep(text) {
		return nil, lang.Errorf("it nests deeper than %d levels", maxDepth)
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return nil, trimLibrary(err)
	}
	if err := f.refuseUnread(text, value); err != nil {
		return nil, err
	}
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, lang.Errorf("its top level %w", errNotObject)
	}
	d.root, d.start, d.end = root, value.StartOffset, value.EndOffset
	return d, nil
}

// maxDepth is a depth that the parser, which has no bound, can bear. A deeper file would end the process.
const maxDepth = 100_000

// isDeep reports whether a text may nest too deep: brackets in strings and comments count as well.
func isDeep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// trimLibrary removes the library's name from an error.
func trimLibrary(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "hujson: ")) }

// refuseUnread refuses a file that the host itself would not read: it would ignore the file, or us.
func (f jsonFile) refuseUnread(text []byte, value hujson.Value) error {
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

// memberOf returns the value of a key of an object, the last one if there are several, as
// the hosts read it.
func memberOf(o *hujson.Object, key string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if name, ok := o.Members[i].Name.Value.(hujson.Literal); ok && name.String() == key {
			return &o.Members[i]
		}
	}
	return nil
}

// serversOf returns the object with the servers, or nil if there is none.
func (f jsonFile) serversOf(d *jsonDocument) (*hujson.Object, error) {
	m := memberOf(d.root, f.key)
	if m == nil {
		return nil, nil
	}
	o, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil, lang.Errorf("%q %w", f.key, errNotObject)
	}
	return o, nil
}

// refuseDuplicates refuses duplicate keys: hosts differ in which one they use.
func (f jsonFile) refuseDuplicates(d *jsonDocument, servers *hujson.Object, name string) error {
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

// decodeText reads a text as the host does.
func (f jsonFile) decodeText(text []byte) (map[string]any, error) {
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

// checkChange returns a changed text if nothing but the entry of a name differs from before.
func (f jsonFile) checkChange(before, after []byte, name string) ([]byte, error) {
	without := func(text []byte) (map[string]any, error) {
		all, err := f.decodeText(text)
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

func (f jsonFile) findEntries(text []byte) ([]FoundEntry, error) {
	d, err := f.parseText(text)
	if err != nil {
		return nil, err
	}
	servers, err := f.serversOf(d)
	if err != nil {
		return nil, err
	}
	out := d.listEntries(servers, "")
	if f.projects == "" {
		return out, nil
	}
	for _, project := range membersOf(objectUnder(d.root, f.projects)) {
		own, isObject := project.Value.Value.(*hujson.Object)
		if folder, ok := project.Name.Value.(hujson.Literal); ok && isObject {
			out = append(out, d.listEntries(objectUnder(own, f.key), folder.String())...)
		}
	}
	return out, nil
}

// objectUnder returns the object under a key of an object, or nil if there is none.
func objectUnder(o *hujson.Object, key string) *hujson.Object {
	m := memberOf(o, key)
	if m == nil {
		return nil
	}
	out, _ := m.Value.Value.(*hujson.Object)
	return out
}

// membersOf returns the members of an object, which may be nil.
func membersOf(o *hujson.Object) []hujson.ObjectMember {
	if o == nil {
		return nil
	}
	return o.Members
}

// listEntries returns the entries of an object, which may be nil.
func (d *jsonDocument) listEntries(servers *hujson.Object, folder string) []FoundEntry {
	var out []FoundEntry
	for _, m := range membersOf(servers) {
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
		if m := memberOf(o, key); m != nil {
			value := m.Value.Clone()
			value.Standardize()
			_ = json.Unmarshal(value.Pack(), into) // a value of another type is ignored
		}
	}
	for _, m := range o.Members {
		key, ok := m.Name.Value.(hujson.Literal)
		out.More = out.More || ok && isMore(key.String())
	}
	read("command", &out.Command)
	read("args", &out.Args)
	read("env", &out.Env)
	for _, key := range []string{"url", "httpUrl"} {
		read(key, &out.URL)
	}
	return out
}

func (f jsonFile) addEntry(text []byte, e Entry) ([]byte, error) {
	d, err := f.parseText(text)
	if err != nil {
		return nil, err
	}
	servers, err := f.serversOf(d)
	if err == nil {
		err = f.refuseDuplicates(d, servers, e.Name)
	}
	if err != nil {
		return nil, err
	}
	after, err := f.insertEntry(text, d, servers, e)
	if err != nil {
		return nil, err
	}
	return f.checkChange(text, after, e.Name)
}

func (f jsonFile) insertEntry(text []byte, d *jsonDocument, servers *hujson.Object, e Entry) ([]byte, error) {
	style := d.findStyle()
	if servers == nil {
		return d.insertMember(d.root, d.end, 0, style, f.serversPair(e)), nil
	}
	m := memberOf(servers, e.Name)
	if m == nil {
		return d.insertMember(servers, memberOf(d.root, f.key).Value.EndOffset, 1, style, f.entryPair(e)), nil
	}
	there := d.readEntry(e.Name, m.Value)
	entry, isObject := m.Value.Value.(*hujson.Object)
	switch {
	case there.startsAs(e):
		return text, nil
	case !isObject || !Ours(there.Command, e.Command):
		return d.replacePart(m.Value.StartOffset, m.Value.EndOffset, f.entryPair(e).value(style, 2)), nil
	}
	if args := memberOf(entry, "args"); !slices.Equal(there.Args, e.Args) {
		var changed []byte
		if args != nil {
			changed = d.replacePart(args.Value.StartOffset, args.Value.EndOffset, textList(e.Args))
		} else {
			changed = d.insertMember(entry, m.Value.EndOffset, 2, style, pair{"args", fixedValue(textList(e.Args))})
		}
		return f.addEntry(changed, e) // positions have changed
	}
	command := memberOf(entry, "command").Value
	return d.replacePart(command.StartOffset, command.EndOffset, quoteText(e.Command)), nil
}

// hasServers reports whether a text has a list of servers.
func (f jsonFile) hasServers(text []byte) bool {
	d, err := f.parseText(text)
	return err == nil && memberOf(d.root, f.key) != nil
}

// removeEntry returns the text without an entry, and without the list if that leaves it empty, unless keep is true.
func (f jsonFile) removeEntry(text []byte, name string, keep bool) ([]byte, error) {
	d, err := f.parseText(text)
	if err != nil {
		return nil, err
	}
	servers, err := f.serversOf(d)
	if err == nil {
		err = f.refuseDuplicates(d, servers, name)
	}
	if err != nil || servers == nil {
		return text, err
	}
	m := memberOf(servers, name)
	if m == nil {
		return text, nil
	}
	around := memberOf(d.root, f.key)
	if !keep && len(servers.Members) == 1 && !hasComment(servers.AfterExtra, m.Name.BeforeExtra, m.Value.AfterExtra, around.Name.AfterExtra, around.Value.BeforeExtra) {
		return f.checkChange(text, d.cutMember(d.root, around, d.start, d.end), name) // the last one: nobody wants the empty list
	}
	return f.checkChange(text, d.cutMember(servers, m, around.Value.StartOffset, around.Value.EndOffset), name)
}

func hasComment(extras ...hujson.Extra) bool {
	return slices.ContainsFunc(extras, func(e hujson.Extra) bool { return len(bytes.TrimSpace(e)) > 0 })
}

func (f jsonFile) snippet(e Entry) string {
	return style{indent: "  ", newline: "\n"}.formatObject(0, []pair{f.serversPair(e)}) + "\n"
}

// serversPair returns the object of servers with one entry in it.
func (f jsonFile) serversPair(e Entry) pair {
	return pair{f.key, func(s style, depth int) string { return s.formatObject(depth, []pair{f.entryPair(e)}) }}
}

func (f jsonFile) entryPair(e Entry) pair {
	var pairs []pair
	if f.stdio {
		pairs = append(pairs, pair{"type", fixedValue(quoteText("stdio"))})
	}
	pairs = append(pairs, pair{"command", fixedValue(quoteText(e.Command))})
	if len(e.Args) > 0 {
		pairs = append(pairs, pair{"args", fixedValue(textList(e.Args))})
	}
	return pair{e.Name, func(s style, depth int) string { return s.formatObject(depth, pairs) }}
}

// entryText returns the entry of a name in a valid file as JSON on one line.
func (f jsonFile) entryText(text []byte, name string) string {
	all, _ := f.decodeText(text)
	servers, _ := all[f.key].(map[string]any)
	data, _ := json.Marshal(servers[name]) // was JSON
	return string(data)
}

func quoteText(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text
	return strings.TrimRight(buf.String(), "\n")
}

// textList writes texts as a list, which JSON and TOML write alike.
func textList(items []string) string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = quoteText(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
