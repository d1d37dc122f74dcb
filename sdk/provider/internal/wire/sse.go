package wire

import (
	"bufio"
	"bytes"
	"io"
)

// maxLine bounds a line of a stream: a whole answer may be on one.
const maxLine = 16 << 20

// Events calls each with the data of the events of a stream, until it ends or each fails. Names of
// events and comments are left out, and the last event needs no empty line after it.
func Events(r io.Reader, each func(data []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var data []byte
	flush := func() error {
		if len(data) == 0 {
			return nil
		}
		err := each(data)
		data = data[:0]
		return err
	}
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if err := flush(); err != nil {
				return err
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if len(data) > 0 {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		if len(data) > maxLine {
			return bufio.ErrTooLong
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return flush()
}
