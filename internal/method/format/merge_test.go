package format

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func fromJSON(t testing.TB, text string) any {
	t.Helper()
	var out any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// parseLayers reads layers of TOML, which have to be valid.
func parseLayers(t testing.TB, layers ...string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, text := range layers {
		values, err := ParseTOML(text, MaxCentralKeys)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		out = append(out, values)
	}
	return out
}

func TestMergeLayers(t *testing.T) {
	tests := []struct {
		name   string
		layers []string
		want   string
	}{
		{"nothing", nil, `{}`},
		{"one layer is itself", []string{"a = 1\n[b]\nc = [1, 2]"}, `{"a":1,"b":{"c":[1,2]}}`},
		{"an empty layer changes nothing", []string{"a = 1", "", "# only a comment"}, `{"a":1}`},
		{"plain values are replaced", []string{"a = 1\nb = 'x'\nc = true", "a = 2\nb = ''", "c = false"}, `{"a":2,"b":"","c":false}`},
		{"tables merge at any depth", []string{"[a.b]\nc = 1\nd = 2", "[a.b]\nd = 3\n[a.e]\nf = 4"}, `{"a":{"b":{"c":1,"d":3},"e":{"f":4}}}`},
		{"lists are lengthened, and keep what is twice", []string{"a = ['x', 'y']", "a = ['y', 'z']"}, `{"a":["x","y","y","z"]}`},
		{"an empty list takes nothing away", []string{"a = ['x']", "a = []"}, `{"a":["x"]}`},
		{"tables with a code are replaced whole, in place", []string{
			"[[m]]\ncode = 'A'\nx = 1\n[[m]]\ncode = 'B'\nx = 2", "[[m]]\ncode = 'A'\ny = 3\n[[m]]\ncode = 'C'",
		}, `{"m":[{"code":"A","y":3},{"code":"B","x":2},{"code":"C"}]}`},
		{"tables with an id", []string{"[[m]]\nid = 'A'\nx = 1", "[[m]]\nid = 'A'\nx = 2"}, `{"m":[{"id":"A","x":2}]}`},
		{"a code goes before an id", []string{"[[m]]\nid = 'A'\ncode = 'K'\nx = 1", "[[m]]\nid = 'B'\ncode = 'K'\nx = 2"}, `{"m":[{"code":"K","id":"B","x":2}]}`},
		{"by id where not all have a code", []string{"[[m]]\nid = 'A'\ncode = 'K'", "[[m]]\nid = 'A'"}, `{"m":[{"id":"A"}]}`},
		{"some with a code and some with an id are only put together", []string{"[[m]]\ncode = 'A'", "[[m]]\nid = 'A'"}, `{"m":[{"code":"A"},{"id":"A"}]}`},
		{"one without a key makes it a plain list", []string{"[[m]]\nid = 'A'", "[[m]]\nid = 'A'\n[[m]]\nname = 'B'"}, `{"m":[{"id":"A"},{"id":"A"},{"name":"B"}]}`},
		{"tables and texts are a plain list", []string{"m = [{id = 'A'}]", "m = ['A']"}, `{"m":[{"id":"A"},"A"]}`},
		{"a key that is there twice is replaced at its last place", []string{
			"[[m]]\nid = 'A'\nx = 1\n[[m]]\nid = 'A'\nx = 2", "[[m]]\nid = 'A'\nx = 3",
		}, `{"m":[{"id":"A","x":1},{"id":"A","x":3}]}`},
		{"a new key that is there twice is one", []string{"m = []", "[[m]]\nid = 'A'\nx = 1\n[[m]]\nid = 'A'\nx = 2"}, `{"m":[{"id":"A","x":2}]}`},
		{"keys differ by capitals", []string{"[[m]]\ncode = 'a'", "[[m]]\ncode = 'A'"}, `{"m":[{"code":"a"},{"code":"A"}]}`},
		{"lists within tables of a list are replaced with them", []string{"[[m]]\nid = 'A'\nl = [1]", "[[m]]\nid = 'A'\nl = [2]"}, `{"m":[{"id":"A","l":[2]}]}`},
		{"a table in place of a text", []string{"a = 'x'", "[a]\nb = 1"}, `{"a":{"b":1}}`},
		{"a text in place of a list", []string{"a = [1]", "a = 'x'"}, `{"a":"x"}`},
		{"a list in place of a table", []string{"[a]\nb = 1", "a = [1]"}, `{"a":[1]}`},
		{"three layers, each over the ones before", []string{"a = 1\nl = [1]", "a = 2\nl = [2]", "a = 3\nl = [3]"}, `{"a":3,"l":[1,2,3]}`},
	}
	for _, tt := range tests {
		layers := parseLayers(t, tt.layers...)
		before := toJSON(t, layers)
		got, err := MergeLayers(layers...)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !reflect.DeepEqual(fromJSON(t, toJSON(t, got)), fromJSON(t, tt.want)) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, toJSON(t, got), tt.want)
		}
		if after := toJSON(t, layers); after != before {
			t.Errorf("%s: a layer was changed: %s, before %s", tt.name, after, before)
		}
	}
}

