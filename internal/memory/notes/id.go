package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// AppOf is the name of a project in the ids of its notes, as the kits of the method make it.
func AppOf(project string) string {
	return "bmad-" + strings.ReplaceAll(strings.ToLower(project), " ", "-")
}

// idRunes is how much of a text counts for its id.
const idRunes = 150

// idSource is what the id of a note is made of.
func idSource(project, agent, text string) string {
	head := []rune(text)
	return AppOf(project) + ":" + agent + ":" + string(head[:min(len(head), idRunes)])
}

// idOf returns the id of a text, the same that the kits of the method give it.
func idOf(project, agent, text string) string {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(idSource(project, agent, text))).String()
}

// ownID returns the id of a text whose first one another text has.
func ownID(project, agent, text string) string {
	sum := sha256.Sum256([]byte(text))
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(idSource(project, agent, text)+":"+hex.EncodeToString(sum[:]))).String()
}
