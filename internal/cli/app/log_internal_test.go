package app

import (
	"io"
	"strconv"
	"strings"
	"testing"
)

// TestLogWaitsForNobody writes a log whose reader does not read, and then does.
func TestLogWaitsForNobody(t *testing.T) {
	t.Parallel()
	out, in := io.Pipe()
	log := &logQueue{out: in}
	const written = 100_000
	for range written { // it would hang here
		if n, err := io.WriteString(log, "a line\n"); n != len("a line\n") || err != nil {
			t.Fatal(n, err)
		}
	}
	got := make(chan string, 1)
	go func() {
		read, _ := io.ReadAll(out)
		got <- string(read)
	}()
	for range 3 { // a reader that is there again gets what comes
		_, _ = io.WriteString(log, "another\n")
	}
	log.flush()
	_ = in.Close()
	text := <-got
	kept, dropped := strings.Count(text, "a line\n")+strings.Count(text, "another\n"), 0
	for line := range strings.Lines(text) {
		if _, count, found := strings.Cut(strings.TrimSpace(line), "because nobody read them\" count="); found {
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Error(err)
			}
			dropped += n
		}
	}
	if kept+dropped != written+3 || dropped < written-2*maxWaiting/len("a line\n") {
		t.Errorf("got %d lines, and %d dropped, of %d", kept, dropped, written+3)
	}
}

// TestOutputIsInOrder: what a command prints comes after the lines of the log before it.
func TestOutputIsInOrder(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := &logQueue{out: &out}
	printed := afterLog{log}
	want := ""
	for i := range 200 {
		for _, w := range []io.Writer{log, log, printed} {
			line := strconv.Itoa(i) + "\n"
			want += line
			_, _ = io.WriteString(w, line)
		}
		if got := out.String(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
