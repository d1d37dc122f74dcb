package process

import (
	"errors"
	"os"
)

// Mark names a process for good. A number alone is given to another process later, and names different processes in
// different containers, so the start of the process is in it too.
type Mark struct {
	PID int `json:"pid"`
	// Started is the start, in a form of the system; "" if the system does not say it.
	Started string `json:"started,omitempty"`
}

// Self returns the mark of this process.
func Self() Mark { return MarkOf(os.Getpid()) }

// MarkOf returns the mark of the process that has a number now.
func MarkOf(pid int) Mark { return Mark{pid, startOf(pid)} }

// Runs reports whether the process of a mark is there, as far as this process can see.
func (m Mark) Runs() bool { return m.PID > 0 && m.Started != "" && m == MarkOf(m.PID) }

// ErrUnmarked is the error of a signal to a process that has ended, or may be another one.
var ErrUnmarked = errors.New("no such process is seen from here")

// Interrupt asks a process to end, as Ctrl+C at its terminal does. It never reaches another process that has the number
// now, wherever the system can hold on to a process (Linux); elsewhere there is a moment between check and signal.
func (m Mark) Interrupt() error {
	if m.PID <= 0 {
		return ErrUnmarked
	}
	p, err := os.FindProcess(m.PID) // holds on to it
	if err != nil {
		return ErrUnmarked
	}
	defer func() { _ = p.Release() }()
	if !m.Runs() {
		return ErrUnmarked
	}
	if err = p.Signal(os.Interrupt); errors.Is(err, os.ErrProcessDone) {
		return ErrUnmarked
	}
	return err
}
