package workflow

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// uncovered are the keys of a session that standing leaves out: what people may change,
// times, and the history itself.
var uncovered = []string{"task_name", "cwd", "version", "created_at", "updated_at", "history", "seals"}

// standing returns a hash of all that a later decision relies on and that no entry of the
// history says by itself: the objective, answers and their channels, sprints, approvals,
// policies, documents, counters. Unknown keys are left out, too.
//
// It begins with the shape of what it covers: a program that knows other keys finds
// another hash for the same session, and must not take that for a change.
func (s *Session) standing(revision int) string {
	whole := *s
	whole.TaskName, whole.Cwd, whole.Version, whole.Revision = "", "", 0, revision
	whole.CreatedAt, whole.UpdatedAt = time.Time{}, time.Time{}
	whole.History, whole.Seals = nil, nil
	if hasExtra(reflect.ValueOf(whole)) {
		data, err := json.Marshal(whole)
		if err != nil {
			return ""
		}
		whole = Session{}
		if json.Unmarshal(data, &whole) != nil {
			return ""
		}
		dropExtra(reflect.ValueOf(&whole).Elem())
	}
	whole.Stages = maps.Clone(whole.Stages)
	maps.DeleteFunc(whole.Stages, func(_ StageID, r *Record) bool { // one is made where it is looked for
		return r == nil || reflect.DeepEqual(*r, Record{Status: Pending})
	})
	if len(whole.Stages) == 0 {
		whole.Stages = nil
	}
	data, err := json.Marshal(whole)
	if err != nil {
		return ""
	}
	return standingShape() + ":" + Hash(data)
}

// stands reports whether a session is what its newest entry left. One whose newest entry
// says nothing of it, or was written by a program that covers other keys, is.
func (s *Session) stands() bool {
	said := s.Last().Standing
	shape, _, ok := strings.Cut(said, ":")
	return !ok || shape != standingShape() || said == s.standing(s.Revision)
}

var extraType = reflect.TypeFor[Extra]()

// inside calls visit for the values right inside a value, until it returns true.
func inside(v reflect.Value, visit func(reflect.Value) bool) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && visit(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if visit(v.Index(i)) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if visit(it.Value()) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && visit(v.Field(i)) {
				return true
			}
		}
	}
	return false
}

// hasExtra reports whether there are unknown keys anywhere in a value.
func hasExtra(v reflect.Value) bool {
	if v.Type() == extraType {
		return v.Len() > 0
	}
	return inside(v, hasExtra)
}

// dropExtra drops the unknown keys of a value and of all inside it.
func dropExtra(v reflect.Value) bool {
	switch {
	case v.Type() == extraType && v.CanSet():
		v.SetZero()
	case v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct: // its values cannot be set in their place
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			inside(value, dropExtra)
			v.SetMapIndex(key, value)
		}
	case v.Type() != extraType:
		inside(v, dropExtra)
	}
	return false
}

// standingShape names the keys that standing covers.
var standingShape = sync.OnceValue(func() string {
	var keys []string
	var add func(t reflect.Type, path string)
	add = func(t reflect.Type, path string) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			add(t.Elem(), path)
		case reflect.Struct:
			if t == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range t.NumField() {
				name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
				if name == "-" || path == "" && slices.Contains(uncovered, name) {
					continue
				}
				keys = append(keys, path+"."+name)
				add(t.Field(i).Type, path+"."+name)
			}
		}
	}
	add(reflect.TypeFor[Session](), "")
	return Hash([]byte(strings.Join(keys, "\n")))[:8]
})
