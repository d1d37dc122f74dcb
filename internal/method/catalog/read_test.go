package catalog_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/resolve"
)

// canary stands in files that nobody may ever be shown.
const canary = "canary-of-the-project"

// around are files of a project that are none of the method.
var around = map[string]string{
	".env": "SECRET=" + canary, "secret.txt": canary, "README.md": canary, "src/main.go": canary, "docs/prd.md": canary,
	"_bmad-output/x.md": canary, ".claude/settings.json": canary, ".claude/skills/pdf-tools/secret.md": canary, ".git/config": canary,
}

// link makes a symbolic link, or skips the test if nobody may.
func link(t *testing.T, dir, name, to string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(to), name); err != nil {
		t.Skipf("no symbolic links can be made here: %v", err)
	}
}

func TestRead(t *testing.T) {
	c := catalog.Open(onDisk(t, with(layout(t, "v6-skills", "v4"), around)))
	tests := []struct{ address, uri, mime, starts string }{
		{"bmad://_bmad/bmm/config.yaml", "bmad://_bmad/bmm/config.yaml", "application/yaml", "# BMM Module"},
		{"core/config.yaml", "bmad://_bmad/core/config.yaml", "application/yaml", "user_name: Kim"}, // from the installation
		{"{project-root}/_bmad/config.toml", "bmad://_bmad/config.toml", "application/toml", "# Written by"},
		{"bmad://.bmad-core/tasks/create-doc.md", "bmad://.bmad-core/tasks/create-doc.md", "text/markdown", "<!-- Powered"},
		{"tasks/create-next-story.md", "bmad://.bmad-core/tasks/create-next-story.md", "text/markdown", "<!-- Powered"},
		{"bmad://.claude/skills/bmad-prd/SKILL.md", "bmad://.claude/skills/bmad-prd/SKILL.md", "text/markdown", "---\nname: bmad-prd"},
		{"bmad://.agents/skills/bmad-prd/SKILL.md", "bmad://.agents/skills/bmad-prd/SKILL.md", "text/markdown", "---\nname: bmad-prd"}, // a copy for another assistant
		{"_bmad/scripts/render_skill.py", "bmad://_bmad/scripts/render_skill.py", "text/x-python", "# Stands for"},
		{"_bmad/_config/skill-manifest.csv", "bmad://_bmad/_config/skill-manifest.csv", "text/csv", "canonicalId,"},
		{"_bmad/custom/.gitignore", "bmad://_bmad/custom/.gitignore", "text/plain", "*.user.toml"},
	}
	for _, tt := range tests {
		file, err := follow(c, tt.address)
		if err != nil || file.URI != tt.uri || file.MIMEType != tt.mime || !strings.HasPrefix(string(file.Data), tt.starts) || file.Source != catalog.Project || "bmad://"+file.Path != tt.uri {
			t.Errorf("%s: %s, %s, %s, %.20q, %v", tt.address, file.URI, file.Source, file.MIMEType, file.Data, err)
		}
	}
	// The bytes are those of the file, a mark at its beginning and the ends of its lines too.
	odd := "\ufeffa: 1\r\nb: 2\r\n"
	raw := catalog.Open(onDisk(t, with(layout(t, "v6-files"), map[string]string{"_bmad/bmm/odd.yaml": odd})))
	if got := read(t, raw, "_bmad/bmm/odd.yaml"); got != odd {
		t.Errorf("a file with marks: %q", got)
	}
}

