package pandoc_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// installed returns the real program.
func installed(t testing.TB) pandoc.Program {
	t.Helper()
	program, err := pandoc.Find(t.TempDir())
	if err != nil {
		t.Skipf("SKIPPED: nothing is converted by the real program, as .ci/run does: %v", err)
	}
	return program
}

var tags = regexp.MustCompile(`<[^>]*>`)

// readArchive returns the text of all files of a zip archive, without the tags of XML.
func readArchive(t testing.TB, archive []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, file := range z.File {
		f, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(file.Name + "\n" + tags.ReplaceAllString(string(data), "") + "\n")
	}
	return out.String()
}

const document = "---\ntitle: The plan\nauthor: me\n---\n\n" +
	"# First heading\n\nText with *stress* and 中文.\n\n| a | b |\n|---|---|\n| cell | 2 |\n\n## Second heading\n\n- [x] done\n"

func TestFormats(t *testing.T) {
	program := installed(t)
	for format, file := range map[string]string{"docx": "word/document.xml", "odt": "content.xml", "html": ""} {
		data, err := pandoc.Convert(t.Context(), program, []byte(document), format)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		text := string(data)
		if file != "" {
			if text = readArchive(t, data); !strings.Contains(text, file+"\n") {
				t.Errorf("%s has no %s", format, file)
			}
		}
		for _, want := range []string{"The plan", "First heading", "Second heading", "cell", "中文"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", format, want)
			}
		}
	}
	data, err := pandoc.Convert(t.Context(), program, []byte("# A heading\n\nText.\n"), "pdf")
	switch {
	case program.Engine == "":
		if err == nil || !strings.Contains(err.Error(), "a PDF needs TeX") || !strings.Contains(err.Error(), "texlive-xetex") {
			t.Error(err)
		}
	case err != nil || !bytes.HasPrefix(data, []byte("%PDF")):
		t.Errorf("%.20q, %v", data, err)
	}
}

// TestFrontMatter: plain lines of it are kept as text, and the others left out.
func TestFrontMatter(t *testing.T) {
	said := standIn(t, `for a; do case $a in --metadata=pagetitle=*) ;; --metadata=*) printf '%s;' "$a";; esac; done; cat`)
	for in, want := range map[string]string{
		document[:31] + "---\nx":                            "--metadata=title=The plan;--metadata=author=me;x",
		"---\r\ntitle: \"a: b\"\r\n...\r\nx":                "--metadata=title=a: b;x",
		"---\ndate: 'x'\n---":                               "--metadata=date=x;",
		"---\n---\nx":                                       "x",
		"---\ntitle: [a]\nauthor: *x\ndate: |\n  b\n---\nx": "x",
		"---\n a:\n  title: x\nfile: y\n---\nx":             "x",
		"---\ntitle: --output=x\n--- \nx":                   "--metadata=title=--output=x;x",
		"---\ntitle: a\x00b\n---\nx":                        "---\ntitle: a\x00b\n---\nx",
		"---\ntitle: a\nx":                                  "---\ntitle: a\nx",
		"x\n---\ntitle: a\n---\n":                           "x\n---\ntitle: a\n---\n",
	} {
		if got, err := pandoc.Convert(t.Context(), said, []byte(in), "docx"); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	program := installed(t)
	bomb := "---\ntitle: <b>x</b> \\input{y}\na0: &a0 [x]\n"
	for n := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d,*a%d,*a%d]\n", n+1, n+1, n, n, n)
	}
	got, err := pandoc.Convert(t.Context(), program, []byte(bomb+"---\ntext\n"), "html")
	if err != nil || !strings.Contains(string(got), `&lt;b&gt;x&lt;/b&gt; \input{y}`) {
		t.Errorf("%s, %v", got, err)
	}
}