// TestMergeLayersRefuses: a key by which tables are told apart has to be one.
func TestMergeLayersRefuses(t *testing.T) {
	tests := []struct{ name, base, over, want string }{
		{"a number", "[[a.m]]\ncode = 'A'", "[[a.m]]\ncode = 7", `a: m: the key "code"`},
		{"nothing in it", "[[m]]\nid = 'A'", "[[m]]\nid = ''", `m: the key "id"`},
		{"in the layer below", "[[m]]\nid = true", "[[m]]\nid = 'A'", `m: the key "id"`},
		{"a list", "[[m]]\ncode = ['A']", "[[m]]\ncode = 'A'", `m: the key "code"`},
		{"a code, though each has an id", "[[m]]\nid = 'A'\ncode = ''", "[[m]]\nid = 'A'\ncode = 'B'", `m: the key "code"`},
	}
	for _, tt := range tests {
		got, err := MergeLayers(parseLayers(t, tt.base, tt.over)...)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("%s: %v and %v, want an error that begins with %q", tt.name, got, err, tt.want)
		}
	}
	// A list that nothing is laid over is not looked at.
	if got, err := MergeLayers(parseLayers(t, "[[m]]\nid = 7", "x = 1")...); err != nil || toJSON(t, got) != `{"m":[{"id":7}],"x":1}` {
		t.Errorf("a list of one layer: %v, %v", got, err)
	}
}

func TestParseTOML(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a = 1\nb = = 2", "line 2, column 5"},
		{"[core\nx = 1", "line 1, column 6"},
		{"a = 1\na = 2", "line 2, column 1"},
		{"\ta = \"x", "line 1"},
	}
	for _, tt := range tests {
		values, err := ParseTOML(tt.text, MaxCentralKeys)
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(values) != 0 || values == nil {
			t.Errorf("%q: %v, %v, want %q", tt.text, values, err, tt.want)
		}
	}
	deep := func(n int) string { return "a" + strings.Repeat(".a", n-2) + " = 1" }
	if _, err := ParseTOML(deep(MaxDepth), MaxCentralKeys); err != nil {
		t.Errorf("tables as deep as may be: %v", err)
	}
	for _, text := range []string{deep(MaxDepth + 1), deep(5000), "a = " + strings.Repeat("[", 200) + strings.Repeat("]", 200)} {
		if values, err := ParseTOML(text, MaxCentralKeys); err == nil || !strings.Contains(err.Error(), "deep") || len(values) > 0 {
			t.Errorf("%.30s…: %v", text, err)
		}
	}
	values := parseLayers(t, "d = 2026-03-04\nt = 2026-03-04T05:06:07Z\nn = 1_000\nf = 1.5\nb = true\ns = 'x'\nl = [1]\n[m]\nx = 1")[0]
	for key, want := range map[string]string{"d": "2026-03-04", "t": "2026-03-04T05:06:07Z", "n": "1000", "f": "1.5", "b": "true", "s": "x"} {
		if got, ok := PlainText(values[key]); !ok || got != want {
			t.Errorf("%s is %q, %v, want %q", key, got, ok, want)
		}
	}
	for _, key := range []string{"l", "m", "nothing"} {
		if got, ok := PlainText(values[key]); ok {
			t.Errorf("%s is the plain value %q", key, got)
		}
	}
}

// TestManyKeys: a text with more keys than any file of the method has is refused before it is
// read: reading it would take minutes.
func TestManyKeys(t *testing.T) {
	for _, text := range []string{strings.Repeat("a=1\n", 300_000), strings.Repeat("\n[a]", 300_000), "x = {" + strings.Repeat("a=1,", 300_000) + "}"} {
		if _, err := ParseTOML(text, maxSkillKeys); err == nil || !strings.Contains(err.Error(), "at most 2000 are read") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
