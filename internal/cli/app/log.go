package app

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxWaiting bounds the lines of the log that wait for a reader, maxFlush the wait for one where lines have an order.
const (
	maxWaiting = 1000
	maxFlush   = time.Second
)

// logQueue writes the lines of the log in the background: a host that does not read standard error holds up no
// request. Lines over the bound are dropped and counted.
type logQueue struct {
	out io.Writer

	mu      sync.Mutex
	lines   [][]byte
	dropped int
	written chan struct{} // closed when all lines are written; nil if none waits
}

// Write implements io.Writer. It never fails.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) == maxWaiting {
		q.dropped++
		return len(line), nil
	}
	q.lines = append(q.lines, bytes.Clone(line))
	if q.written == nil {
		q.written = make(chan struct{})
		go q.drain()
	}
	return len(line), nil
}

// drain writes until no line is left.
func (q *logQueue) drain() {
	for {
		q.mu.Lock()
		lines, dropped := q.lines, q.dropped
		q.lines, q.dropped = nil, 0
		if len(lines) == 0 {
			close(q.written)
			q.written = nil
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		for _, line := range lines {
			_, _ = q.out.Write(line) // nothing else could report an error
		}
		if dropped > 0 {
			_, _ = fmt.Fprintf(q.out, "level=WARN msg=\"lines of the log were dropped, because nobody read them\" count=%d\n", dropped)
		}
	}
}

// flush waits until the lines are written, but not for long.
func (q *logQueue) flush() {
	q.mu.Lock()
	written := q.written
	q.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(maxFlush):
	}
}

// afterLog writes what a command prints behind the lines of the log before it.
type afterLog struct{ *logQueue }

// Write implements io.Writer.
func (a afterLog) Write(p []byte) (int, error) {
	a.flush()
	return a.out.Write(p)
}
