package fleet

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// record is the record of a run with the commits that belong to it.
type record struct {
	session string
	lease   int64
	// head is the newest commit, work the hash of the bundle with it; both are "" before the first.
	head, work string
	data       []byte
}

// signedText returns the text under the signature of a record.
func (r record) signedText() []byte {
	return fmt.Appendf(nil, "bmad-mcp: record of the queued run %s\nlease %d\nhead %s\nwork %s\n%s", r.session, r.lease, r.head, r.work, r.data)
}

// writeRecord returns a record as the store keeps it: a line with the number of the lease and the signature, and the data.
func writeRecord(r record, signer workflow.Signer) ([]byte, error) {
	signed, err := signer.Sign(r.signedText())
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, "%d %s\n", r.lease, signed), r.data...), nil
}

// readRecord returns the data of the record of a claimed run, nil if there is none, and the key that has signed it together
// with the commits.
func readRecord(c *queue.Claim) (data []byte, by signature.Key, err error) {
	if len(c.Kept) == 0 && c.Head == "" && len(c.Work) == 0 {
		return nil, "", nil
	}
	line, data, _ := bytes.Cut(c.Kept, []byte("\n"))
	number, signed, _ := strings.Cut(string(line), " ")
	r := record{session: c.SessionID, head: c.Head, data: data}
	if len(c.Work) > 0 {
		r.work = workflow.Hash(c.Work)
	}
	if r.lease, err = strconv.ParseInt(number, 10, 64); err == nil && r.lease < c.LeaseNo {
		by, err = signature.Verify(r.signedText(), signed)
	} else if err == nil {
		err = signature.ErrInvalid
	}
	if err != nil {
		return nil, "", fault.New(fault.NotAllowed, "the record of the run in the database, or its commits, are not as a worker has left them").
			WithHint("somebody has changed them: bmad-mcp queue cancel takes the run from the queue; start it anew from its branch")
	}
	return data, by, nil
}
