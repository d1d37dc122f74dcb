package trust

import (
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Rights are this machine's records of the rights given by the person to the runs, or the
// conversations, of one project: which commands they may run, how much they may spend, and how much
// they have spent. The files of both are in the project, where agents work. Each record is a small
// signed file below the state folder:
//
//	rights/<hash of the project's path>/<kind>/<id>.json
//
// One that was copied from another project, kind or id does not count.
type Rights struct {
	state   UserState
	project string
	kind    string
	of      func(id string) string

	once   sync.Once
	signer workflow.Signer
	failed error
}

const (
	rightsFolder = "rights"
	// rightsDomain prevents the signature from being valid for anything else.
	rightsDomain = "bmad-mcp: rights of a run or conversation\n"
)

// rightsFile is the file's form.
type rightsFile struct {
	Project string `json:"project"`
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	// Of is the file of the project without which the record is superfluous.
	Of        string          `json:"of"`
	Rights    json.RawMessage `json:"rights"`
	Key       string          `json:"key"`
	Signature string          `json:"signature,omitempty"`
}

// sign returns the signature of a record.
func (f rightsFile) sign(signer workflow.Signer) (string, error) {
	f.Signature = ""
	data, err := json.Marshal(f)
	return signer.MAC(rightsDomain + string(data)), err
}

// Rights returns the records of a kind, for example "runs", for a project. of returns the file of the project that
// belongs to the record of an id.
func (u UserState) Rights(kind, project string, of func(id string) string) *Rights {
	return &Rights{state: u, project: PathOf(project), kind: kind, of: of}
}

// fileName returns the file of a record.
func (r *Rights) fileName(id string) (string, error) {
	if id == "" || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz-") != "" { // a path is built from it
		return "", &fs.PathError{Op: "record", Path: id, Err: fs.ErrInvalid}
	}
	return path.Join(rightsFolder, workflow.Hash([]byte(r.project))[:32], r.kind, id+".json"), nil
}

// Keep replaces a record by data, a JSON value.
func (r *Rights) Keep(ctx context.Context, id string, data []byte) error {
	name, err := r.fileName(id)
	if err != nil {
		return err
	}
	r.once.Do(func() { r.signer, r.failed = r.state.Signer(ctx) })
	if r.failed != nil {
		return r.failed
	}
	file := rightsFile{Project: r.project, Kind: r.kind, ID: id, Of: r.of(id), Rights: data, Key: r.signer.Public().Fingerprint()}
	if file.Signature, err = file.sign(r.signer); err != nil {
		return err
	}
	return r.state.withFolder(func(d dir) error { return d.writeJSON(name, file) })
}

// Kept returns a record; nil if none counts, for whatever reason.
func (r *Rights) Kept(_ context.Context, id string) (data []byte) {
	name, err := r.fileName(id)
	if err != nil {
		return nil
	}
	signer, err := r.state.ReadSigner()
	if err != nil || signer == nil {
		return nil
	}
	_ = r.state.withExisting(func(d dir) error { // an unreadable record allows nothing
		var file rightsFile
		if err := d.readJSON(name, &file); err != nil || file.Project != r.project || file.Kind != r.kind || file.ID != id {
			return err
		}
		if want, err := file.sign(signer); err == nil && file.Signature == want {
			data = file.Rights
		}
		return nil
	})
	return data
}
