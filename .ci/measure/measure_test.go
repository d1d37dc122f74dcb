//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorse: a ratio that is worse by more than a tenth fails, with the name of its row; a better one, a row that
// is new and one that was left out do not.
func TestWorse(t *testing.T) {
	b := baseline{"start": {Ratio: 8}}
	for _, tt := range []struct {
		name  string
		f     figure
		fails bool
	}{
		{"the same", figure{row: row{name: "start"}, value: 16, yardstick: 2}, false},
		{"a tenth worse", figure{row: row{name: "start"}, value: 17.5, yardstick: 2}, false},
		{"more than a tenth", figure{row: row{name: "start"}, value: 17.7, yardstick: 2}, true},
		{"better", figure{row: row{name: "start"}, value: 9, yardstick: 2}, false},
		{"without a yardstick", figure{row: row{name: "start"}, value: 9}, true},
		{"left out", figure{row: row{name: "start"}, value: 99, skipped: "strace is missing"}, false},
		{"new", figure{row: row{name: "idle"}, value: 99}, false},
	} {
		err := b.worse(tt.f)
		if (err != nil) != tt.fails || err != nil && !strings.Contains(err.Error(), "start: ") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestUpdate: only ratios that are better, or new, are written, so that a worse one needs a hand and its reason.
func TestUpdate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "figures.json")
	if err := os.WriteFile(name, []byte(`{"start": {"ratio": 8, "why": "the pages"}, "idle": {"ratio": 5}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := readBaseline(name)
	if err != nil {
		t.Fatal(err)
	}
	figures := []figure{{row: row{name: "start"}, value: 9}, {row: row{name: "idle"}, value: 4}, {row: row{name: "size"}, value: 3}, {row: row{name: "calls"}, skipped: "no"}}
	if err := b.with(figures).write(name); err != nil {
		t.Fatal(err)
	}
	got, err := readBaseline(name)
	if err != nil || len(got) != 3 || got["start"] != (kept{8, "the pages"}) || got["idle"].Ratio != 4 || got["size"].Ratio != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := readBaseline(filepath.Join(t.TempDir(), "missing.json")); err != nil {
		t.Errorf("without a baseline: %v", err)
	}
}

// TestShow: each form has every figure.
func TestShow(t *testing.T) {
	figures := []figure{
		{row: row{name: "start", unit: "ms", about: "a start", goal: 8}, value: 7.123, yardstick: 1},
		{row: row{name: "calls", about: "calls", goal: 250}, skipped: "strace is missing"},
		{row: row{name: "http-list", unit: "ms", about: "a list", goal: 3, bare: true}, value: 8, yardstick: 2},
	}
	for format, want := range map[string][]string{
		"text":     {"start", "7.12 ms", "met", "skipped: strace is missing", "3.00 times  missed"},
		"markdown": {"| a start | 7.12 ms | ≤ 8.00 ms |", "not measured: strace is missing", "| a list | 8.00 ms, 4.00 times | ≤ 3.00 times | 2.00 ms |"},
		"json":     {`"value": 7.123`, `"skipped": "strace is missing"`},
	} {
		var out bytes.Buffer
		if err := show(&out, format, figures); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s lacks %q:\n%s", format, part, out.String())
			}
		}
	}
	if err := show(&bytes.Buffer{}, "xml", figures); err == nil {
		t.Error("an unknown format is taken")
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(options{}); err != nil || len(all) < 15 {
		t.Errorf("%d rows, %v", len(all), err)
	}
	if _, err := choose(options{rows: "start,speed"}); err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("an unknown row: %v", err)
	}
}

// TestDocumented: the documentation has a figure for each row, with its goal.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "figures.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		f := figure{row: r}
		line, found := "", false
		for l := range strings.Lines(string(page)) {
			if strings.HasPrefix(l, "| "+r.about+" | ") {
				line, found = l, true
			}
		}
		if !found || !strings.Contains(line, "| ≤ "+f.goal()+" |") {
			t.Errorf("docs/figures.md has %q for %q with the goal %s: put in what .ci/figures --large --format markdown prints", line, r.about, f.goal())
		}
	}
}