// TestReadRefuses: nothing but text files of the installations is served.
func TestReadRefuses(t *testing.T) {
	s := onDisk(t, with(layout(t, "v6-skills"), around))
	put(t, filepath.Join(s.Dir, "_bmad", "large.md"), strings.Repeat("x", catalog.MaxFile+1))
	put(t, filepath.Join(s.Dir, "_bmad", "full.md"), strings.Repeat("x", catalog.MaxFile))
	put(t, filepath.Join(s.Dir, "_bmad", "binary.md"), "a\x00b")
	put(t, filepath.Join(s.Dir, "_bmad", "latin.md"), "caf\xe9")
	put(t, filepath.Join(s.Dir, "_bmad-more", "x.md"), canary)
	put(t, filepath.Join(s.Dir, ".claude", "skills", "bmad-prd-notes.md"), canary)
	c := catalog.Open(s)
	tests := []struct {
		address       string
		code          fault.Code
		message, hint string
	}{
		{"_bmad/large.md", fault.NotAllowed, "has 2097153 bytes or more; at most 2097152 are served", "editor"},
		{"_bmad/binary.md", fault.NotAllowed, "is not a text file", "only text is served"},
		{"_bmad/latin.md", fault.NotAllowed, "is not a text file", "only text is served"},
		{"_bmad/core", fault.InvalidArgument, `"_bmad/core" is a folder`, `"_bmad/core/**"`},
		{"_bmad", fault.InvalidArgument, `"_bmad" is a folder`, "bmad-resources"},
		{"core", fault.InvalidArgument, "is a folder", "bmad-resources"},
		{"_bmad/core/none.md", fault.NotFound, `no installation has a file "_bmad/core/none.md"`, "its folder has, among others: bmad://_bmad/core/config.yaml, bmad://_bmad/core/module-help.csv"},
		{"core/confg.yaml", fault.NotFound, "no installation has a file", "did you mean bmad://_bmad/core/config.yaml?"},
		{"bmad://_bmaad/coree/config.yaml", fault.NotFound, "no installation has a file", "did you mean bmad://_bmad/core/config.yaml?"},
		{"_bmad/core/config.yaml/x", fault.NotFound, "no installation has a file", "list the agents"},
		{"bmad-build/SKILL.md", fault.NotFound, "no installation has a file", "did you mean bmad://.claude/skills/bmad-build/SKILL.md?"},
		{"bmad://~user/_bmad/core/config.yaml", fault.NotFound, `unknown source "user"`, "the sources are: project"},
		{"bmad://~projekt/_bmad/core/config.yaml", fault.NotFound, `unknown source "projekt"`, "did you mean project? the sources are: project"},
		{".claude/skills/pdf-tools/SKILL.md", fault.NotFound, "no installation has a file", "list the agents"},
		{"_bmad-more/x.md", fault.NotFound, "no installation", "list"}, {".claude/skills/bmad-prd-notes.md", fault.NotFound, "no installation", "list"}, {".claude/skills", fault.NotFound, "no installation", "list"},
	}
	for name := range around {
		tests = append(tests, struct {
			address       string
			code          fault.Code
			message, hint string
		}{name, fault.NotFound, "no installation has a file", ""})
	}
	for _, tt := range tests {
		file, err := follow(c, tt.address)
		wantFault(t, tt.address, err, tt.code, tt.message, tt.hint)
		resolved, resolvedErr := follow(c, tt.address+"?view=resolved")
		wantFault(t, tt.address+" resolved", resolvedErr, tt.code, tt.message, tt.hint)
		if len(file.Data)+len(resolved.Data) > 0 {
			t.Errorf("%s: an error and %q", tt.address, file.Data)
		}
	}
	if got := read(t, c, "_bmad/full.md"); len(got) != catalog.MaxFile {
		t.Errorf("the largest file has %d bytes", len(got))
	}
	if _, err := catalog.Open().Read(catalog.Ref{Path: "x"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("of no source: %v", err)
	}
}

// TestLinks: a symbolic link is followed within the tree that it lies in, and no further.
func TestLinks(t *testing.T) {
	s := onDisk(t, with(layout(t, "v6-skills"), around))
	secret := filepath.Join(t.TempDir(), "secret.txt")
	put(t, secret, canary)
	for name, to := range map[string]string{
		"_bmad/absolute.md": secret, "_bmad/up.md": "../../" + filepath.Base(filepath.Dir(secret)) + "/secret.txt", "_bmad/sibling.md": "../.env", "_bmad/deep/sibling.md": "../../secret.txt",
		"_bmad/own-absolute.yaml": filepath.Join(s.Dir, "_bmad", "core", "config.yaml"), "_bmad/etc": "/etc", "_bmad/all": "..", "_bmad/skill.md": "../.claude/skills/bmad-prd/SKILL.md",
		"_bmad/within.yaml": "core/config.yaml", "_bmad/deep/within.yaml": "../core/../core/./config.yaml", "_bmad/folder": "core",
		"_bmad/one.yaml": "two.yaml", "_bmad/two.yaml": "deep/within.yaml", "_bmad/loop-a": "loop-b", "_bmad/loop-b": "loop-a", "_bmad/self": "self", "_bmad/nowhere": "none.md",
		"_bmad/out-and-in.yaml": "../_bmad/core/config.yaml", ".claude/skills/bmad-prd/env.md": "../../../.env", ".claude/skills/bmad-prd/other.md": "../bmad-build/SKILL.md", "_bmad/backslash.md": `..\.env`,
	} {
		link(t, s.Dir, name, to)
	}
	c := catalog.Open(s)
	for _, name := range []string{"_bmad/within.yaml", "_bmad/deep/within.yaml", "_bmad/folder/config.yaml", "_bmad/one.yaml", "within.yaml"} {
		if got := read(t, c, name); !strings.HasPrefix(got, "user_name: Kim") {
			t.Errorf("%s: %.30q", name, got)
		}
	}
	for _, name := range []string{
		"_bmad/absolute.md", "_bmad/up.md", "_bmad/sibling.md", "_bmad/deep/sibling.md", "_bmad/own-absolute.yaml", "_bmad/etc", "_bmad/all", "_bmad/skill.md",
		"_bmad/loop-a", "_bmad/self", "_bmad/out-and-in.yaml", ".claude/skills/bmad-prd/env.md", ".claude/skills/bmad-prd/other.md", "_bmad/backslash.md",
	} {
		_, err := follow(c, name)
		wantFault(t, name, err, fault.NotAllowed, "leads out of the installation, by a symbolic link", "only files of the installation are served")
	}
	for _, name := range []string{"_bmad/etc/passwd", "_bmad/all/.env", "_bmad/all/_bmad/core/config.yaml", "_bmad/nowhere"} {
		if file, err := follow(c, name); !fault.Is(err, fault.NotAllowed) && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %q, %v", name, file.Data, err)
		}
	}
	listed, err := c.Files("")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listed {
		if file, err := follow(c, l.URI); err != nil || strings.Contains(string(file.Data), canary) || int64(len(file.Data)) != l.Size || file.MIMEType != l.MIMEType {
			t.Errorf("%s is listed: %v", l.URI, err)
		}
	}
}

