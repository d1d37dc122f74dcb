package workflow_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// fill gives every field below a value something other than its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_800_000_000, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint('7')
	case reflect.Float64:
		v.SetFloat(7)
	default:
		panic("a session has a " + v.Kind().String())
	}
}

// findShared returns the paths at which two values have one memory that can be changed.
func findShared(a, b reflect.Value, path string) (out []string) {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if !a.IsNil() && a.UnsafePointer() == b.UnsafePointer() && (a.Kind() != reflect.Slice || a.Len() > 0) {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() {
			return nil
		}
		return findShared(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		for i := range a.Len() {
			out = append(out, findShared(a.Index(i), b.Index(i), path+"[]")...)
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			out = append(out, findShared(a.MapIndex(key), b.MapIndex(key), path+"{}")...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() {
				out = append(out, findShared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)...)
			}
		}
	}
	return out
}

// TestClone checks that a copy is equal, and no change of it shows in the run.
func TestClone(t *testing.T) {
	var s workflow.Session
	fill(reflect.ValueOf(&s).Elem())
	s.Extra = workflow.Extra{"else": json.RawMessage(`{"a":1}`)}
	for name, session := range map[string]*workflow.Session{"full": &s, "empty": {}, "new": workflow.Default().NewSession("id", "build", "/p", "me", time.Now())} {
		copied := session.Clone()
		if !reflect.DeepEqual(copied, session) {
			t.Errorf("%s: the copy is\n%+v\nof\n%+v", name, copied, session)
		}
		if same := findShared(reflect.ValueOf(copied), reflect.ValueOf(session), "session"); len(same) > 0 {
			t.Errorf("%s: the copy shares %q", name, same)
		}
	}
}
