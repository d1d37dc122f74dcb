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

// uncovered are the keys of a session that standing leaves out: those that people may change,
// times, and the history itself.
var uncovered = []string{"task_name", "cwd", "version", "created_at", "updated_at", "history", "seals"}

// standing returns a hash of everything that later decisions rely on and that the entries of
// the history do not contain: the objective, answers and their channels, sprints, approvals,
// policies, documents, counters. Unknown keys are left out, too.
//
// It begins with the shape of the covered keys: a program that knows other keys computes
// another hash for the same session, which is not a change.
func (s *Session) standing(revision int) string {
	whole := *s
	whole.TaskName, whole.Cwd, whole.Version, whole.Revision = "", "", 0, revision
	whole.CreatedAt, whole.UpdatedAt = time.Time{}, time.Time{}
	whole.History, whole.Seals = nil, nil
	whole.Stages = maps.Clone(whole.Stages)
	empty, _ := encodeForHash(Record{Status: Pending})
	maps.DeleteFunc(whole.Stages, func(_ StageID, r *Record) bool { // Session.Record adds missing ones
		data, err := encodeForHash(r, known)
		return r == nil || err == nil && bytes.Equal(data, empty)
	})
	if len(whole.Stages) == 0 {
		whole.Stages = nil
	}
	data, err := encodeForHash(whole, known)
	if err != nil {
		return ""
	}
	return standingShape() + ":" + Hash(data)
}

// The shapes of programs that covered the same keys otherwise: without the rows of reports,
// before those without the change requests of a record, and before those without a session's
// workflow and approved scope, too.
const withoutRows, withoutRequests, withoutWorkflows = "6dbcfef2", "2928bc11", "fa933583"

// stands reports whether a session is unchanged since its newest entry. That cannot be checked,
// and is taken to be so, if the entry has no standing, or one of a program with other keys.
func (s *Session) stands() bool {
	shape, hash, ok := strings.Cut(s.Last().Standing, ":")
	switch {
	case !ok:
		return true
	case shape == standingShape():
		return s.Last().Standing == s.standing(s.Revision)
	case shape != withoutRows && shape != withoutRequests && shape != withoutWorkflows:
		return true
	}
	then := *s
	then.Stages = maps.Clone(s.Stages)
	if shape == withoutWorkflows {
		then.Workflow = nil
	}
	for id, r := range then.Stages {
		if r == nil || shape == withoutRows {
			continue
		}
		plain := *r
		plain.ChangeRequests = nil
		if shape == withoutWorkflows {
			plain.ApprovedScope = nil
		}
		then.Stages[id] = &plain
	}
	if _, now, _ := strings.Cut(then.standing(s.Revision), ":"); now != hash {
		return false
	}
	// A workflow was added by other means if no entry is by a program that stores it in the session.
	return shape != withoutWorkflows || s.Workflow == nil || slices.ContainsFunc(s.History, func(t Transition) bool {
		shape, _, ok := strings.Cut(t.Standing, ":")
		return ok && shape != withoutWorkflows
	})
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
				if t.Field(i).Anonymous {
					add(t.Field(i).Type, path)
					continue
				}
				name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
				covered := path != "" || !slices.Contains(uncovered, name)
				if name == "" || name == "-" || !covered {
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