// TestLinkedManifests: rows come from no file outside either.
func TestLinkedManifests(t *testing.T) {
	files := layout(t, "v6-skills", "v6-alpha", "v4")
	linked := []string{
		"_bmad/_config/skill-manifest.csv", "_bmad/_config/bmad-help.csv", "_bmad/_config/manifest.yaml", "_bmad/config.toml", "_bmad/custom/config.toml", "_bmad/core/v6-shims/README.md",
		".claude/skills/bmad-prd/SKILL.md", ".claude/skills/bmad-build/customize.toml", "bmad/_cfg/agent-manifest.csv", "bmad/_cfg/agents/bmm-analyst.customize.yaml", "bmad/bmm/agents/tea.md", "bmad/core/tasks/index-docs.xml",
		"bmad/bmm/config.yaml", ".bmad-core/agents/analyst.md", ".bmad-core/workflows/greenfield-service.yaml", ".bmad-core/tasks/create-doc.md", ".bmad-core/core-config.yaml",
	}
	secret := "---\nname: " + canary + "\ndescription: " + canary + "\n---\n# " + canary + "\n" + canary + ": " + canary + "\n"
	for n, name := range linked {
		all := with(files, map[string]string{"secret.txt": secret})
		up := strings.Repeat("../", strings.Count(name, "/")) + "secret.txt"
		all[name] = &fstest.MapFile{Data: []byte(up), Mode: fs.ModeSymlink | 0o777}
		s := source(all)
		if n < 2 { // a disk takes longer, and follows no other links
			delete(all, name)
			s = onDisk(t, all)
			link(t, s.Dir, name, []string{up, filepath.Join(s.Dir, "secret.txt")}[n])
		}
		c := catalog.Open(s)
		text := listAll(t, c)
		for _, i := range c.Items() {
			if r, err := resolve.Item(c, i, at); err == nil {
				text += describe(t, r)
			} else {
				text += err.Error()
			}
		}
		if strings.Contains(text, canary) {
			t.Errorf("%s: the file that it leads to is shown", name)
		}
		if n > 1 && !strings.Contains(text, "symbolic link") {
			t.Errorf("%s: that it leads out is not told", name)
		}
	}
}

