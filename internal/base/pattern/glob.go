package pattern

import (
	"path"
	"strings"
)

// MatchPath reports whether a path matches a glob, as [path.Match] has it for each part; ** stands for any number of
// folders. It takes at most len(glob) × len(name) steps.
func MatchPath(glob, name string) bool {
	parts := strings.Split(name, "/")
	// reach[j] is true if the glob so far matches the first j parts of the name.
	reach := make([]bool, len(parts)+1)
	reach[0] = true
	for p := range strings.SplitSeq(glob, "/") {
		next := make([]bool, len(parts)+1)
		for j := range next {
			switch {
			case p == "**":
				hasFolderMore := j > 0 && next[j-1]
				next[j] = reach[j] || hasFolderMore
			case j > 0 && reach[j-1]:
				ok, err := path.Match(p, parts[j-1])
				next[j] = ok && err == nil
			}
		}
		reach = next
	}
	return reach[len(parts)]
}
