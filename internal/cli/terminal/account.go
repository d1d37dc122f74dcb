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

// NewWho returns a function that says who this process acts for in a folder: its account, with the name that git has
// for them there. A server on HTTP acts for the account that it runs under, for all who have its token.
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

// Account returns the name of the account of this process, as histories have it.
func Account() string { return visible.Line(account()) }

// account is findAccount, which a process asks once.
var account = sync.OnceValue(findAccount)

// findAccount returns the name of the account of this process, else "uid:" with its number. No variable has a say: the
// standard library takes $USER for an account that is in no file.
func findAccount() string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" { // where the system itself is asked
		if u, err := user.Current(); err == nil {
			return u.Username
		}
	}
	id := strconv.Itoa(os.Getuid())
	accounts, _ := durable.ReadPath("/etc/passwd", maxAccounts) // it may be missing in a container
	for line := range strings.Lines(string(accounts)) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == id && f[0] != "" {
			return f[0]
		}
	}
	return "uid:" + id
}
