package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

func duration(field *time.Duration, key, v string, low, high time.Duration) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < low || d > high {
		return lang.Errorf("%s %q is not a duration from %v to %v, such as 10s", key, v, low, high)
	}
	*field = d
	return nil
}

func whole[T int | int64](field *T, key, v string, low, high T) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < int64(low) || n > int64(high) {
		return lang.Errorf("%s %q is not a whole number from %d to %d", key, v, low, high)
	}
	*field = T(n)
	return nil
}

func pick[T ~string](field *T, key, v string, valid []T) error {
	if !slices.Contains(valid, T(v)) {
		names := make([]string, len(valid))
		for i, name := range valid {
			names[i] = string(name)
		}
		return lang.Errorf("%s %q is not one of %s", key, visible.Cut(v, 80, "…"), strings.Join(names, ", "))
	}
	*field = T(v)
	return nil
}

// unknownName returns the error for a name that is not among the known ones; problem is its first part.
func unknownName(problem lang.Text, name string, known []string, valid lang.Text) error {
	if near := fault.Near(name, known); len(near) > 0 {
		return lang.Errorf("%s, did you mean %s? %s", problem, strings.Join(near, ", "), valid)
	}
	return lang.Errorf("%s; %s", problem, valid)
}
