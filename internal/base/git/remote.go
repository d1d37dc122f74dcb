package git

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
)

// remotes has the remote of each text of settings that was read: git is a process.
var remotes = recent.New[string, string](100)

// Remote returns the address of the remote of the repository in which a folder lies, that of origin or of the
// only one, and the path of the folder in its work tree, "." for its top. The address is "" if there is none.
func Remote(ctx context.Context, folder string) (address, inside string, err error) {
	r, err := find(folder)
	if r == nil || err != nil {
		return "", "", err
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", "", err
	}
	if inside, err = filepath.Rel(r.tree, real); err != nil {
		return "", "", err
	}
	name := filepath.Join(r.common, "config")
	text, err := durable.ReadPath(name, maxText)
	if err != nil {
		return "", "", refusal(lang.T("its settings cannot be read"), name)
	}
	if known, ok := remotes.Get(string(text)); ok {
		return known, filepath.ToSlash(inside), nil
	}
	out := &Bounded{Most: maxText}
	args := []string{"config", "--file", "-", "--no-includes", "-z", "--get-regexp", `^remote\..*\.url$`}
	list := Call{Args: args, In: bytes.NewReader(text), Out: out}
	if err := list.Run(ctx); err != nil && !saysNothing(err) {
		return "", "", err
	}
	address = chooseRemote(string(out.Data))
	remotes.Put(string(text), address)
	return address, filepath.ToSlash(inside), nil
}

// chooseRemote returns the address of origin, else that of the only remote, from git's list.
func chooseRemote(list string) string {
	found, names := "", 0
	for entry := range strings.SplitSeq(list, "\x00") {
		key, address, _ := strings.Cut(entry, "\n")
		switch {
		case key == "remote.origin.url":
			return address
		case key != "":
			found, names = address, names+1
		}
	}
	if names > 1 {
		return ""
	}
	return found
}
