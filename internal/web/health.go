package web

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Health describes the setup of the program for a project and on this machine. The dashboard only shows it.
type Health struct {
	// Places are the folders in which assistants may work.
	Places []Place
	// Checks are the requested checks of the doctor.
	Checks []Check
	// UserFile is the person's own file of settings.
	UserFile string
}

// Place is a folder on record.
type Place struct {
	// From is the place of the record. Why is the reason to ignore the folder; "" if it counts.
	Folder, From, Why string
}

// Check is one check of the doctor.
type Check struct {
	Name string
	// Status is ok, warning or problem.
	Status, Detail string
	// Items are the defects with their places. Remedy is the next step; "" if all is well.
	Items  []string
	Remedy string
}

// HealthFunc gathers the health of a project's folder, "" for the machine alone, in a language. whole also
// reads and checks all files of the project.
type HealthFunc func(ctx context.Context, l lang.Language, folder string, whole bool) (Health, error)
