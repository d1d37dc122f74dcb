package workflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Extra holds the keys of a stored object that this build does not know, so
// that a rewrite by an older or other program loses nothing.
type Extra map[string]json.RawMessage

var knownKeys sync.Map // reflect.Type → map[string]bool

func keysOf(t reflect.Type) map[string]bool {
	if m, ok := knownKeys.Load(t); ok {
		return m.(map[string]bool)
	}
	m := map[string]bool{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		m[name] = true
	}
	knownKeys.Store(t, m)
	return m
}

// unmarshalKeeping decodes data, valid JSON, into known, a pointer to a struct
// without methods, and the keys that struct does not have into extra.
func unmarshalKeeping(data []byte, known any, extra *Extra) error {
	if err := json.Unmarshal(data, known); err != nil {
		return err
	}
	keys := keysOf(reflect.TypeOf(known).Elem())
	if !hasOther(data, keys) {
		return nil // the ordinary case
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for k := range all {
		// encoding/json matches keys without regard to case; so must this.
		if keys[k] || keys[strings.ToLower(k)] {
			delete(all, k)
		}
	}
	if len(all) > 0 {
		*extra = all
	}
	return nil
}

// hasOther reports whether an object may have a key that is not among those given.
// Every value of a session file passes through here, so it only looks for the strings
// that stand before a colon, and leaves what is unusual to the decoder.
func hasOther(data []byte, keys map[string]bool) bool {
	depth, key := 0, []byte(nil)
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ':':
			if depth == 1 && !keys[string(key)] {
				return true
			}
		case '"':
			start := i + 1
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			key = data[start:min(i, len(data))]
		}
	}
	return false
}

// marshalKeeping encodes known, a struct without methods, followed by extra in key order.
func marshalKeeping(known any, extra Extra) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(known); err != nil {
		return nil, err
	}
	out := bytes.TrimRight(buf.Bytes(), "\n")
	if len(extra) == 0 {
		return out, nil
	}
	out = out[:len(out)-1] // the closing brace
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), extra[k]...)
	}
	return append(out, '}'), nil
}

type (
	plainSession    Session
	plainRecord     Record
	plainTransition Transition
	plainContentRef ContentRef
	plainQuestion   Question
	plainFinding    Finding
	plainCriterion  Criterion
	plainResolution Resolution
	plainSprint     Sprint
	plainArtifact   Artifact
	plainGrant      Grant
	plainPolicy     Policy
	plainAudit      Audit
	plainEvidence   Evidence
	plainProgress   Progress
	plainSpan       Span
	plainSeal       Seal
	plainAdoption   Adoption

	plainVerifyCommand VerifyCommand
)

// MarshalJSON writes the stored form, unknown keys included.
func (v Session) MarshalJSON() ([]byte, error) { return marshalKeeping(plainSession(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Session) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainSession)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Record) MarshalJSON() ([]byte, error) { return marshalKeeping(plainRecord(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Record) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainRecord)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Transition) MarshalJSON() ([]byte, error) { return marshalKeeping(plainTransition(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Transition) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainTransition)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v ContentRef) MarshalJSON() ([]byte, error) { return marshalKeeping(plainContentRef(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *ContentRef) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainContentRef)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Question) MarshalJSON() ([]byte, error) { return marshalKeeping(plainQuestion(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Question) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainQuestion)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Finding) MarshalJSON() ([]byte, error) { return marshalKeeping(plainFinding(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Finding) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainFinding)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Criterion) MarshalJSON() ([]byte, error) { return marshalKeeping(plainCriterion(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Criterion) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainCriterion)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Resolution) MarshalJSON() ([]byte, error) { return marshalKeeping(plainResolution(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Resolution) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainResolution)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Sprint) MarshalJSON() ([]byte, error) { return marshalKeeping(plainSprint(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Sprint) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainSprint)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Artifact) MarshalJSON() ([]byte, error) { return marshalKeeping(plainArtifact(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Artifact) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainArtifact)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Grant) MarshalJSON() ([]byte, error) { return marshalKeeping(plainGrant(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Grant) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainGrant)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Policy) MarshalJSON() ([]byte, error) { return marshalKeeping(plainPolicy(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Policy) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainPolicy)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Audit) MarshalJSON() ([]byte, error) { return marshalKeeping(plainAudit(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Audit) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainAudit)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Evidence) MarshalJSON() ([]byte, error) { return marshalKeeping(plainEvidence(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Evidence) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainEvidence)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Progress) MarshalJSON() ([]byte, error) { return marshalKeeping(plainProgress(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Progress) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainProgress)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Seal) MarshalJSON() ([]byte, error) { return marshalKeeping(plainSeal(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Seal) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainSeal)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Span) MarshalJSON() ([]byte, error) { return marshalKeeping(plainSpan(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Span) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainSpan)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v VerifyCommand) MarshalJSON() ([]byte, error) {
	return marshalKeeping(plainVerifyCommand(v), v.Extra)
}

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *VerifyCommand) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainVerifyCommand)(v), &v.Extra)
}

// MarshalJSON writes the stored form, unknown keys included.
func (v Adoption) MarshalJSON() ([]byte, error) { return marshalKeeping(plainAdoption(v), v.Extra) }

// UnmarshalJSON reads the stored form and keeps unknown keys.
func (v *Adoption) UnmarshalJSON(b []byte) error {
	return unmarshalKeeping(b, (*plainAdoption)(v), &v.Extra)
}
