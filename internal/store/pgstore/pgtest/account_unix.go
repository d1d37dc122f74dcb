//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// serverAccount returns the account for the server, if the test's is unsuitable: root is refused.
func serverAccount() (uid, gid uint32, other bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			_, err = fmt.Sscan(u.Uid+" "+u.Gid, &uid, &gid)
			return uid, gid, err == nil
		}
	}
	return 65534, 65534, true
}

// giveToServer gives the folder to the account of the server.
func giveToServer(folder string) error {
	uid, gid, other := serverAccount()
	if !other {
		return nil
	}
	return os.Chown(folder, int(uid), int(gid))
}

// asAnother has a program run as the account of the server.
func asAnother(cmd *exec.Cmd) {
	if uid, gid, other := serverAccount(); other {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
}

// killTree kills a process and all children. It is stopped first, so that it starts no others.
func killTree(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range stats {
		status, _ := durable.ReadPath(name, durable.MaxText)
		if strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(pid)+"\n") {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	}
	return errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
}
