package wire

import (
	"fmt"
	"os"
	"strings"
	"unicode"
)

// Key is a credential. The pointer keeps it out of the output of %+v.
type Key struct {
	value *string
	// From is the field or variable with the key.
	From string
}

// Source is a possible place of a credential.
type Source struct{ Value, From string }

// Variable returns the source of an environment variable.
func Variable(name string) Source {
	return Source{Value: os.Getenv(name), From: "the environment variable " + name}
}

// Find returns the first credential that is set; if there is none, the key is not set.
func Find(sources ...Source) (Key, error) {
	for _, s := range sources {
		if s.Value == "" {
			continue
		}
		odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || !unicode.IsPrint(r) }
		if strings.ContainsFunc(s.Value, odd) {
			return Key{}, fmt.Errorf("the key in %s has blanks, line ends or control characters; set it again without them", s.From)
		}
		return Key{value: &s.Value, From: s.From}, nil
	}
	return Key{}, nil
}

// Set reports whether the key was found.
func (k Key) Set() bool { return k.value != nil }

// Secret returns the key itself, for the header of a request only.
func (k Key) Secret() string {
	if k.value == nil {
		return ""
	}
	return *k.value
}

// explainRefusal names the source of a refused key, and the next move.
func (k Key) explainRefusal() string {
	if !k.Set() {
		return "it wants a key, and none is set"
	}
	return "the key came from " + k.From + "; check that it is complete, valid and meant for this server"
}

// removeKey removes the key from a text.
func (c *Caller) removeKey(text string) string {
	if !c.key.Set() {
		return text
	}
	return strings.ReplaceAll(text, c.key.Secret(), "[key]")
}
