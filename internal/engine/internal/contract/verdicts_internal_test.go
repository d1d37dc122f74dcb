package contract

import (
	"strings"
	"testing"
)

// TestVerdictsInPieces: a script's output has the same verdict in whatever pieces it comes.
func TestVerdictsInPieces(t *testing.T) {
	for _, tt := range []struct {
		output string
		want   verdicts
	}{
		{"▶ go test\n\x1b[0;32m\x1b[1m✅ CC PASS — [go, k8s] — now\x1b[0m\n\n", verdicts{pass: true, stacks: "go, k8s"}},
		{"🔴 CC FAIL — [go]\r\nCC PASS", verdicts{pass: true, failed: true, stacks: "go"}},
		{"a CC PASS\nCC PASSED\nCC  PASS\ncc pass\n", verdicts{}},
		{strings.Repeat("x", 3*maxLine) + "CC PASS\n" + strings.Repeat(" ", 20) + "CC PASS [docker]", verdicts{pass: true, stacks: "docker"}},
		{"CC PASS — [" + strings.Repeat("s", 200) + "]", verdicts{pass: true}},
		{"\xff\xfe\x00CC FAIL\n", verdicts{failed: true}},
	} {
		for _, size := range []int{1, 2, 7, 1000, len(tt.output)} {
			var got verdicts
			for rest := tt.output; rest != ""; rest = rest[min(size, len(rest)):] {
				if n, err := got.Write([]byte(rest[:min(size, len(rest))])); n != min(size, len(rest)) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got.endLine(); got.pass != tt.want.pass || got.failed != tt.want.failed || got.stacks != tt.want.stacks || len(got.line) > 0 {
				t.Errorf("%.40q in pieces of %d: got %+v, want %+v", tt.output, size, got, tt.want)
			}
		}
	}
}
