package fleet

import (
	"encoding/json"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Order says how a queued run is to be worked on, with the rights that the person has given it.
type Order struct {
	Flags headless.Flags `json:"flags"`
	// Gates is stop or yes.
	Gates headless.Gates `json:"gates"`
	// Answers are the person's, by question id.
	Answers map[string]string `json:"answers,omitempty"`
	// Commit is the commit from which the work begins.
	Commit string `json:"commit"`
	// Publish is true if the finished work is to be offered for review.
	Publish bool `json:"publish,omitempty"`
}

// NextCommand returns the person's next command for a run of the queue.
func NextCommand(e queue.Entry) string {
	retry := "bmad-mcp queue retry " + e.TaskName
	switch {
	case e.State == queue.Waiting && workflow.State(e.SessionState).WaitsForHuman():
		return "bmad-mcp decide " + e.TaskName
	case e.State == queue.Spent:
		return retry + " --budget USD"
	case slices.Contains([]queue.State{queue.Waiting, queue.Failed, queue.Cancelled}, e.State):
		return retry
	}
	return "bmad-mcp queue show " + e.TaskName
}

// signedOrder is an order as the store has it.
type signedOrder struct {
	Order json.RawMessage `json:"order"`
	// Signature is over the order and the id of the session, in the form of package signature.
	Signature string `json:"signature,omitempty"`
}

// orderText returns the text under the signature of an order. Its first line keeps the signature from being valid for anything
// but an order, and for another run.
func orderText(sessionID string, order []byte) []byte {
	return append([]byte("bmad-mcp: order of the queued run "+sessionID+"\n"), order...)
}

// Encode returns the order for a session, signed; a nil signer signs nothing.
func (o Order) Encode(sessionID string, signer workflow.Signer) ([]byte, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	out := signedOrder{Order: data}
	if signer != nil {
		if out.Signature, err = signer.Sign(orderText(sessionID, data)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

// ReadOrder returns the order of a session, and the key that has signed it, "" if none has.
func ReadOrder(sessionID string, data []byte) (o Order, by signature.Key, err error) {
	var signed signedOrder
	if err = json.Unmarshal(data, &signed); err == nil {
		err = json.Unmarshal(signed.Order, &o)
	}
	if err != nil {
		return o, "", fault.New(fault.Storage, "the order of the run cannot be read: %w", err).
			WithHint("queue the run again: bmad-mcp run --queue --resume RUN")
	}
	by, err = signature.Verify(orderText(sessionID, signed.Order), signed.Signature)
	if err != nil {
		by = ""
	}
	return o, by, nil
}

// ReadCountedOrder is [ReadOrder] for one who signs the order, or a part of it, anew. vouch returns the say of a key. It refuses
// an order without a valid signature, and one by a key that does not count here: anybody with the password of the database
// could have written it, under a key made for it.
func ReadCountedOrder(sessionID string, data []byte, vouch func(signature.Key) (engine.Voucher, error)) (Order, signature.Key, error) {
	o, by, err := ReadOrder(sessionID, data)
	if err == nil && by == "" {
		err = fault.New(fault.NotAllowed, "the order of the run is not as somebody has signed it").
			WithHint("somebody may have changed it in the database. Queue the run again: bmad-mcp run --queue --resume RUN")
	}
	if err != nil {
		return o, "", err
	}
	v, err := vouch(by)
	if err == nil && !v.Counts {
		err = fault.New(fault.NotAllowed, "the order of the run is by a key that does not count here, and would be in your name").
			WithHint("say whose key it is: type bmad-mcp allow in a clone of the project, and repeat the command there")
	}
	return o, by, err
}

// checkOrder refuses an order that this worker must not follow, by the say of the key that has signed it. base is the commit in the
// row, from which the work is to begin. allowed are the commands that this worker lets every run have; others need a key that
// counts, since they run with the rights of the worker's account.
func (o Order) checkOrder(v engine.Voucher, base string, allowed []string) error {
	if !v.Began && !v.Counts {
		return fault.New(fault.NotAllowed, "the order of the run is signed neither by the one who has begun it nor by anybody whose key counts on this worker").
			WithHint("somebody may have changed it in the database. Queue the run again: bmad-mcp run --queue --resume RUN")
	}
	if o.Commit != base {
		return fault.New(fault.NotAllowed, "the order of the run is for the commit %s, and its row in the database names another", o.Commit).
			WithHint("somebody has changed the row. Queue the run again: bmad-mcp run --queue --resume RUN")
	}
	for _, command := range o.Flags.Commands {
		if !v.Counts && !slices.Contains(allowed, command) {
			return fault.New(fault.NotAllowed, "the run asks for the command %q, and the key of the one who asks does not count on this worker", command).
				WithHint("type bmad-mcp allow in the worker's clone, or start it with --allow-command %q; then bmad-mcp queue retry", command)
		}
	}
	return nil
}