// TestLinkedSkills: skills can be links into a folder of the project that has them once; a link
// that is absolute, or that makes more of the project a skill than it is, is reported.
func TestLinkedSkills(t *testing.T) {
	shared := with(fstest.MapFS{}, map[string]string{
		".agents/skills/bmad-shared/SKILL.md": "---\nname: bmad-shared\ndescription: Shared\n---\nRead references/x.md\n", ".agents/skills/bmad-shared/references/x.md": "# X\n",
		"tools/bmad-tool/SKILL.md": "---\nname: bmad-tool\ndescription: A tool of this project\n---\n",
		"SKILL.md":                 "---\nname: bmad-everything\ndescription: All of the project\n---\n",
	})
	s := onDisk(t, with(shared, around))
	for name, to := range map[string]string{
		".claude/skills/bmad-shared": "../../.agents/skills/bmad-shared", ".claude/skills/bmad-tool": "../../tools/bmad-tool",
		".claude/skills/bmad-absolute": filepath.Join(s.Dir, "tools", "bmad-tool"), ".claude/skills/bmad-nowhere": "../../none", ".claude/skills/other": "/etc",
		".claude/skills/bmad-project": "../..", ".claude/skills/bmad-claude": "..",
	} {
		link(t, s.Dir, name, to)
	}
	put(t, filepath.Join(s.Dir, ".claude", "SKILL.md"), "---\nname: bmad-settings\n---\n")
	c := catalog.Open(s)
	if got, want := names(c, catalog.Task), "bmad-shared, bmad-tool"; got != want {
		t.Errorf("skills %s, want %s", got, want)
	}
	for _, address := range []string{".claude/skills/bmad-shared/SKILL.md", ".claude/skills/bmad-shared/references/x.md", ".claude/skills/bmad-tool/SKILL.md", ".agents/skills/bmad-shared/references/x.md"} {
		read(t, c, address)
	}
	if r := resolveItem(t, c, catalog.Task, "bmad-shared"); more(r) != "bmad://.claude/skills/bmad-shared/references/x.md" {
		t.Errorf("refers to %s", more(r))
	}
	var told []string
	for _, p := range c.Problems() {
		told = append(told, p.Path)
	}
	slices.Sort(told)
	if want := []string{".claude/skills/bmad-absolute", ".claude/skills/bmad-claude", ".claude/skills/bmad-nowhere", ".claude/skills/bmad-project"}; !slices.Equal(told, want) {
		t.Errorf("reported %q, want %q", told, want)
	}
	for _, address := range []string{".claude/skills/bmad-project/.env", ".claude/skills/bmad-project/secret.txt", ".claude/skills/bmad-claude/settings.json", ".claude/skills/bmad-absolute/SKILL.md"} {
		if file, err := follow(c, address); err == nil {
			t.Errorf("%s: %q", address, file.Data)
		}
	}
}

// TestLinkedInstallation: the folder of an installation can be a link within the project.
func TestLinkedInstallation(t *testing.T) {
	files := fstest.MapFS{}
	for name, f := range layout(t, "v6-files") {
		files[strings.Replace(name, "_bmad/", "vendor/method/", 1)] = f
	}
	s := onDisk(t, files)
	link(t, s.Dir, "_bmad", "vendor/method")
	c := catalog.Open(s)
	if got := names(c, catalog.Agent); got != "bmm/analyst, bmm/architect, bmm/tech-writer, core/bmad-master" {
		t.Errorf("agents %s, problems %s", got, problems(c))
	}
	read(t, c, "_bmad/bmm/agents/analyst.md")

	// A link to a folder elsewhere leads out, one to the project itself would serve all of it.
	for _, to := range []string{filepath.Join(s.Dir, "vendor", "method"), ".", "core/.."} {
		out := onDisk(t, with(fstest.MapFS{}, around))
		write(t, out.Dir, with(fstest.MapFS{}, map[string]string{"_config/x.md": "", "core/tasks/x.md": "# X\n", "core/config.yaml": "a: b\n"}))
		link(t, out.Dir, "_bmad", to)
		c := catalog.Open(out)
		if len(c.Items()) != 0 {
			t.Errorf("%s: %s", to, names(c, catalog.Task))
		}
		if file, err := follow(c, "_bmad/.env"); err == nil {
			t.Errorf("%s: %q", to, file.Data)
		}
	}
}

