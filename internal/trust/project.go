package trust

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Running files of a project is allowed for the project, not for the path: another repository cloned there would
// inherit the permission. So the project has a random mark in its run state, which is never committed, and an
// allowance records the mark. A copy has the mark and another path, a replacement the path and another mark; a
// backup restored in place has both. If the run state was deleted, the person is asked again.
const (
	markFolder = ".bmad-task"
	markFile   = markFolder + "/project-id"
	// markDigits is the length of a mark in hexadecimal digits.
	markDigits = 32
)

// isBound reports whether the allowance is for one project only, not for any at the path.
func (a Allowance) isBound() bool {
	return a.Kind == KindVerify || a.Kind == KindOwnVerify || a.hasContent()
}

// hasContent reports whether the allowance is for one content as it is: of a file of the project, a program or a card.
func (a Allowance) hasContent() bool {
	return a.Kind == KindScript || a.Kind == KindContract || a.Kind == KindProgram || a.Kind == KindCard
}

// replaces reports whether the allowance replaces an older one. For a script this includes the allowance of the
// former content, because somebody could put it back.
func (a Allowance) replaces(old Allowance) bool {
	former := old.Kind == a.Kind && old.Project == a.Project && old.Text == a.Text
	return a.allowsSame(old) || former && a.hasContent()
}

// bindToProject returns the allowance with the mark of its project. An existing mark is kept only if it is one of
// ours: a repository could contain the mark of another project. A missing project has none.
func (a Allowance) bindToProject(list []Allowance) (Allowance, error) {
	a.ProjectID = ""
	if !a.isBound() {
		return a, nil
	}
	mark := readMark(a.Project)
	if mark != "" && slices.ContainsFunc(list, func(b Allowance) bool { return b.Project == a.Project && b.ProjectID == mark }) {
		a.ProjectID = mark
		return a, nil
	}
	d, err := durable.OpenDir(a.Project)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		defer func() { _ = d.Close() }()
		mark, err = writeMark(d)
	}
	if err != nil {
		return a, fault.New(fault.Storage, "the project %s cannot be marked as the one where this is allowed: %w", a.Project, err).
			WithHint("make %s in it a folder that you can write, then repeat it", markFolder)
	}
	a.ProjectID = mark
	return a, nil
}

// writeMark gives a project a new mark.
func writeMark(d *durable.Dir) (string, error) {
	random := make([]byte, markDigits/2)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	mark := hex.EncodeToString(random)
	if _, err := d.MkdirAll(markFolder); err != nil {
		return "", err
	}
	if err := d.Ignore(markFolder); err != nil { // a committed mark would be everybody's
		return "", err
	}
	return mark, d.Replace(markFile, []byte(mark+"\n"))
}

// readMark returns the mark of a project; "" if it has none of the form of ours.
func readMark(project string) string {
	d, err := durable.OpenDir(project)
	if err != nil {
		return ""
	}
	defer func() { _ = d.Close() }()
	if info, err := d.Lstat(markFile); err != nil || !info.Mode().IsRegular() {
		return "" // a link could lead to the mark of another project
	}
	data, err := d.ReadFile(markFile, markDigits+1)
	if err != nil || len(data) != markDigits+1 || data[markDigits] != '\n' {
		return ""
	}
	mark := string(data[:markDigits])
	if _, err := hex.DecodeString(mark); err != nil {
		return ""
	}
	return mark
}
