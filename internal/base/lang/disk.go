package lang

import "github.com/bmad-mcp/bmad-mcp/internal/base/durable"

// ofDisk returns the sentence of an error of package durable, which knows no languages.
func ofDisk(err error) (sentence Text, ok bool) {
	switch e := err.(type) { //nolint:errorlint // a wrapped one has further words
	case *durable.BusyError:
		if e.Holder == "" {
			return T("lock %s is held by another caller", e.Name), true
		}
		return T("lock %s is held by %s", e.Name, e.Holder), true
	case *durable.UnconfirmedError:
		return T("%s is written, but the disk did not confirm it: %v", e.Name, e.Err), true
	case *durable.NotFolderError:
		return T("%s is a file, not a folder", e.Name), true
	case *durable.NotRegularError:
		kind := e.Kind()
		return T("%s is %s, not a regular file", e.Name, T(kind)), true
	case *durable.TooLargeError:
		if e.Grew() {
			return T("%s grows while it is read; at most %d bytes are read", e.Name, e.Limit), true
		}
		return T("%s has %d bytes; at most %d are read", e.Name, e.Size, e.Limit), true
	case *durable.TooManyError:
		return T("the folder %s holds more than %d entries", e.Name, e.Limit), true
	}
	if err == durable.ErrOutside { //nolint:errorlint // as above
		return T("the folder lies elsewhere"), true
	}
	return Text{}, false
}
