package app

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxWaiting bounds the text of the log that waits for a reader, in bytes; maxFlush the wait before other output.
const (
	maxWaiting = 256 << 10
	maxFlush   = time.Second
)

// logQueue writes the lines of the log in the background: a host that does not read standard error holds up no
// request. Lines over the bound are dropped and counted.
type logQueue struct {
	out io.Writer

	mu      sync.Mutex
	waiting bytes.Buffer
	dropped int
	written chan struct{} // closed when all is written; nil if nothing waits
}

// Write implements io.Writer. It takes a whole line, and never fails.
func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting.Len()+len(line) > maxWaiting {
		q.dropped++
		return len(line), nil
	}
	if q.written == nil {
		q.written = make(chan struct{})
		go q.drain()
	}
	return q.waiting.Write(line)
}

// drain writes until nothing is left.
func (q *logQueue) drain() {
	for {
		q.mu.Lock()
		text, dropped := q.waiting.Bytes(), q.dropped
		q.waiting, q.dropped = bytes.Buffer{}, 0
		if len(text) == 0 {
			close(q.written)
			q.written = nil
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		if dropped > 0 {
			text = fmt.Appendf(text, "level=WARN msg=\"lines of the log were dropped, because nobody read them\" count=%d\n", dropped)
		}
		_, _ = q.out.Write(text) // nothing else could report an error
	}
}

// flush waits until the lines are written, but not for long.
func (q *logQueue) flush() {
	q.mu.Lock()
	written := q.written
	q.mu.Unlock()
	if written != nil {
		select {
		case <-written:
		case <-time.After(maxFlush):
		}
	}
}

// afterLog writes other output behind the lines of the log before it.
type afterLog struct{ *logQueue }

// Write implements io.Writer.
func (a afterLog) Write(p []byte) (int, error) {
	a.flush()
	return a.out.Write(p)
}
