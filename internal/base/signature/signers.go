package signature

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Listed is a line of a list of signers.
type Listed struct {
	// Subjects are the accounts of the key's owner.
	Subjects []string
	Key      Key
	// After and Before bound the time of valid signatures; they are zero for no bound.
	After, Before time.Time
	Comment       string
}

// maxSigners bounds the lines read from a list.
const maxSigners = 10_000

// ParseSigners reads a list of signers in the form called allowed signers by git and ssh-keygen, see
// ssh-keygen(1): accounts, options, key. problems names each unreadable line by number; it counts for
// nobody. The same goes for a line of a certificate authority, with a pattern instead of an account, or for
// another namespace.
func ParseSigners(text string) (list []Listed, problems []string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		one, problem := parseLine(line)
		switch {
		case n > maxSigners:
			return list, append(problems, fmt.Sprintf("line %d: the list has too many lines", n))
		case problem != "":
			problems = append(problems, fmt.Sprintf("line %d: %s", n, problem))
		default:
			list = append(list, one)
		}
	}
	return list, problems
}

func parseLine(line string) (one Listed, problem string) {
	names, rest, _ := strings.Cut(line, " ")
	if strings.HasPrefix(names, `"`) {
		end := strings.IndexByte(line[1:], '"')
		if end < 0 {
			return one, "a quotation mark is open"
		}
		names, rest = line[1:end+1], line[end+2:]
	}
	public, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	if err != nil {
		return one, "no public key of OpenSSH"
	}
	one = Listed{Subjects: strings.Split(names, ","), Key: keyOf(public), Comment: comment}
	if strings.ContainsAny(names, "*?!") || slices.Contains(one.Subjects, "") {
		return one, "an account is not a pattern"
	}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "namespaces":
			if !slices.Contains(strings.Split(value, ","), Namespace) {
				return one, "the key is for another namespace"
			}
		case "valid-after":
			one.After, err = parseTime(value)
		case "valid-before":
			one.Before, err = parseTime(value)
		default: // cert-authority, and whatever may narrow the line
			return one, "the option " + name + " is not known"
		}
		if err != nil {
			return one, "the option " + name + " has no time"
		}
	}
	return one, ""
}

// parseTime reads a time as ssh-keygen(1) writes it: YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z]. Without Z, it is taken as UTC
// on every machine.
func parseTime(value string) (time.Time, error) {
	value = strings.TrimSuffix(value, "Z")
	layout := "20060102150405"
	return time.Parse(layout[:min(len(layout), max(len(value), 8))], value)
}

// Counts reports whether a key counts for an account at a time by a list.
func Counts(list []Listed, key Key, subject string, at time.Time) bool {
	return subject != "" && slices.ContainsFunc(list, func(l Listed) bool {
		return l.Key == key && slices.Contains(l.Subjects, subject) &&
			!at.Before(l.After) && (l.Before.IsZero() || at.Before(l.Before))
	})
}

// Line returns the line of a list for an account and a key.
func Line(subject string, key Key, comment string) string {
	return strings.TrimSpace(fmt.Sprintf(`%s namespaces="%s" %s %s`, subject, Namespace, key, comment))
}
