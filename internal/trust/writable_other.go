//go:build !unix

package trust

// takesFiles asks nothing: here permissions do not tell it.
func takesFiles(string) error { return nil }
