package workflow

import "testing"

// TestUnknownKeysAreKept looks for unknown keys where a quick look could miss or
// invent them: in values, in inner objects, escaped, in other letters.
func TestUnknownKeysAreKept(t *testing.T) {
	for text, want := range map[string]string{
		`{"number":1,"title":"a","status":"done"}`:                  "",
		`{"number":1,"title":"a: {\"x\": 1}","status":"x\":y"}`:     "",
		`{ "number" : 1 , "later" : {"number": [1, {"deep": 2}]} }`: `{"number": [1, {"deep": 2}]}`,
		`{"later":null,"number":1}`:                                 "null",
		`{"title":"{[\"","later":"}"}`:                              `"}"`,
		`{"NUMBER":1}`:                                              "",
		`{"n\u0075mber":1,"l\u0061ter":2}`:                          "2",
		`{}`:                                                        "",
	} {
		var s Sprint
		if err := Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if got := string(s.Extra["later"]); got != want || want == "" && len(s.Extra) != 0 {
			t.Errorf("%s keeps %q (%v), want %q", text, got, s.Extra, want)
		}
	}
}
