package transfer_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/transfer"
)

// block returns a header of the tar format, as GNU tar writes one.
func block(name string, size int, kind byte) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000600\x000000000\x000000000\x00"+fmt.Sprintf("%011o\x00%011o\x00", size, 0)+"        "+string(kind))
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

func pad(data string) []byte { return append([]byte(data), make([]byte, (512-len(data)%512)%512)...) }

// record returns a record of a pax header.
func record(key, value string) string {
	n := len(key) + len(value) + 3
	for n != len(key)+len(value)+3+len(fmt.Sprint(n)) {
		n = len(key) + len(value) + 3 + len(fmt.Sprint(n))
	}
	return fmt.Sprintf("%d %s=%s\n", n, key, value)
}

// TestBombs: an archive that states more than it has is refused before memory is taken for it.
func TestBombs(t *testing.T) {
	from, into := files(t), files(t)
	one := create(t, from, "one")
	session, err := from.Stored(ctx, one.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	const big = 60 << 20
	plain := func(name, data string) []byte { return append(block(name, len(data), tar.TypeReg), pad(data)...) }
	first := slices.Clip(plain(store.SessionPath(one.SessionID), string(session)))
	name := store.ContentFolder(one.SessionID) + "/a.md"
	sparse := func(headers string, kind byte, data string) []byte {
		var out []byte
		if headers != "" {
			out = append(block("PaxHeader", len(headers), tar.TypeXHeader), pad(headers)...)
		}
		return append(append(out, block(name, len(data), kind)...), pad(data)...)
	}
	old := block(name, 0, tar.TypeGNUSparse) // of GNU tar before pax: its real size is in the header
	copy(old[257:], "ustar  \x00")
	copy(old[483:], fmt.Sprintf("%011o\x00", big))
	copy(old[148:], "        ")
	sum := 0
	for _, b := range old {
		sum += int(b)
	}
	copy(old[148:], fmt.Sprintf("%06o\x00 ", sum))
	whole := export(t, from, epoch)
	manifest := whole[bytes.Index(whole, []byte("manifest.json")):]
	for what, tt := range map[string][]byte{
		"sparse 1.0":           append(first, sparse(record("GNU.sparse.major", "1")+record("GNU.sparse.minor", "0")+record("GNU.sparse.name", name)+record("GNU.sparse.realsize", fmt.Sprint(big)), tar.TypeReg, string(pad(fmt.Sprintf("1\n%d\n0\n", big))))...),
		"sparse 0.1":           append(first, sparse(record("GNU.sparse.map", fmt.Sprintf("%d,0", big))+record("GNU.sparse.numblocks", "1")+record("GNU.sparse.size", fmt.Sprint(big)), tar.TypeReg, "")...),
		"sparse, old":          append(first, old...),
		"a size without data":  append(first, block(name, big, tar.TypeReg)...),
		"a size in pax":        append(first, sparse(record("size", fmt.Sprint(big)), tar.TypeReg, "")...),
		"a session alone":      block(store.SessionPath(one.SessionID), big, tar.TypeReg),
		"a session twice":      bytes.Join([][]byte{first, first, manifest}, nil),
		"a text twice":         bytes.Join([][]byte{first, plain(name, ""), plain(name, ""), manifest}, nil),
		"a name of 900 kB":     append(first, sparse(record("path", strings.Repeat("x", 900<<10)), tar.TypeReg, "")...),
		"a line in a name":     append(first, sparse(record("path", store.ContentFolder(one.SessionID)+"/a\nFAKE LINE"), tar.TypeReg, "")...),
		"a manifest of blanks": append(first, plain("manifest.json", `{"version":1,"files":[`+strings.Repeat("{},", 1<<20)+`{}]}`)...),
	} {
		archive := append(tt, make([]byte, 1024)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, _, err := transfer.Import(ctx, archive, into)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(8*len(archive)+1<<20); took > most {
			t.Errorf("%s: %d bytes take %d of memory", what, len(archive), took)
		}
		if !fault.Is(err, fault.InvalidArgument) || out != (transfer.Outcome{}) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
			t.Errorf("%s: %+v, %.500v", what, out, err)
		}
	}
	if all, err := into.All(ctx); err != nil || len(all.Sessions)+len(all.Broken) != 0 {
		t.Errorf("stored %+v, %v", all, err)
	}
}

// TestTextsElsewhere: a store that others can write gives a session texts at other paths. None of them is stored.
func TestTextsElsewhere(t *testing.T) {
	from, into := files(t), files(t)
	one := create(t, from, "one")
	for _, name := range []string{"CLAUDE.md", "../CLAUDE.md", ".claude/commands/x.md", store.ContentFolder(one.SessionID) + "/../../../CLAUDE.md", store.ContentFolder("other") + "/a.md", store.SessionPath(one.SessionID)} {
		p, err := from.Take(ctx, one.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		p.Texts[name] = []byte("evil")
		if err := into.Bring(ctx, p, ""); !fault.Is(err, fault.Storage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := into.All(ctx); err != nil || len(all.Sessions)+len(all.Broken) != 0 {
		t.Errorf("stored %+v, %v", all, err)
	}
}
