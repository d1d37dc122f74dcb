//go:build !unix

package pgtest

import (
	"errors"
	"os/exec"
)

func giveToServer(string) error { return exec.ErrNotFound }

func asAnother(*exec.Cmd) {}

func killTree(int) error { return errors.ErrUnsupported }
