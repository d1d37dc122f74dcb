package process

import "testing"

func TestSame(t *testing.T) {
	if !foldsBlanks {
		t.Skip("on this system a command is the same only to the letter")
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"sh check.sh", "sh check.sh", true},
		{"sh check.sh", "sh  check.sh", true},
		{"sh check.sh", "sh\tcheck.sh", true},
		{"sh check.sh", " sh check.sh ", true},
		{"a && b; c | d", "a  &&  b;  c  |  d", true},
		{"go test ./...", "go test ./... ", true},
		{"a && b", "a&&b", false}, // the same to a shell, and a question to us
		{"sh check.sh", "shcheck.sh", false},
		{"sh check.sh", "SH check.sh", false},
		{"sh check.sh", "sh check.sh;", false},
		{"sh check.sh", "sh check.sh || true", false},
		{"sh check.sh", "sh\u00a0check.sh", false},
		{"sh check.sh", "sh\u2003check.sh", false},
		{"sh check.sh", "sh\ncheck.sh", false},
		{"sh check.sh", "sh\rcheck.sh", false},
		{"sh check.sh", "sh\vcheck.sh", false},
		{"sh 'a b'", "sh 'a  b'", false},
		{`sh "a b"`, `sh "a  b"`, false},
		{`rm a\ b`, `rm a\  b`, false},
		{"echo $A b", "echo $A  b", false},
		{"echo `a b`", "echo `a  b`", false},
		{"make # a b", "make # a  b", false},
		{"A= b", "A=  b", false},
		{"[ a = b ]", "[ a  = b ]", false},
		{"sh check.sh", "", false},
		{"", "", true},
	} {
		if got := Same(tt.a, tt.b); got != tt.same || Same(tt.b, tt.a) != tt.same {
			t.Errorf("%q, %q: %v", tt.a, tt.b, got)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add("sh  check.sh")
	f.Fuzz(func(t *testing.T, command string) {
		once := Canonical(command)
		if Canonical(once) != once || !Same(command, once) {
			t.Errorf("%q: %q", command, once)
		}
	})
}
