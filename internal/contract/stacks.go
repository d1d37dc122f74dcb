package contract

import (
	"io/fs"
	"path"
	"strings"
)

// stack is a kind of project, with the command that is proposed for it.
type stack struct {
	name string
	// marks are patterns of the names by which it is known, the likelier first; one that ends in
	// a slash is a folder.
	marks []string
	// command is proposed; %s stands for the name that was found.
	command string
}

var stacks = []stack{
	{"go", []string{"go.mod"}, "go build ./... && go vet ./... && go test ./..."},
	{"typescript", []string{"package.json"}, "npm test"},
	{"python", []string{"pyproject.toml", "setup.py", "requirements*.txt"}, "python -m pytest"},
	{"terraform", []string{"*.tf"}, "terraform init -backend=false && terraform validate"},
	{"ansible", []string{"playbook*.yml", "playbook*.yaml", "site.yml", "ansible/"}, "ansible-lint"},
	{"docker", []string{"Dockerfile"}, "docker build --check ."},
	{"k8s", []string{"k8s/", "kubernetes/", "manifests/"}, "kubectl apply --dry-run=client -R -f %s"},
}

// Stacks returns the names of the stacks.
func Stacks() []string {
	out := []string{Auto}
	for _, s := range stacks {
		out = append(out, s.name)
	}
	return out
}

// proposal returns the stacks of a call that its folder holds, and a command that checks them.
func proposal(tree fs.FS, call Call) (found []string, command string) {
	entries, err := fs.ReadDir(tree, call.Dir)
	if err != nil {
		return nil, ""
	}
	var commands []string
	if call.Dir != "." {
		commands = append(commands, "cd '"+strings.ReplaceAll(call.Dir, "'", `'\''`)+"'")
	}
	for _, s := range stacks {
		if mark := s.in(entries); mark != "" && (call.Stack == Auto || call.Stack == s.name) {
			found, commands = append(found, s.name), append(commands, strings.Replace(s.command, "%s", mark, 1))
		}
	}
	if found == nil {
		return nil, ""
	}
	return found, strings.Join(commands, " && ")
}

// in returns the entry that shows that a folder belongs to the stack, "" if none does.
func (s stack) in(entries []fs.DirEntry) string {
	for _, mark := range s.marks {
		name, folder := strings.CutSuffix(mark, "/")
		for _, e := range entries {
			if fits, err := path.Match(name, e.Name()); err == nil && fits && e.IsDir() == folder {
				return e.Name()
			}
		}
	}
	return ""
}
