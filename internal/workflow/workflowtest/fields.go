package workflowtest

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Field is a text, a number or the key of a map in a session.
type Field struct {
	// Path names the field by the keys, for example "history.grant.channel". The path of a key of a
	// map ends in "{}".
	Path string
	// Value is the field's text at first.
	Value string
	// Text and Number set the field's value; the other of them is nil.
	Text   func(value string)
	Number func(value int64)
}

// Full returns a session in which every field has a value, and all texts and numbers in it. The workflow has one
// stage, x.
func Full(id string) (*workflow.Session, []Field) {
	s := &workflow.Session{}
	var all []Field
	fill(reflect.ValueOf(s).Elem(), "", &all)
	text := ".bmad-task/temp/" + id + "/a.md"
	values := map[string]string{
		"session_id": id, "task_name": "clock", "current_state": string(workflow.Generating),
		"workflow.stages.kind": string(workflow.KindDocument), "workflow.stages.gate": string(workflow.GateScore), "workflow.stages.engines": string(workflow.Claude),
		"workflow.stages.owes": "", "workflow.stages.sends_back_to": "", "workflow.stages.appends": "", "workflow.stages.artifact": "a.md",
		"stages.artifact.path": ".claude/specs/clock/a.md", "history.adoption.texts.path": ".claude/specs/clock/a.md",
		"stages.candidates.path": text, "history.path": text, "history.kept": text,
	}
	for i, f := range all {
		value, ok := values[f.Path]
		switch {
		case f.Text == nil:
			continue
		case strings.HasSuffix(f.Path, ".file_path"):
			value = text
		case !ok:
			value = "x"
		}
		all[i].Value = value
		f.Text(value)
	}
	return s, all
}

// fill gives a value, and all in it, a value of its own, and lists the texts and numbers.
func fill(v reflect.Value, path string, all *[]Field) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
		*all = append(*all, Field{Path: path, Text: v.SetString})
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
		*all = append(*all, Field{Path: path, Number: v.SetInt})
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, all)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{}"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, all)
	case reflect.Map:
		fillMap(v, path, all)
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			switch {
			case v.Type().Field(i).Anonymous:
				fill(v.Field(i), path, all)
			case name != "" && name != "-":
				fill(v.Field(i), strings.TrimPrefix(path+"."+name, "."), all)
			}
		}
	}
}

// fillMap gives a map one entry, whose key and value can be set on.
func fillMap(v reflect.Value, path string, all *[]Field) {
	key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
	key.SetString("x")
	put := func() {
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
	var inside []Field
	fill(value, path, &inside)
	put()
	*all = append(*all, Field{Path: path + "{}", Text: func(text string) { key.SetString(text); put() }})
	for _, f := range inside {
		if set := f.Text; set != nil {
			f.Text = func(text string) { set(text); put() }
		}
		if set := f.Number; set != nil {
			f.Number = func(n int64) { set(n); put() }
		}
		*all = append(*all, f)
	}
}
