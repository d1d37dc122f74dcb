package untrusted

import "strings"

// readRules returns the columns of the rules in a file, whose head describes its format.
func readRules(file string) (rules [][]string) {
	lists := map[string]string{}
	for line := range strings.Lines(file) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' || line[0] == '\t' { // an example
			continue
		}
		for name, alternatives := range lists {
			line = strings.ReplaceAll(line, "{"+name+"}", "(?:"+alternatives+")")
		}
		name, more, list := strings.Cut(line, " = ")
		switch known := lists[name]; {
		case !list || strings.Contains(line, "\t"):
			rules = append(rules, strings.Split(line, "\t"))
		case known == "":
			lists[name] = more
		default:
			lists[name] = known + "|" + more
		}
	}
	return rules
}
