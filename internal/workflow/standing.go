package workflow

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// uncovered are the keys of a session that standingHash leaves out: the folder, which can be moved, the format, the
// time of the last change, and the history, of which each entry is signed.
var uncovered = []string{"cwd", "version", "updated_at", "history", "seals"}

// standingHash returns a hash of the session after the newest entry, at a revision: of everything that later decisions rely
// on. Unknown keys are left out, because people and other programs may put in their own.
//
// The text begins with the shape of the covered keys: a program that knows other keys computes another hash for the same
// session, which is not a change.
func (s *Session) standingHash(revision int) string {
	whole := *s
	whole.Revision = revision
	whole.Cwd, whole.Version = "", 0
	whole.UpdatedAt = time.Time{}
	whole.History, whole.Seals = nil, nil
	whole.Stages = maps.Clone(whole.Stages)
	maps.DeleteFunc(whole.Stages, func(_ StageID, r *Record) bool { return r == nil || r.isEmpty() })
	if len(whole.Stages) == 0 {
		whole.Stages = nil
	}
	data := canonicalJSON(whole, known)
	if data == nil {
		return ""
	}
	return standingShape() + ":" + Hash(data)
}

// known leaves the unknown keys out.
var known = json.DiscardUnknownMembers(true)

// isEmpty reports whether a record equals the one that [Session.Record] adds for a missing one.
func (r *Record) isEmpty() bool {
	if r.Status != Pending || r.Iteration > 0 || r.FinalResultRef != nil {
		return false // the quick answer for most records
	}
	return bytes.Equal(canonicalJSON(r, known), emptyRecord())
}

var emptyRecord = sync.OnceValue(func() []byte { return canonicalJSON(Record{Status: Pending}) })

// fits is the result of comparing a session with the newest entry.
type fits int

// The results of compareStanding.
const (
	fitting fits = iota
	unfitting
	incomparable // a program that covers other keys has written the entry
)

// compareStanding compares a session with the hash in the newest entry.
func (s *Session) compareStanding() fits {
	recorded := s.Last().Standing
	switch shape, _, _ := strings.Cut(recorded, ":"); {
	case shape != standingShape():
		return incomparable
	case recorded != s.standingHash(s.Revision):
		return unfitting
	}
	return fitting
}

// standingShape names the keys that standingHash covers, and how it computes the hash.
var standingShape = sync.OnceValue(func() string {
	keys := []string{"canonical"}
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