// TestSourcesOfFiles: a path of two sources is the first one's; each can be asked for.
func TestSourcesOfFiles(t *testing.T) {
	first, second := onDisk(t, layout(t, "v6-files")), onDisk(t, with(layout(t, "v6-files"), map[string]string{"_bmad/core/config.yaml": "user_name: Else\n", "_bmad/bmm/only.md": "# Only\n"}))
	second.Name = "git-fork"
	c := catalog.Open(first, second)
	for address, want := range map[string]string{
		"_bmad/core/config.yaml": "# CORE", "core/config.yaml": "# CORE", "bmad://~git-fork/_bmad/core/config.yaml": "user_name: Else", "~git-fork/core/config.yaml": "user_name: Else",
		"_bmad/bmm/only.md": "# Only", "bmm/only.md": "# Only", "bmad://~project/_bmad/core/config.yaml": "# CORE",
	} {
		if got := read(t, c, address); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.30q, want %q", address, got, want)
		}
	}
	if file, err := follow(c, "bmm/only.md"); err != nil || file.URI != "bmad://~git-fork/_bmad/bmm/only.md" {
		t.Errorf("its address is %s, %v", file.URI, err)
	}
	_, err := follow(c, "bmad://~project/_bmad/bmm/only.md")
	wantFault(t, "of the other source", err, fault.NotFound, "no installation has a file", "")
	_, err = follow(c, "bmad://~git-other/_bmad/bmm/only.md")
	wantFault(t, "of no source", err, fault.NotFound, `unknown source "git-other"`, "project, git-fork")
}

// TestFolderItself: if the folder of the source is the installation, files that the version
// control keeps in it are still nobody's to read.
func TestFolderItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "_bmad")
	sub, err := fs.Sub(layout(t, "v6-files"), "_bmad")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, sub); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, ".git", "config"), canary)
	link(t, dir, "bmm/config.md", "../.git/config")
	c := catalog.Open(openSource(t, "git-x", dir))
	read(t, c, "bmm/agents/analyst.md")
	for _, address := range []string{".git/config", ".git", ".GIT/config", "~git-x/.git/config"} {
		_, err := follow(c, address)
		wantFault(t, address, err, fault.NotFound, "no installation has a file", "")
	}
	_, err = follow(c, "bmm/config.md")
	wantFault(t, "a link to it", err, fault.NotAllowed, "leads out of the installation", "only files of the installation")
	listed, err := c.Files("")
	if err != nil || len(listed) < 40 || slices.ContainsFunc(listed, func(l catalog.Listed) bool { return strings.Contains(l.URI, ".git/") }) {
		t.Errorf("%d files, %v", len(listed), err)
	}
}

// TestNoTexts: files that cannot be read are not offered: the output of Python for scripts that were run,
// pictures, and files that are too large.
func TestNoTexts(t *testing.T) {
	c := catalog.Open(checkout(map[string]string{
		"skills/bmad-x/SKILL.md":                            "---\nname: bmad-x\ndescription: X\n---\n# X\n",
		"skills/bmad-x/scripts/plan.py":                     "print()\n",
		"skills/bmad-x/scripts/__pycache__/plan.cp-311.pyc": "\xcb\r\r\n\x00",
		"skills/bmad-x/assets/Logo.PNG":                     "\x89PNG",
		"skills/bmad-x/assets/large.md":                     strings.Repeat("x", catalog.MaxFile+1),
	}))
	listed, err := c.Files("")
	if err != nil || len(listed) != 2 {
		t.Errorf("%s, %v", asJSON(t, listed), err)
	}
	more := resolveItem(t, c, catalog.Task, "bmad-x").More
	if len(more) != 1 || !strings.HasSuffix(more[0].URI, "/scripts/plan.py") {
		t.Errorf("%s", asJSON(t, more))
	}
}
