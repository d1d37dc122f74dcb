package store

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// Trouble adds a code, the cause and a remedy to an error from reading or writing the project in dir.
// Errors with a code, and the context's own, are returned unchanged.
func Trouble(dir *durable.Dir, err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return fault.New(fault.Conflict, "it is in use: %w", busy).
			WithHint("wait for the other call to end, then repeat this one; if it hangs, end it: its lock goes with it")
	}
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return fault.New(fault.Storage, "the disk did not confirm a change that is already visible: %w", unconfirmed).
			WithHint("a power loss could undo it: check the disk, then call status to see where the run stands before anything is repeated")
	}
	if dir.LeadsOut(Folder) {
		return fault.New(fault.Storage, "%s is a symbolic link that leads out of the project", dir.Join(Folder)).
			WithHint("bmad-mcp stays inside the project: make it a folder of it")
	}
	if info, statErr := dir.Stat(Folder); statErr == nil && !info.IsDir() {
		return fault.New(fault.Storage, "%s is a file; want the folder that holds the runs", dir.Join(Folder)).
			WithHint("move the file away, then repeat the action")
	}
	if remedy, ok := fault.Hostile(err); ok {
		return fault.New(fault.Storage, "a file of the project cannot be used: %w", err).
			WithHint("%s, then repeat the action; nothing was changed", remedy)
	}
	if !fault.OfDisk(err) {
		return fault.Unexpected(err)
	}
	e := fault.New(fault.Storage, "the project cannot be read or written: %w", err)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, errQuota):
		return e.WithHint("free some space on the file system of %s, then repeat the action; nothing was changed", dir.Path())
	case errors.Is(err, syscall.EROFS):
		return e.WithHint("the file system of %s is mounted read-only: mount it writable, then repeat the action; nothing was changed", dir.Path())
	case errors.Is(err, fs.ErrPermission):
		return e.WithHint("make the project folder, its %s and its .claude folders writable for you, then repeat the action; nothing was changed", Folder)
	}
	return e.WithHint("check the disk and the permissions of the project folder, then repeat the action; nothing was changed")
}
