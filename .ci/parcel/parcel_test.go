package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestArchive: rights, folders and times are those that were asked for, and a second archive has the
// same bytes.
func TestArchive(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	program, paper := filepath.Join(dir, "p"), filepath.Join(dir, "LICENSE")
	if err := errors.Join(os.WriteFile(program, []byte("#!"), 0o700), os.WriteFile(paper, []byte("MIT"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{".tar.gz", ".zip", ".tar"} {
		var texts [2][]byte
		for i := range texts {
			out := filepath.Join(dir, "a"+ending)
			if err := run([]string{"archive", out, "tmp/=1777", "bin/p=" + program, "LICENSE=" + paper}); err != nil {
				t.Fatal(err)
			}
			texts[i], _ = os.ReadFile(out)
			later := time.Unix(1800000000, 0)
			if err := os.Chtimes(program, later, later); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(texts[0], texts[1]) {
			t.Errorf("%s: two archives differ", ending)
		}
		if ending == ".zip" {
			r, err := zip.NewReader(bytes.NewReader(texts[0]), int64(len(texts[0])))
			if err != nil || len(r.File) != 3 || r.File[1].Name != "bin/p" || r.File[1].Mode() != 0o755 || r.File[2].Mode() != 0o644 {
				t.Errorf("%v %+v", err, r)
			}
			continue
		}
		var in io.Reader = bytes.NewReader(texts[0])
		if ending == ".tar.gz" {
			unpacked, err := gzip.NewReader(in)
			if err != nil {
				t.Fatal(err)
			}
			in = unpacked
		}
		r := tar.NewReader(in)
		for _, want := range []string{"tmp/ 1777 ", "bin/p 755 #!", "LICENSE 644 MIT"} {
			h, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(r)
			got := h.Name + " " + map[int64]string{0o1777: "1777", 0o755: "755", 0o644: "644"}[h.Mode] + " " + string(text)
			if got != want || h.ModTime.Unix() != 1700000000 || h.Uid != 0 {
				t.Errorf("%q, want %q: %+v", got, want, h)
			}
		}
	}
}

// TestPapers: every part of this test's own program has its terms, and one that is unknown is refused.
func TestPapers(t *testing.T) {
	for text, want := range map[string]string{
		"Mozilla Public License\nVersion 2.0":                                              "MPL-2.0",
		"Apache License\n   Version 2.0, January 2004":                                     "Apache-2.0",
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy of": "MIT",
		"Redistribution and use in source and binary forms … Neither the name of":          "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with":                          "BSD-2-Clause",
		"You may use it on Tuesdays":                                                       "",
		"":                                                                                 "",
	} {
		if got, err := licenceOf(text); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	said := string(notices([]part{
		{name: "a", version: "v1", licence: "MIT", texts: []string{"one\r\ntext\n"}},
		{name: "b", version: "v2", licence: "MPL-2.0", texts: []string{"one\ntext"}},
	}))
	if strings.Count(said, "one\ntext") != 1 || !strings.Contains(said, "a v1\nb v2 (source: https://b)\n\none") {
		t.Error(said)
	}
}

// TestFill: a value or checksum that is missing is an error, not an empty place.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	from, sums, to := filepath.Join(dir, "t"), filepath.Join(dir, "SHA256SUMS"), filepath.Join(dir, "out")
	if err := os.WriteFile(sums, []byte("abc  one.zip\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{{.version}} {{sum "one.zip" | upper}}`: "1.0.0 ABC",
		`{{.home}}`:                              "",
		`{{sum "two.zip"}}`:                      "",
	} {
		if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := run([]string{"fill", from, to, sums, "version=1.0.0"})
		if (err != nil) != (want == "") {
			t.Errorf("%s: %v", text, err)
		}
		if got, _ := os.ReadFile(to); err == nil && string(got) != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestManual writes the pages of a program from its help.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	program := filepath.Join(dir, "p")
	script := `#!/bin/sh
case "$*" in
--help) printf 'Usage:\n  bmad-mcp [command]\n\nIt leads.\n.dots\n\nSet up:\n  one-two   Do this, and\n            that\n  help      Help\n\nFlags:\n  -h, --help   help\n' ;;
"one-two --help") printf 'Usage:\n  bmad-mcp one-two\n\nDo this.\n' ;;
*) exit 1 ;;
esac
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"manual", program, dir}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"bmad-mcp.1":         ".SH DESCRIPTION\n.nf\nIt leads.\n\\&.dots\n.fi\n.SH SET UP\n",
		"bmad-mcp-one-two.1": ".SH NAME\nbmad-mcp-one-two \\- Do this, and that\n.SH SYNOPSIS\n.nf\n  bmad\\-mcp one\\-two\n.fi\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v: %s", name, err, got)
		}
	}
}
