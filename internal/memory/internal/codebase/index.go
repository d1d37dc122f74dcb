package codebase

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

const (
	// version begins an index. Raise it if files are taken apart in another way than before, or if the form changes.
	version = "bmad-mcp code 1\n"
	// maxRecord bounds a record, in bytes; a file of maxFile has less.
	maxRecord = 32 << 20
	// maxIndexes bounds the indexes in the cache.
	maxIndexes = 16
	// patience bounds the time to take in files for one search: hosts give up on a call after a minute.
	patience = 20 * time.Second
	// maxCount bounds the count of a term in a chunk: the last 6 bits of a number. The others tell the words of a large
	// project apart.
	maxCount = 63
)

// record is a file in an index, in numbers of four bytes: size and time of two numbers each, the length of the name, the
// name; and for each chunk the first line, the line after the last, the number of words, the number of terms, and the
// terms in rising order with their counts. The first chunk has the words of the path, and no lines. A file without text
// has no chunk. In the index the length and the sum of a record come before it.
type record []byte

const headSize, chunkSize = 20, 16

func (r record) number(i int) int { return int(binary.LittleEndian.Uint32(r[4*i:])) }
func (r record) wide(i int) int64 { return int64(binary.LittleEndian.Uint64(r[4*i:])) } // #nosec G115 -- as it was written
func (r record) state() state     { return state{r.wide(0), r.wide(2)} }
func (r record) name() string     { return string(r[headSize:min(len(r), headSize+r.number(4))]) }
func (r *record) addNumbers(numbers ...int) {
	for _, n := range numbers {
		*r = binary.LittleEndian.AppendUint32(*r, uint32(n))
	}
} // #nosec G115 -- below maxRecord

// eachChunk calls do with the chunks, and the terms of each.
func (r record) eachChunk(do func(c chunk, words int, terms record)) {
	for rest := r[min(len(r), headSize+r.number(4)):]; len(rest) >= chunkSize; {
		end := chunkSize + 4*rest.number(3)
		if end > len(rest) {
			return
		}
		do(chunk{rest.number(0), rest.number(1)}, rest.number(2), rest[chunkSize:end])
		rest = rest[end:]
	}
}

// takeApart returns the record of a file.
func takeApart(t *recall.Terms, name string, at state, data []byte) record {
	r := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(at.size)), uint64(at.changed)) // #nosec G115 -- wide has it back
	out := record(r)
	out.addNumbers(len(name))
	out = append(out, name...)
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 || !utf8.Valid(data) {
		return out
	}
	out.addChunk(t, chunk{}, name)
	lines := splitLines(data)
	for _, c := range cutLines(lines) {
		out.addChunk(t, c, strings.Join(lines[c.from:c.to], "\n"))
	}
	return out
}

func (r *record) addChunk(t *recall.Terms, c chunk, text string) {
	var all []uint32
	words := 0
	t.Each(text, func(_ int, one recall.Term) {
		if all = append(all, termOf(one)); !one.IsConcept() {
			words++
		}
	})
	slices.Sort(all)
	at := len(*r)
	r.addNumbers(c.from, c.to, words, 0)
	for n := 0; len(all) > 0; all = all[n:] {
		for n = 1; n < len(all) && all[n] == all[0]; n++ {
		}
		r.addNumbers(int(all[0]) | min(n, maxCount))
	}
	binary.LittleEndian.PutUint32((*r)[at+chunkSize-4:], uint32((len(*r)-at-chunkSize)/4)) // #nosec G115 -- below maxRecord
}

// termOf returns the number of a term without the count.
func termOf(t recall.Term) uint32 { return uint32(t>>1^t>>30) &^ maxCount } // #nosec G115 -- the part is wanted

// index has the files of a project in a cache.
type index struct {
	*list
	// cache has the index under a name; nil keeps none. head begins the index.
	cache      *durable.Dir
	name, head string
	now        func() time.Time
	until      time.Time
	terms      *recall.Terms
	// visit is called with the record of each file.
	visit func(record)
}

