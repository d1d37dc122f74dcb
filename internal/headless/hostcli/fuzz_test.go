package hostcli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// reader reads the output of an engine.
type reader interface {
	readLine([]byte)
	judgeWork() (string, bool)
}

// fuzz reads the same output whole and in pieces, and expects the same of both, and no success
// without a text.
func fuzz(f *testing.F, folder string, begin func(Job) reader, end func(reader) Outcome) {
	files, err := filepath.Glob("testdata/" + folder + "/*.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		var seen [2]string
		for i, step := range []int{len(data) + 1, 1 + size&0x3ff} {
			var heard, raw bytes.Buffer
			r := begin(Job{Dir: "/home/pat/app", Tell: func(a Activity) {
				line, _ := json.Marshal(a)
				heard.Write(line)
			}})
			l := &lines{each: r.readLine, raw: &raw, left: maxOutput, flood: func() { t.Error("a flood") }}
			for rest := data; len(rest) > 0; rest = rest[min(step, len(rest)):] {
				if n, err := l.Write(rest[:min(step, len(rest))]); err != nil || n != min(step, len(rest)) {
					t.Fatalf("%d, %v", n, err)
				}
			}
			l.flushLine()
			out := end(r)
			why, ok := r.judgeWork()
			if ok && (out.Text == "" || why != "") {
				t.Errorf("success with %q, %q", out.Text, why)
			}
			text, _ := json.Marshal(out)
			seen[i] = heard.String() + string(text) + why + raw.String()
		}
		if seen[0] != seen[1] {
			t.Errorf("whole\n%s\nin pieces\n%s", seen[0], seen[1])
		}
	})
}

func FuzzClaude(f *testing.F) {
	fuzz(f, "claude", func(j Job) reader { return newClaudeReader(j, "") }, func(r reader) Outcome { return *r.(*claudeReader).outcome() })
}

func FuzzCodex(f *testing.F) {
	fuzz(f, "codex", func(j Job) reader { return &codexReader{job: j} }, func(r reader) Outcome { return r.(*codexReader).out })
}
