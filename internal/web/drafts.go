package web

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// draft is the unsent input of a person on a page: items with keys, in the form of words.js.
type draft map[string]json.RawMessage

// Version names the content of a draft, as an entity tag.
func (d draft) Version() string {
	data, _ := json.Marshal(d) // the items were read as JSON
	return `"` + workflow.Hash(data)[:16] + `"`
}

// maxDraft bounds a draft, in bytes.
const maxDraft = maxBody

// drafts keeps drafts in a folder of the person's state, outside of projects; "" keeps none.
type drafts string

// draftName returns the name of the file with the draft about a document.
func draftName(p folder, session string, stage workflow.StageID) string {
	return workflow.Hash([]byte(p.Path + "\x00" + session + "\x00" + string(stage)))[:32] + ".json"
}

func (d drafts) open() (*durable.Dir, error) {
	if d == "" {
		return nil, fs.ErrNotExist
	}
	return durable.OpenDir(string(d))
}

// read returns a draft, or nil for a missing or unreadable one.
func (d drafts) read(name string) (kept draft) {
	dir, err := d.open()
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	data, err := dir.ReadFile(name, maxDraft)
	if err != nil || json.Unmarshal(data, &kept) != nil || len(kept) == 0 {
		return nil
	}
	return kept
}

// write saves a draft, in a folder that it makes if need be; an empty one is removed, with its
// pictures.
func (d drafts) write(name string, kept draft) error {
	data, err := json.Marshal(kept)
	if err == nil && len(kept) > 0 && d != "" {
		err = os.MkdirAll(string(d), 0o700)
	}
	if err != nil {
		return err
	}
	dir, err := d.open()
	if err == nil {
		defer dir.Close() //nolint:errcheck // the write returns an error
		if len(kept) > 0 {
			return dir.Replace(name, data)
		}
		for _, picture := range picturesOf(dir, name) {
			_ = dir.Remove(picture) // one that stays harms nothing
		}
		err = dir.Remove(name)
	}
	if len(kept) == 0 && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// pictureName returns the name of the file with a picture beside a draft.
func pictureName(draft, name string) string { return strings.TrimSuffix(draft, ".json") + "-" + name }

// picturesOf lists the files with the pictures beside a draft.
func picturesOf(dir *durable.Dir, draft string) []string {
	names, err := dir.Names(".")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, pictureName(draft, "")) })
}
