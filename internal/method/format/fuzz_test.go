package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCSV: a manifest has no more rows than lines, and only the fields of its header.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"", "name,path\na,b\n", "\ufeffname,path\r\n\"a\",\"b\"\r\n", "name,path\n\"two\nlines\",x,more,still\nshort\n", "name\n\"never closed\na\nb", "a,a\n1,2\n", "\"na\"me,x\ny\"z,\"\"\"q\"\"\"\n", ",,\n,,\n", "\n\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data string) {
		data = Normalize([]byte(data))
		rows, err := Rows(data)
		if len(rows) > strings.Count(data, "\n")+1 {
			t.Fatalf("%d rows of %q", len(rows), data)
		}
		fields := map[string]bool{}
		for _, r := range rows {
			for name, value := range r {
				if name != strings.TrimSpace(name) || value != strings.TrimSpace(value) {
					t.Fatalf("field %q is %q, of %q", name, value, data)
				}
				fields[name] = true
			}
			if plain := r.Plain("name", "path"); strings.ContainsAny(plain, "\n\r\t") {
				t.Fatalf("%q is no line", plain)
			}
		}
		if len(fields) > strings.Count(data, ",")+strings.Count(data, ";")+strings.Count(data, "\t")+1 {
			t.Fatalf("the fields %v of %q", fields, data)
		}
		if again, err2 := Rows(data); fmt.Sprint(rows, err) != fmt.Sprint(again, err2) {
			t.Fatalf("read twice: %v and %v", rows, again)
		}
	})
}

// FuzzNormalize: any bytes become text that parsers read, and the text stays as it is.
func FuzzNormalize(f *testing.F) {
	for _, text := range []string{"", "a\r\nb\rc", "\ufeffa", "\xff\xfea\x00", "\xfe\xff\x00a\x00", "\xff\xfe\x3d\xd8", "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := Normalize(data)
		if !utf8.ValidString(text) || strings.Contains(text, "\r") || !strings.HasPrefix(text, "\ufeff") && Normalize([]byte(text)) != text {
			t.Fatalf("%q becomes %q", data, text)
		}
	})
}

// FuzzFrontMatter: the front matter and the rest are both parts of the text.
func FuzzFrontMatter(f *testing.F) {
	for _, text := range []string{
		"", "# X\n", "---\nname: a\ndescription: b\n---\nbody\n", "---\nname: a: b\n# c\n- d: e\n---", "---\n---\n", "---\nname: 'it''s'\n---\n\n---\nmore\n", "---\nname: x", "---\n\t: [\n---\n", "---\na: &x [*x]\nname: *x\n---\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data string) {
		data = Normalize([]byte(data))
		front, body, ok := FrontMatter(data)
		switch {
		case !ok && (body != data || front.Name != ""):
			t.Fatalf("no front matter, and %q of %q", body, data)
		case ok && (!strings.HasPrefix(data, "---\n") || !strings.HasSuffix(data, body)):
			t.Fatalf("%q is not the rest of %q", body, data)
		}
		if strings.ContainsAny(front.Name+front.Description, "\n\t\r") || !utf8.ValidString(front.Name) {
			t.Fatalf("%q, %q are no lines", front.Name, front.Description)
		}
		for key := range Scalars(data) {
			if strings.ContainsAny(key, " \n") {
				t.Fatalf("the key %q", key)
			}
		}
	})
}

// FuzzTOML: layers that are TOML merge into one that has the keys of all, and stay as they are.
func FuzzTOML(f *testing.F) {
	f.Add("a = 1\n[b]\nc = [1]\n", "[b]\nc = [2]\n", "a = 2")
	f.Add("[[m]]\ncode = 'A'\n", "[[m]]\ncode = 'A'\nx = 1\n[[m]]\ncode = 'B'\n", "[[m]]\nid = 'A'\n")
	f.Add("[[m]]\nid = ''\n", "[[m]]\nid = 'A'\n", "m = 'x'")
	f.Add("a.b.c = inf\n", "a.b = {d = 2026-01-02}", "a = [[1], ['x'], [{id = 'y'}]]")
	f.Fuzz(func(t *testing.T, one, two, three string) {
		var layers []map[string]any
		for _, text := range []string{one, two, three} {
			values, err := ParseTOML(text, MaxCentralKeys)
			if err != nil && len(values) > 0 {
				t.Fatalf("%v and %v", err, values)
			}
			layers = append(layers, values)
		}
		before := fmt.Sprint(layers)
		merged, err := MergeLayers(layers...)
		if after := fmt.Sprint(layers); after != before {
			t.Fatalf("a layer was changed: %s, before %s", after, before)
		}
		if err != nil {
			return
		}
		for _, layer := range layers {
			for key := range layer {
				if _, ok := merged[key]; !ok {
					t.Fatalf("%s is lost", key)
				}
			}
		}
		if alone, err := MergeLayers(layers[0]); err != nil || fmt.Sprint(alone) != fmt.Sprint(layers[0]) {
			t.Fatalf("one layer alone is %v, %v", alone, err)
		}
		for key, value := range merged {
			if list, ok := value.([]any); ok {
				if unique, err := identityKey(list); err == nil && unique != "" && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(map[string]any); return ok }) {
					t.Fatalf("%s has tables by %s and none", key, unique)
				}
			}
		}
		if again, err := MergeLayers(merged, map[string]any{}); err != nil || fmt.Sprint(again) != fmt.Sprint(merged) {
			t.Fatalf("with an empty layer over it: %v, %v", again, err)
		}
	})
}
