package httpguard

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// TestBodies checks that the bytes of requests are counted as they come in, and for as long as they are
// needed.
func TestBodies(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name            string
		size            int
		declared, limit int64
		end             error
		want            error
	}{
		{"nothing", 0, 0, 100, nil, nil},
		{"a little", 10, 10, 100, nil, nil},
		{"up to the limit", 100, 100, 100, nil, nil},
		{"over it", 101, -1, 100, nil, ErrTooLarge},
		{"far over it", 1 << 20, -1, 1000, nil, ErrTooLarge},
		{"not announced", 300_000, -1, 1 << 20, nil, nil},
		{"announced", 300_000, 300_000, 1 << 20, nil, nil},
		{"more than announced", 300_000, 10, 1 << 20, nil, nil},
		{"less than announced", 10, 300_000, 1 << 20, nil, nil},
		{"it breaks off", 5000, 10_000, 1 << 20, broken, broken},
		{"more than there is room for", 1 << 20, 1 << 20, 1 << 20, nil, ErrBusy},
		{"the same, not announced", 1 << 20, -1, 1 << 20, nil, ErrBusy},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "by halves": iotest.HalfReader} {
			l := NewLimiter(Limits{Bodies: 1 << 20, SmallBody: 64 << 10})
			text := bytes.Repeat([]byte("x"), c.size)
			r := wrap(bytes.NewReader(text))
			if c.end != nil {
				r = io.MultiReader(r, iotest.ErrReader(c.end))
			}
			data, done, err := l.Read(r, c.declared, c.limit)
			if !errors.Is(err, c.want) || err == nil && !bytes.Equal(data, text) {
				t.Errorf("%s, %s: read %d bytes with error %v, want error %v", c.name, name, len(data), err, c.want)
			}
			if err == nil && (l.held < int64(cap(data)) || l.held > 2*int64(c.size)+(8<<10)) {
				t.Errorf("%s, %s: %d counted for %d bytes in %d", c.name, name, l.held, len(data), cap(data))
			}
			done()
			done()
			if l.held != 0 {
				t.Errorf("%s, %s: %d bytes are held for ever", c.name, name, l.held)
			}
		}
	}
}
