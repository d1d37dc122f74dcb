package config

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// samples has values of each setting, by its key; those of words are in policyRules too.
var samples = map[string][]string{
	"approvers": {"ann", "ann, bob", "bob, ann, cat"}, "audit_floor": {"0", "59", "61", "100"}, "base_url": {"http://a/v1", "http://b/v1"},
	"check_assurance": {"low", "medium", "high"}, "checks": {"true", "go vet"}, "cost_limit": {"1", "2.5"}, "document_language": {"auto", "en", "zh"},
	"four_eyes": {"false", "true"}, "gate": {"relay", "auto", "strict"}, "gate_score": {"0", "89", "91", "100"}, "host_confirm": {"auto", "always", "never"},
	"language": {"auto", "en", "zh"}, "max_cost_per_day": {"1", "2.5"},
	"max_rounds": {"1", "4", "100"}, "max_workers": {"1", "10000"}, "memory": {"auto", "on", "off"}, "memory_embeddings": {"http://a/v1 m", "http://b/v1 m http://c"},
	"model": {"a", "b"}, "notify": {"beep", "ntfy https://ntfy.sh/x"}, "pause": {"gates", "stages"}, "personas": {"own", "bmad"}, "project": {"a", "b"},
	"projects": {"/a", "/b"}, "proof": {"true", "false", "words"}, "quorum": {"1", "2", "20"}, "ran": {"none", "some", "all"}, "replies": {"full", "lean"},
	"sign_with": {"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"}, "sources": {"git+https://a/b.git", "git+https://a/c.git"},
	"store": {"postgres://a/b", "postgres://a/c"}, "tool_servers": {"a=b", "a=c"}, "toolsets": {"auto", "task", "agents"}, "verify": {"true", "make"},
	"verify_timeout": {"1s", "1h"}, "workflow": {"bmad", "quick"}, "engines": {"claude", "codex"},
}

// TestNoSettingLoosensAGate tries every setting, and every pair of values in the project's file against none or the person's:
// nothing that decides at a gate becomes easier, of two values the tighter one holds, and a setting that is no rule of gates
// changes none.
func TestNoSettingLoosensAGate(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	dir, err := durable.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	files := map[string]string{"project": filepath.Join(root, filepath.FromSlash(ProjectFile)), "person": filepath.Join(home, filepath.FromSlash(UserFile))}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	under := func(person, project string) (Config, error) {
		for name, text := range map[string]string{"person": person, "project": project} {
			if err := os.WriteFile(files[name], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return Source{UserFolder: home}.Load(dir)
	}
	line := func(stage, key, value string) string {
		switch {
		case value == "":
			return ""
		case key == "approvers":
			value = "[" + value + "]"
		}
		if stage != "" {
			return "stages: {" + stage + ": {" + key + ": " + value + "}}\n"
		}
		return key + ": " + value + "\n"
	}
	tried := 0
	try := func(stage, key string) {
		if len(samples[key]) == 0 {
			t.Errorf("there are no values of %s to try", key)
		}
		isRule := slices.ContainsFunc(policyRules, func(r policyRule) bool { return r.name == key })
		for _, person := range append([]string{""}, samples[key]...) {
			without, err := under(line(stage, key, person), "")
			if err != nil {
				t.Fatalf("%s: %s: %v", key, person, err)
			}
			for _, project := range samples[key] {
				with, err := under(line(stage, key, person), line(stage, key, project))
				if err != nil && key == "approvers" {
					continue // no account is in both
				}
				if err != nil {
					t.Fatalf("%s: %s over %s: %v", key, project, person, err)
				}
				tried++
				if with.HostConfirm != without.HostConfirm || !slices.Equal(with.Checks, without.Checks) || !maps.Equal(with.PersonVerify, without.PersonVerify) ||
					!slices.Equal(with.Toolsets, without.Toolsets) || !reflect.DeepEqual(with.Model, without.Model) || with.Store != without.Store || with.SignWith != without.SignWith || !reflect.DeepEqual(with.Notify, without.Notify) {
					t.Errorf("%s: %s of the project over %q changes what is the person's", key, project, person)
				}
				before, after := without.Under(workflow.Default()), with.Under(workflow.Default())
				for i, st := range before.Stages {
					was, is := st.Policy(), after.Stages[i].Policy()
					if !is.Stricter(was).Same(is) || !isRule && !is.Same(was) {
						t.Errorf("%s: %s of the project over %q makes the gate of %s %+v of %+v", key, project, person, st.ID, is, was)
					}
					if value := ruleOf(key, is); isRule && person != "" && isLooser(tighterOf(key), value, ruleOf(key, was)) {
						t.Errorf("%s: %s of the project over %q makes it %s", key, project, person, value)
					}
				}
			}
		}
	}
	for _, s := range settings {
		if s.set != nil {
			try("", s.key)
		}
	}
	for _, s := range stageSettings {
		stage := map[string]string{"verify": "dev"}[s.name]
		if stage == "" {
			stage = "po"
		}
		try(stage, s.name)
	}
	if tried < 250 {
		t.Errorf("tried only %d pairs", tried)
	}
}

func ruleOf(key string, p workflow.Policy) string {
	i := slices.IndexFunc(policyRules, func(r policyRule) bool { return r.name == key })
	if i < 0 {
		return ""
	}
	return policyRules[i].value(p)
}

// isLooser reports whether a value is looser than another, by the column tighter of the rules.
func isLooser(tighter, a, b string) bool {
	switch tighter {
	case "higher":
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return x < y
	case "fewer":
		return b != "" && (a == "" || slices.ContainsFunc(strings.Split(a, ", "), func(name string) bool { return !slices.Contains(strings.Split(b, ", "), name) }))
	}
	order := strings.Split(tighter, " < ")
	return slices.Index(order, a) < slices.Index(order, b)
}
