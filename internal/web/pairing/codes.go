package pairing

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// ValidFor is the time in which a code can be approved, and the approval be taken.
const ValidFor = 5 * time.Minute

// pairings is the folder of the codes, with a file for each.
const pairings = "pairings"

// The steps of a code.
const (
	shown    = ".shown"
	approved = ".approved"
	used     = ".used"
)

// alphabet has no letters easily mistaken for digits or for each other. With 32 characters to choose from, a
// code has 40 bits.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const codeLength = 8

// maxShown bounds the valid codes of a dashboard: the oldest gives way to a new one.
const maxShown = 16

var errNoState = lang.Errorf("there is no state folder: no home folder is known")

// request is the content of a code's file.
type request struct {
	Origin string    `json:"origin"`
	Made   time.Time `json:"made"`
}

// Codes makes the codes of one dashboard, and takes their approvals. It is safe for concurrent use.
type Codes struct {
	folder, origin string
	now            func() time.Time

	mu   sync.Mutex
	made []made // the oldest first
}

type made struct {
	name string
	at   time.Time
}

// NewCodes returns the codes for pages of an origin.
func NewCodes(folder, origin string, now func() time.Time) *Codes {
	return &Codes{folder: folder, origin: origin, now: now}
}

// New makes a code.
func (c *Codes) New() (string, error) {
	random := make([]byte, codeLength)
	_, _ = rand.Read(random) // it never fails
	code := make([]byte, codeLength)
	for i, b := range random {
		code[i] = alphabet[b%byte(len(alphabet))]
	}
	dir, err := openFolder(c.folder, pairings)
	if err != nil {
		return "", stateError(err)
	}
	defer dir.Close() //nolint:errcheck // the write returns an error
	now := c.now()
	removeExpired(dir, now)
	data, err := json.Marshal(request{c.origin, now})
	if err == nil {
		err = dir.Replace(nameOf(string(code))+shown, data)
	}
	if err != nil {
		return "", stateError(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, made{nameOf(string(code)), now})
	for len(c.made) > maxShown || now.Sub(c.made[0].at) > ValidFor {
		_ = dir.Remove(c.made[0].name + shown) // the code expires
		c.made = c.made[1:]
	}
	return string(code), nil
}

// Approved reports whether a person has approved a code of this dashboard, and takes the approval. It returns
// false without an error if nobody has approved the code yet. It returns an error if the code is not this
// dashboard's, has expired, or was approved and taken before.
func (c *Codes) Approved(code string) (bool, error) {
	name, now := nameOf(Normal(code)), c.now()
	c.mu.Lock()
	mine := false
	for _, m := range c.made {
		if m.name == name && now.Sub(m.at) <= ValidFor {
			mine = true
		}
	}
	c.mu.Unlock()
	dir, err := openFolder(c.folder, pairings)
	if err != nil {
		return false, stateError(err)
	}
	defer dir.Close() //nolint:errcheck // the rename has its own error
	switch {
	case dir.Exists(name + used):
		return false, errUsedBefore()
	case !mine:
		return false, fault.New(fault.NotFound, "the code is not one of this dashboard, or has expired").WithHint("load the page again for a new one")
	}
	switch err := dir.Rename(name+approved, name+used); {
	case err == nil:
		return true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, stateError(err)
	case dir.Exists(name + used):
		return false, errUsedBefore()
	}
	return false, nil
}

// Approve approves a code typed by the person, and returns the origin of the page that shows it.
func Approve(folder, code string, now time.Time) (origin string, err error) {
	code = Normal(code)
	if len(code) != codeLength || strings.Trim(code, alphabet) != "" {
		return "", fault.New(fault.InvalidArgument, "%q is not a pairing code: it has %d letters and digits", code, codeLength).
			WithHint("type the code that the page shows; the page /pair of the dashboard has one")
	}
	if folder == "" {
		return "", stateError(errNoState)
	}
	dir, err := durable.OpenPrivateDir(folder + string(os.PathSeparator) + pairings)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errUnknownCode()
	} else if err != nil {
		return "", stateError(err)
	}
	defer dir.Close() //nolint:errcheck // the rename has its own error
	name := nameOf(code)
	var r request
	data, err := dir.ReadFile(name+shown, maxFile)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err == nil && now.Sub(r.Made) > ValidFor {
		return "", errUnknownCode()
	}
	if err == nil {
		err = dir.Rename(name+shown, name+approved)
	}
	switch {
	case err == nil:
		return r.Origin, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", stateError(err)
	case dir.Exists(name + approved), dir.Exists(name + used):
		return "", errUsedBefore()
	}
	return "", errUnknownCode()
}

func errUsedBefore() error {
	return fault.New(fault.Conflict, "the code was used before").
		WithHint("a code pairs one page; if neither you nor your page has used it, somebody else has: end the dashboard and start it again")
}

func errUnknownCode() error {
	return fault.New(fault.NotFound, "no dashboard shows this code, or it has expired").
		WithHint("type the code that the page shows now; it is valid for %s", lang.Count(int(ValidFor/time.Minute), "minute"))
}

func stateError(err error) error {
	return fault.New(fault.Storage, "the state folder cannot be used for pairing: %w", err).WithHint("make sure that you can write to it, or set XDG_STATE_HOME")
}

// Normal returns the code that a person means: people add spaces and dashes, type small letters, and confuse
// some letters with digits.
func Normal(code string) string {
	return strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(code))
}

// nameOf returns the name of a code's file, without the step.
func nameOf(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// removeExpired removes files of four times the age at which codes expire, as far as the disk permits. So a
// second use of a code is noticed.
func removeExpired(dir *durable.Dir, now time.Time) {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 4*ValidFor {
			_ = dir.Remove(e.Name())
		}
	}
}
