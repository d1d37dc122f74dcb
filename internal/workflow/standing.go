package workflow

import (
	"bytes"
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
	whole.Stages = maps.Clone(whole.Stages)
	empty, _ := hashed(Record{Status: Pending})
	maps.DeleteFunc(whole.Stages, func(_ StageID, r *Record) bool { // Session.Record makes one where it finds none
		data, err := hashed(r, known)
		return r == nil || err == nil && bytes.Equal(data, empty)
	})
	if len(whole.Stages) == 0 {
		whole.Stages = nil
	}
	data, err := hashed(whole, known)
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
				if name == "" || name == "-" || path == "" && slices.Contains(uncovered, name) {
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