// TestLinks: only links to the web, to mail and within the document stay links.
func TestLinks(t *testing.T) {
	program := installed(t)
	for link, want := range map[string]bool{
		"[x](https://a.b/c)": true, "[x](HTTP://a.b)": true, "<https://a.b>": true, "[x](mailto:a@b.c)": true, "[x](#part)": true, "[x][r]\n\n[r]: https://a.b": true,
		"[x](javascript:alert(1))": false, "[x](JavaScript:alert(1))": false, "<javascript:alert(1)>": false, "[x](&#106;avascript:alert(1))": false,
		"[x](<\tjavascript:alert(1)>)": false, "[x](<java\\\nscript:alert(1)>)": false, "[x][r]\n\n[r]: vbscript:x": false, "[x](data:text/html,x)": false,
		"[x](file:///etc/passwd)": false, `[x](\\\\host\share)`: false, "[x](//host/share)": false, "[x](rel.md)": false, "[![i](/a)](javascript:x)": false,
		"note[^1]\n\n[^1]: [x](javascript:x)": false, "| a |\n|---|\n| [x](javascript:x) |": false, "# [x](javascript:x)": false, "[x](ftp://a.b)": false,
		"[x](httpsx:a)": false, "[x](blob:https://a.b)": false, "[x]()": false,
	} {
		data, err := pandoc.Convert(t.Context(), program, []byte(link), "html")
		_, body, _ := strings.Cut(string(data), "<body>")
		body = regexp.MustCompile(`href="#fn[^"]*"`).ReplaceAllString(body, "")
		if err != nil || strings.Contains(body, "href=") != want {
			t.Errorf("%s: %s, %v", link, body, err)
		}
	}
}

