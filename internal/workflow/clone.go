package workflow

import (
	"reflect"
	"time"
)

// Clone returns a copy of the session that shares nothing changeable with it.
func (s *Session) Clone() *Session {
	return cloneValue(reflect.ValueOf(s).Elem()).Addr().Interface().(*Session)
}

// cloneValue returns a copy of an addressable value. Unexported fields are copied as they are: here
// only times have them.
func cloneValue(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(cloneValue(v.Elem()).Addr())
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			reflect.Copy(out, v)
			for i := range v.Len() {
				if !hasReferences(v.Type().Elem()) {
					break
				}
				out.Index(i).Set(cloneValue(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for entry := v.MapRange(); entry.Next(); {
				out.SetMapIndex(entry.Key(), cloneValue(entry.Value()))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if out.Field(i).CanSet() && hasReferences(v.Field(i).Type()) {
				out.Field(i).Set(cloneValue(v.Field(i)))
			}
		}
	}
	return out
}

// hasReferences reports whether values of a type can contain something changeable in place.
func hasReferences(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	}
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]()
}
