//go:build !unix

package trust

// mayUse asks nothing: here permissions do not tell it.
func mayUse(string, bool) error { return nil }