// TestOneAtATime: conversions wait for each other, and no longer than their callers.
func TestOneAtATime(t *testing.T) {
	outside := t.TempDir()
	program := standIn(t, "mkdir "+outside+"/busy || exit 1; sleep 0.2; rmdir "+outside+"/busy; echo done")
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if _, err := pandoc.Convert(t.Context(), program, nil, "docx"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := pandoc.Convert(ctx, standIn(t, "touch "+outside+"/began; sleep 3000"), nil, "docx")
		first <- err
	}()
	for {
		if _, err := os.Stat(filepath.Join(outside, "began")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	short, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	if _, err := pandoc.Convert(short, program, nil, "docx"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDocumentsReachNothing: no document has the program read a file or an address.
func TestDocumentsReachNothing(t *testing.T) {
	program := installed(t)
	secret := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(secret, []byte("SWORDFISH"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asked.Close() }()
	go func() {
		for {
			c, err := asked.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			t.Error("the address was asked")
		}
	}()
	formats := []string{"docx", "html", "odt"}
	if program.Engine != "" {
		formats = append(formats, "pdf")
	}
	for what, text := range map[string]string{
		"an image":         "![x](" + secret + ")",
		"a remote image":   "![x](http://" + asked.Addr().String() + "/x.png)",
		"an image in HTML": `<img src="` + secret + `">`,
		"raw TeX":          `\input{` + secret + `}`,
		"a formula":        `$\input{` + secret + `}$`,
		"a raw block":      "```{=latex}\n\\input{" + secret + "}\n```",
		"metadata": "---\nbibliography: " + secret + "\ncsl: " + secret +
			"\nheader-includes: \\input{" + secret + "}\ninclude-before: " + secret + "\ntemplate: " + secret + "\n---\ntext",
		"an included file":      "!include " + secret + "\n\n.. include:: " + secret + "\n\n#+INCLUDE: " + secret,
		"code from a file":      "```{include=\"" + secret + "\"}\n```",
		"many brackets":         strings.Repeat("[", 2000) + strings.Repeat("(", 2000),
		"deep quotes":           strings.Repeat("> ", 300) + "x",
		"control characters":    "a\x00b\x1b[31m",
		"an unfinished preface": "---\na: [\n---\n# x",
	} {
		for _, format := range formats {
			if format == "pdf" && !strings.Contains(what, "image") {
				continue
			}
			data, err := pandoc.Convert(t.Context(), program, []byte(text), format)
			if err != nil && len(err.Error()) > 3000 {
				t.Errorf("%s: %v", what, err)
			}
			if format == "pdf" && strings.Contains(what, "image") && err != nil && strings.Contains(err.Error(), "image") {
				t.Errorf("%s was looked for: %v", what, err)
			}
			if err == nil && format != "html" && format != "pdf" {
				data = []byte(readArchive(t, data))
			}
			if bytes.Contains(data, []byte("SWORDFISH")) || err != nil && strings.Contains(err.Error(), "SWORDFISH") {
				t.Errorf("%s is read in %s", what, format)
			}
		}
	}
}

// standIn writes a program in the place of pandoc.
func standIn(t testing.TB, script string) pandoc.Program {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no scripts are run here")
	}
	name := filepath.Join(t.TempDir(), "pandoc")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return pandoc.Program{Path: name}
}

// TestOtherPrograms: whatever the program does, it ends, and what it said is told.
func TestOtherPrograms(t *testing.T) {
	t.Setenv("SECRET_KEY", "SWORDFISH")
	outside := t.TempDir()
	for what, c := range map[string]struct{ script, out, err string }{
		"writes its input":       {script: "cat", out: "input"},
		"fails":                  {script: "echo the reason >&2; exit 3", err: "pandoc has failed (exit status 3): the reason"},
		"fails without a word":   {script: "exit 1", err: "it gives no reason"},
		"says nothing":           {script: "exit 0", err: "pandoc has written nothing"},
		"prints too much":        {script: "exec head -c 1000000000 /dev/zero", err: "more than 33554432 bytes"},
		"complains for ever":     {script: "head -c 100000000 /dev/zero | tr '\\0' e >&2; exit 1", err: "pandoc has failed"},
		"has control characters": {script: `printf '\033[2Jgone\n' >&2; exit 1`, err: `gone`},
		"leaves a child":         {script: "(sleep 3000; touch " + outside + "/late) >/dev/null 2>&1 & echo done", out: "done\n"},
		"leaves one that listens": {script: "sleep 3000 & echo done",
			out: "done\n"},
		"has no secrets":          {script: "env | grep -c SWORDFISH; true", out: "0\n"},
		"has a folder of its own": {script: `ls -A; ls -A "$HOME"; echo x > "$HOME/kept"; pwd > ` + outside + "/where", out: "filter.lua\nfilter.lua\n"},
		"has the same arguments": {script: `echo "$@"`, out: "--standalone --from=commonmark+pipe_tables+strikeout+task_lists+footnotes+gfm_auto_identifiers " +
			"--to=docx --output=- --metadata=pagetitle=Document --lua-filter=filter.lua --sandbox\n"},
		"has a memory limit": {script: `echo "$GHCRTS"`, out: "-M512M\n"},
		"is killed":          {script: "kill -9 $$", err: "pandoc has "},
	} {
		t.Run(what, func(t *testing.T) {
			data, err := pandoc.Convert(t.Context(), standIn(t, c.script), []byte("input"), "docx")
			if c.err == "" && (err != nil || string(data) != c.out) {
				t.Errorf("%.100q, %v", data, err)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || len(err.Error()) > 3000 || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("%v", err)
			}
		})
	}
	where, err := os.ReadFile(filepath.Join(outside, "where"))
	if _, gone := os.Stat(strings.TrimSpace(string(where))); err != nil || !errors.Is(gone, os.ErrNotExist) {
		t.Errorf("the folder is left: %v, %v", gone, err)
	}
}

func TestEndedByTheCaller(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := pandoc.Convert(ctx, standIn(t, "trap '' TERM; sleep 3000"), nil, "docx"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	program := standIn(t, "echo it ran > "+filepath.Join(t.TempDir(), "ran"))
	for _, format := range []string{"", "exe", "docx ", "DOCX", "--output=/etc/passwd", "html5+raw_tex", "pdf\x00"} {
		if _, err := pandoc.Convert(t.Context(), program, nil, format); err == nil || !strings.Contains(err.Error(), "there are: docx, html, odt, pdf") {
			t.Errorf("%q: %v", format, err)
		}
	}
	if _, err := pandoc.Convert(t.Context(), program, []byte("\xff"), "docx"); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Error(err)
	}
	_, err := pandoc.Convert(t.Context(), pandoc.Program{Path: filepath.Join(t.TempDir(), "none")}, nil, "docx")
	if err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := pandoc.Find(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Error(err)
	}
}
