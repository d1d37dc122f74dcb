package workflow

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// fill gives every field inside a value a content, so that nothing is left out of a file.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("7"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		if v.Type() == reflect.TypeFor[Extra]() {
			return
		}
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// reread returns a session as it comes from its file.
func reread(t *testing.T, s *Session) *Session {
	t.Helper()
	data, err := MarshalIndent(s)
	if err != nil {
		t.Fatal(err)
	}
	var out Session
	if err := Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// TestStandingCoversEveryKey takes each key out of the stored form of a session that has
// all of them: all but those that are named make another session of it.
func TestStandingCoversEveryKey(t *testing.T) {
	var s Session
	fill(reflect.ValueOf(&s).Elem())
	s.History, s.Seals = nil, nil
	want := s.standingHash(7)
	if got := reread(t, &s).standingHash(7); got != want {
		t.Fatal("reading it anew changes it")
	}
	var whole map[string]any
	data, err := Marshal(s)
	if err != nil || json.Unmarshal(data, &whole) != nil {
		t.Fatal(err)
	}
	seen := 0
	var walk func(at map[string]any, path string)
	walk = func(at map[string]any, path string) {
		for _, key := range slices.Sorted(mapKeys(at)) {
			kept := at[key]
			if inner, ok := kept.(map[string]any); ok {
				walk(inner, path+"."+key)
			}
			if list, ok := kept.([]any); ok && len(list) > 0 {
				if inner, ok := list[0].(map[string]any); ok {
					walk(inner, path+"."+key)
				}
			}
			delete(at, key)
			data, err := json.Marshal(whole)
			at[key] = kept
			var without Session
			if err != nil || Unmarshal(data, &without) != nil {
				t.Fatal(err)
			}
			seen++
			covered := path != "" || !slices.Contains(append(slices.Clone(uncovered), "revision"), key) // the revision is given
			if same := without.standingHash(7) == want; same == covered {
				t.Errorf("%s.%s: covered %v", path, key, !same)
			}
		}
	}
	walk(whole, "")
	if seen < 90 {
		t.Errorf("only %d keys were looked at", seen)
	}
	if s.standingHash(8) == want {
		t.Error("the revision is not covered")
	}
}

func mapKeys(m map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestStandingLeavesOutUnknownKeys: people and other programs may put in their own.
func TestStandingLeavesOutUnknownKeys(t *testing.T) {
	var s Session
	fill(reflect.ValueOf(&s).Elem())
	s.Stages = map[StageID]*Record{PO: s.Stages["x"]}
	want := s.standingHash(7)
	note := Extra{"note": json.RawMessage(`{"deep":[1]}`)}
	for name, put := range map[string]func(s *Session){
		"a session":  func(s *Session) { s.Extra = note },
		"a stage":    func(s *Session) { s.Stages[PO].Extra = note },
		"a sprint":   func(s *Session) { s.Sprints[0].Extra = note },
		"a policy":   func(s *Session) { p := s.Policy["x"]; p.Extra = note; s.Policy["x"] = p },
		"a finding":  func(s *Session) { s.Stages[PO].Findings[0].Extra = note },
		"an audit":   func(s *Session) { s.Stages[PO].Audit.Extra = note },
		"a ref":      func(s *Session) { s.Stages[PO].FinalResultRef.Extra = note },
		"a question": func(s *Session) { s.Stages[PO].Asked[0].Extra = note },
		"a stage that was not there": func(s *Session) {
			s.Record(QA).Extra = note
		},
		"an empty stage": func(s *Session) { s.Record(QA) },
	} {
		changed := reread(t, &s)
		put(changed)
		if changed.standingHash(7) != want {
			t.Errorf("in %s: it is another session", name)
		}
		if again := reread(t, changed); again.standingHash(7) != want || strings.Contains(name, "a session") && again.Extra == nil {
			t.Errorf("in %s: read anew, it is another session", name)
		}
	}
}

// TestStandingOfAnotherShape checks that the hash of a program that covers other keys is not
// compared.
func TestStandingOfAnotherShape(t *testing.T) {
	s := Default().NewSession("id", "o", "/p", "test", time.Unix(1, 0).UTC())
	for said, want := range map[string]fits{
		"": incomparable, s.standingHash(s.Revision): fitting, s.standingHash(s.Revision + 1): unfitting,
		standingShape() + ":": unfitting, standingShape() + ":x": unfitting, "00000000:" + strings.Repeat("0", 64): incomparable, "later form": incomparable,
	} {
		s.History[0].Standing = said
		if s.compareStanding() != want {
			t.Errorf("%q: %v", said, s.compareStanding())
		}
	}
}
