package web

import (
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// maxPicture bounds a picture of a comment, in bytes.
	maxPicture = 1 << 20
	// maxPictures bounds the pictures beside a draft.
	maxPictures = 20
	// pictureStem is the length of a picture's name before the ending.
	pictureStem = 16
)

// pictureTypes are the types of pictures, with the endings of their names. Formats that can hold scripts are left out.
var pictureTypes = [][2]string{{"image/png", ".png"}, {"image/jpeg", ".jpg"}, {"image/gif", ".gif"}, {"image/webp", ".webp"}}

// namePicture returns the name of a picture, made from its content, or "" for other content.
func namePicture(data []byte) string {
	found := http.DetectContentType(data)
	for _, t := range pictureTypes {
		if t[0] == found {
			return workflow.Hash(data)[:pictureStem] + t[1]
		}
	}
	return ""
}

// typeOfPicture returns the type of the picture with a name, or "" for a name of another form.
func typeOfPicture(name string) string {
	ending := path.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	if _, err := hex.DecodeString(stem); err != nil || len(stem) != pictureStem {
		return ""
	}
	for _, t := range pictureTypes {
		if t[1] == ending {
			return t[0]
		}
	}
	return ""
}

// picturePath returns the place of a picture in the project of a task.
func picturePath(task, name string) string { return artifact.TaskFolder(task) + "/pictures/" + name }

// keptPicture is the answer to a page that sent a picture. Path is the place in the project once it goes with a
// decision.
type keptPicture struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// keepPicture saves a picture of a comment beside the draft, for a browser that may decide.
func (k *keeper) keepPicture(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: languageOf(w, r)}
	out, err := k.savePicture(w, a)
	if err != nil {
		answerError(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (k *keeper) savePicture(w http.ResponseWriter, a *asked) (out keptPicture, err error) {
	s, file, err := k.placeDraft(a)
	if err != nil {
		return out, err
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, a.r.Body, maxPicture))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return out, rejection{fault.New(fault.InvalidArgument, "the picture has more than %d bytes", maxPicture).
			WithHint("cut it to the part that matters, or make it smaller"), http.StatusRequestEntityTooLarge}
	}
	if err != nil {
		return out, err
	}
	name := namePicture(data)
	if name == "" {
		return out, fault.New(fault.InvalidArgument, "this is not a picture of the kinds PNG, JPEG, GIF or WebP").WithHint("paste a picture of one of these kinds")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.drafts.writePicture(file, name, data); err != nil {
		return out, err
	}
	return keptPicture{name, picturePath(s.TaskName, name)}, nil
}

// showPicture sends a picture kept beside a draft, or saved with a decision.
func (k *keeper) showPicture(w http.ResponseWriter, r *http.Request) {
	a := &asked{Context: r.Context(), r: r, lang: languageOf(w, r)}
	name, kind := r.PathValue("name"), typeOfPicture(r.PathValue("name"))
	it, err := k.projects.inspect(a)
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	data := k.drafts.readPicture(draftName(it.project, it.session.SessionID, workflow.StageID(r.PathValue("stage"))), name)
	if data == nil {
		data = readSaved(it.project.Path, picturePath(it.session.TaskName, name))
	}
	if namePicture(data) != name {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data) //nolint:gosec // a picture by its content, sent as one
}

func readSaved(folder, name string) []byte {
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return nil
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	data, err := dir.ReadFile(name, maxPicture)
	if err != nil {
		return nil
	}
	return data
}

// savePictures saves the pictures that the comments of a decision name in the project. undo takes them back, for a
// decision that failed.
func (k *keeper) savePictures(in folder, s *workflow.Session, stage workflow.StageID, names []string, comments []workflow.Comment) (undo func(), err error) {
	var made []func()
	undo = func() {
		for _, back := range made {
			back()
		}
	}
	switch n := len(names); {
	case n == 0:
		return undo, nil
	case n > maxPictures:
		return undo, fault.New(fault.InvalidArgument, "the comments have %d pictures, at most %d go with a decision", n, maxPictures).WithHint("remove some")
	}
	dir, err := durable.OpenDir(in.Path)
	if err != nil {
		return undo, err
	}
	defer dir.Close() //nolint:errcheck // the writes return an error
	file := draftName(in, s.SessionID, stage)
	for _, name := range names {
		at := picturePath(s.TaskName, name)
		data := k.drafts.readPicture(file, name)
		if data == nil || !mentions(comments, at) {
			return undo, fault.New(fault.InvalidArgument, "a picture of a comment is gone: %q", name).WithHint("paste it again, or remove it from the comment")
		}
		if dir.Exists(at) {
			continue // an earlier comment has the same
		}
		folders, err := dir.MkdirAll(path.Dir(at))
		if err == nil {
			err = dir.Replace(at, data)
		}
		made = append(made, func() { removeSaved(in.Path, at, folders) })
		if err != nil {
			return undo, err
		}
	}
	return undo, nil
}

// mentions reports whether a comment names a file.
func mentions(all []workflow.Comment, name string) bool {
	for _, c := range all {
		if strings.Contains(c.Text, name) {
			return true
		}
	}
	return false
}

func removeSaved(folder, name string, folders []string) {
	dir, err := durable.OpenDir(folder)
	if err != nil {
		return
	}
	defer dir.Close() //nolint:errcheck // a file that stays harms nothing
	_ = dir.Remove(name)
	dir.RemoveEmpty(folders)
}

func (d drafts) readPicture(draft, name string) []byte {
	if d == "" || typeOfPicture(name) == "" {
		return nil
	}
	return readSaved(string(d), pictureName(draft, name))
}

// writePicture saves a picture beside a draft.
func (d drafts) writePicture(draft, name string, data []byte) error {
	if d == "" {
		return fault.New(fault.NotAllowed, "this dashboard keeps no pictures").WithHint("describe it in words")
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	dir, err := d.open()
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the write returns an error
	if n := len(picturesOf(dir, draft)); n >= maxPictures && !dir.Exists(pictureName(draft, name)) {
		return fault.New(fault.InvalidArgument, "the comments have %d pictures, and no more are kept", n).WithHint("send the decision, or remove one")
	}
	return dir.Replace(pictureName(draft, name), data)
}