// refreshFiles visits the listed files and removes each from the list. New and changed files take part until the time is
// over. It keeps the index; the error says why it could not.
func (x *index) refreshFiles(ctx context.Context) (err error) {
	var same []span
	isWhole := false
	old := x.openIndex()
	if old != nil {
		defer func() { _ = old.Close() }() // nothing was written
		same, isWhole = x.visitKnown(old)
	}
	var file durable.File
	temp := durable.TempName(x.name)
	w := bufio.NewWriterSize(io.Discard, 1<<16) // it keeps an error for Flush
	begin := sync.OnceFunc(func() {
		if x.cache != nil {
			if file, err = x.cache.Create(temp); err == nil {
				w.Reset(file)
			}
		}
		_, _ = w.WriteString(x.head)
		for _, s := range same {
			_, copied := io.Copy(w, io.NewSectionReader(old, s.at, s.size))
			err = errors.Join(err, copied)
		}
	})
	if !isWhole {
		begin()
	}
	x.visitFresh(ctx, func(r record) {
		begin()
		x.visit(r)
		var sum record
		sum.addNumbers(len(r), int(crc32.ChecksumIEEE(r)))
		_, _ = w.Write(append(sum, r...))
	})
	if file == nil {
		return err
	}
	if err = errors.Join(err, w.Flush(), file.Close()); err == nil {
		err = x.cache.Rename(temp, x.name)
	}
	if err != nil {
		_ = x.cache.Remove(temp) // else it goes as an old one
	}
	return errors.Join(err, x.cache.RemoveOldest(".", maxIndexes)) // also the rests of killed programs
}

// file is an open index.
type file interface {
	fs.File
	io.ReaderAt
}

// openIndex opens the index; it is nil if there is none to read.
func (x *index) openIndex() file {
	if x.cache == nil {
		return nil
	}
	f, err := x.cache.Tree().Open(x.name)
	if err != nil {
		return nil
	}
	return f.(file) //nolint:forcetypeassert // a file of the system
}

// span is a part of an index.
type span struct{ at, size int64 }

// visitKnown visits the files that are as the index has them, and returns the parts of the index with their records.
// isWhole reports that it has nothing else.
func (x *index) visitKnown(old file) (same []span, isWhole bool) {
	in := bufio.NewReaderSize(old, 1<<16)
	head := make([]byte, len(x.head))
	if _, err := io.ReadFull(in, head); err != nil || string(head) != x.head {
		return nil, false
	}
	isWhole = true
	at := int64(len(head))
	var r record
	for {
		var ok bool
		if r, ok = readRecord(in, r); !ok {
			break
		}
		s := span{at, int64(len(r) + 8)}
		at += s.size
		name := r.name()
		if now, listed := x.files[name]; !listed || now != r.state() {
			isWhole = false
			continue
		}
		delete(x.files, name)
		x.visit(r)
		if last := len(same) - 1; last >= 0 && same[last].at+same[last].size == s.at {
			same[last].size += s.size
		} else {
			same = append(same, s)
		}
	}
	info, err := old.Stat()
	return same, isWhole && err == nil && info.Size() == at
}

// readRecord reads the next record into a buffer. It returns false at the end, or where the index is broken.
func readRecord(in io.Reader, buffer record) (r record, ok bool) {
	var sum [8]byte
	if _, err := io.ReadFull(in, sum[:]); err != nil {
		return buffer, false
	}
	size := record(sum[:]).number(0)
	if size < headSize || size > maxRecord {
		return buffer, false
	}
	r = slices.Grow(buffer[:0], size)[:size]
	_, err := io.ReadFull(in, r)
	return r, err == nil && int(crc32.ChecksumIEEE(r)) == record(sum[:]).number(1)
}

// visitFresh visits the files of the list until the time is over, one at a time so that little memory is needed.
func (x *index) visitFresh(ctx context.Context, visit func(record)) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100) // the program starts with more, to save short calls a collection
	}
	for _, name := range slices.Sorted(maps.Keys(x.files)) {
		if ctx.Err() != nil || x.now().After(x.until) {
			return
		}
		data, err := x.dir.ReadFile(name, maxFile)
		switch {
		case err == nil:
			visit(takeApart(x.terms, name, x.files[name], data))
		case !errors.Is(err, fs.ErrNotExist):
			x.left.Unreadable++ // or it has grown, or is another thing now
		}
		delete(x.files, name)
	}
}
