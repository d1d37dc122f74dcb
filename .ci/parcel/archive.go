package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// member is a file or folder of an archive.
type member struct {
	name string
	mode int64
	data []byte
}

// archive writes the files of NAME=FILE as an archive. A name that ends with a slash is a folder,
// whose rights are behind the sign: NAME/=755.
func archive(out string, pairs []string) error {
	when, err := epoch()
	if err != nil {
		return err
	}
	var members []member
	for _, pair := range pairs {
		m, err := memberOf(pair)
		if err != nil {
			return err
		}
		members = append(members, m)
	}
	var b bytes.Buffer
	switch {
	case strings.HasSuffix(out, ".zip"):
		err = writeZip(&b, members, when)
	case strings.HasSuffix(out, ".tar"):
		err = writeTar(&b, members, when)
	default:
		err = writeTarGz(&b, members, when)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644) //nolint:gosec // for everyone to read
}

func memberOf(pair string) (member, error) {
	name, file, ok := strings.Cut(pair, "=")
	if !ok {
		return member{}, fmt.Errorf("%s is not NAME=FILE", pair)
	}
	if strings.HasSuffix(name, "/") {
		mode, err := strconv.ParseInt(file, 8, 64)
		return member{name: name, mode: mode}, err
	}
	data, err := os.ReadFile(file) //nolint:gosec // named by the script
	if err != nil {
		return member{}, err
	}
	info, err := os.Stat(file) //nolint:gosec // as above
	if err != nil {
		return member{}, err
	}
	mode := int64(0o644)
	if info.Mode()&0o100 != 0 || path.Ext(file) == ".exe" {
		mode = 0o755
	}
	return member{name, mode, data}, nil
}

func writeTarGz(b *bytes.Buffer, members []member, when time.Time) error {
	packed, err := gzip.NewWriterLevel(b, gzip.BestCompression)
	if err != nil {
		return err
	}
	var plain bytes.Buffer
	if err := writeTar(&plain, members, when); err != nil {
		return err
	}
	if _, err := plain.WriteTo(packed); err != nil {
		return err
	}
	return packed.Close()
}

func writeTar(b *bytes.Buffer, members []member, when time.Time) error {
	w := tar.NewWriter(b)
	for _, m := range members {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(m.name, "/") {
			kind = tar.TypeDir
		}
		header := &tar.Header{Typeflag: kind, Name: m.name, Mode: m.mode, Size: int64(len(m.data)), ModTime: when, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeZip(b *bytes.Buffer, members []member, when time.Time) error {
	w := zip.NewWriter(b)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: when}
		header.SetMode(fs.FileMode(m.mode)) //nolint:gosec // of nine bits
		f, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := f.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}
