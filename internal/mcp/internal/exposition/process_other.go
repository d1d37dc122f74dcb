//go:build !linux && !darwin && !windows

package exposition

// measure returns no figures, because these systems report them in ways of their own.
func measure() map[string]float64 { return map[string]float64{} }
