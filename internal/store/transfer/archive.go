package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// manifestName is the last entry of an archive.
const manifestName = "manifest.json"

// maxManifest is the greatest length of the manifest, in bytes.
const maxManifest = 64 << 20

// manifest describes an archive.
type manifest[F any] struct {
	Version int       `json:"version"`
	Date    time.Time `json:"date"`
	Project string    `json:"project"`
	Files   F         `json:"files"`
}

// file is an entry of an archive.
type file struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Export writes an archive of all sessions of a store, which depends on nothing but them, and the date.
func Export(ctx context.Context, from store.Carrier, project string, now time.Time, to io.Writer) (sessions int, err error) {
	all, err := listByID(ctx, from)
	if err != nil {
		return 0, err
	}
	out, m := tar.NewWriter(to), manifest[[]file]{Version: 1, Date: now.UTC(), Project: project, Files: []file{}}
	add := func(name string, data []byte) error {
		m.Files = append(m.Files, file{name, int64(len(data)), workflow.Hash(data)})
		return addFile(out, name, data)
	}
	for _, s := range all {
		p, err := from.Take(ctx, s.SessionID)
		if err != nil {
			return sessions, err
		}
		if err := add(store.SessionPath(p.ID), p.Session); err != nil {
			return sessions, err
		}
		for _, name := range slices.Sorted(maps.Keys(p.Texts)) {
			if err := add(name, p.Texts[name]); err != nil {
				return sessions, err
			}
		}
		sessions++
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = addFile(out, manifestName, append(data, '\n'))
	}
	return sessions, errors.Join(err, out.Close())
}

func addFile(out *tar.Writer, name string, data []byte) error {
	err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(data)), Format: tar.FormatPAX})
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

// Import brings all sessions of an archive of a project into a store, after it has checked all of it.
func Import(ctx context.Context, archive []byte, into store.Carrier) (out Outcome, project string, err error) {
	if project, err = readArchive(archive, func(store.Parcel) error { return ctx.Err() }); err != nil {
		return out, "", fault.New(fault.InvalidArgument, "the archive cannot be imported: %w", err).
			WithHint("export it again (bmad-mcp store export); nothing was changed")
	}
	_, err = readArchive(archive, func(p store.Parcel) error { return out.bringSession(ctx, into, p) })
	return out, project, out.explainFailure(err)
}

// readArchive reads an archive of a size, checks it, and calls do with each session. It takes no more memory for
// an entry than the archive has bytes left: a header's claims cost nothing.
func readArchive(archive []byte, do func(store.Parcel) error) (project string, err error) {
	if len(archive) < len(end) || !bytes.Equal(archive[len(archive)-len(end):], end[:]) {
		if _, err := tar.NewReader(bytes.NewReader(archive)).Next(); errors.Is(err, tar.ErrHeader) {
			return "", fault.New(fault.InvalidArgument, "it is not a tar file, as an export is one")
		}
		return "", entryError(nil, io.EOF)
	}
	rest := bytes.NewReader(archive)
	project, err = readEntries(rest, int64(len(archive)), do)
	if left := archive[len(archive)-rest.Len():]; err == nil && len(bytes.Trim(left, "\x00")) > 0 {
		err = fault.New(fault.InvalidArgument, "something follows its end")
	}
	return project, err
}

// end is what a tar file ends with.
var end [2 * blockSize]byte

func readEntries(archive io.Reader, left int64, do func(store.Parcel) error) (project string, err error) {
	in := tar.NewReader(archive)
	var listed []file
	var p store.Parcel
	seen := map[string]bool{}
	for {
		header, err := in.Next()
		if err != nil {
			return "", entryError(header, err)
		}
		name := header.Name
		left -= blockSize + header.Size
		data, err := readEntry(in, header, left)
		if err != nil {
			return "", entryError(header, err)
		}
		if name == manifestName {
			if project, err = compareWithManifest(data, listed); err != nil {
				return "", entryError(header, err)
			}
			if after, err := in.Next(); !errors.Is(err, io.EOF) {
				if after == nil {
					return "", entryError(nil, io.EOF)
				}
				return "", entryError(after, errors.ErrUnsupported)
			}
			if p.ID != "" {
				err = do(p)
			}
			return project, err
		}
		listed = append(listed, file{name, header.Size, workflow.Hash(data)})
		if id, ok := sessionIn(name); ok {
			if p.ID != "" {
				if err := do(p); err != nil {
					return "", err
				}
			}
			s, err := store.Decode(data, name)
			if err != nil || s.SessionID != id || seen[id] {
				return "", entryError(header, errors.Join(err, errors.ErrUnsupported))
			}
			seen[id] = true
			p = store.Parcel{ID: id, Session: data, Texts: map[string][]byte{}}
			continue
		}
		if p.ID == "" || !store.IsText(p.ID, name) || p.Texts[name] != nil { // it follows the session
			return "", entryError(header, errors.ErrUnsupported)
		}
		p.Texts[name] = data
	}
}

// readEntry reads the bytes of an entry; left is the size of the archive after it, below 0 for a
// truncated entry.
func readEntry(in io.Reader, header *tar.Header, left int64) ([]byte, error) {
	limit := int64(durable.MaxText)
	if header.Name == manifestName {
		limit = maxManifest
	}
	switch {
	case header.Typeflag != tar.TypeReg, header.Size > limit, isSparse(header):
		return nil, errors.ErrUnsupported
	case left < 0:
		return nil, io.ErrUnexpectedEOF
	}
	data := make([]byte, header.Size)
	_, err := io.ReadFull(in, data)
	return data, err
}

// blockSize is the length of a header, in bytes.
const blockSize = 512

// isSparse reports whether the size of an entry differs from the number of its bytes: holes are read as
// zeros.
func isSparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// sessionIn returns the id of the session of which an entry is the file.
func sessionIn(name string) (string, bool) {
	id, ok := strings.CutPrefix(name, strings.TrimSuffix(store.SessionPath(""), ".json"))
	id, isJSON := strings.CutSuffix(id, ".json")
	canonical, isID := store.ParseID(id)
	return id, ok && isJSON && isID && canonical == id
}

// compareWithManifest compares the entries of an archive with the manifest.
func compareWithManifest(data []byte, listed []file) (project string, err error) {
	m := manifest[sameFiles]{Files: listed}
	if err := json.Unmarshal(data, &m); err != nil {
		return "", err
	}
	if m.Version != 1 || len(m.Files) > 0 {
		return "", errors.ErrUnsupported
	}
	return m.Project, nil
}

// sameFiles are the files to be listed by a manifest. Each is removed when the manifest lists it, so a long
// list of others takes no memory.
type sameFiles []file

// UnmarshalJSON implements json.Unmarshaler.
func (s *sameFiles) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return errors.ErrUnsupported
	}
	for ; dec.More(); *s = (*s)[1:] {
		var f file
		if err := dec.Decode(&f); err != nil || len(*s) == 0 || f != (*s)[0] {
			return errors.ErrUnsupported
		}
	}
	return nil
}

// entryError is the error for an entry of an archive.
func entryError(header *tar.Header, err error) error {
	name := ""
	if header != nil {
		name = visible.Fit(header.Name, 200)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return fault.New(fault.InvalidArgument, "%q is not what an export has there, or was changed", name)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.New(fault.InvalidArgument, "it is cut off")
	}
	return fault.New(fault.InvalidArgument, "%q: %w", name, err)
}
