package terminal

import (
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/git"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxAccounts bounds the file with the accounts, in bytes.
const maxAccounts = 16 << 20

// NewWho returns a function for the person this process acts for in a folder: the account of the process,
// with the name from git's settings there. A server on HTTP acts for this account, too, for all callers with
// the token.
func NewWho() func(folder string) workflow.Person {
	var names sync.Map // by folder
	return func(folder string) workflow.Person {
		name, known := names.Load(folder)
		if !known {
			name, _ = names.LoadOrStore(folder, git.Identity(folder))
		}
		text, _ := name.(string)
		return workflow.Person{Subject: Account(), Name: visible.Line(text)}
	}
}

// Account returns the name of the account of this process, in the form of histories.
func Account() string { return visible.Line(account()) }

// account calls findAccount once.
var account = sync.OnceValue(findAccount)

// findAccount returns the name of the account of this process, or else "uid:" with the number. Variables do
// not count, unlike in the standard library, which falls back to $USER for an account that is in no file.
func findAccount() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" { // the library asks the system there
		if u, err := user.Current(); err == nil {
			return u.Username
		}
	}
	id := strconv.Itoa(os.Getuid())
	accounts, _ := durable.ReadPath("/etc/passwd", maxAccounts) // a container may have none
	for line := range strings.Lines(string(accounts)) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == id && f[0] != "" {
			return f[0]
		}
	}
	return "uid:" + id
}
