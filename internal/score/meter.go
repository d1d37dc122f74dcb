package score

import "context"

// meter bounds the work on one submission: each reader charges the bytes that it looks at more
// than once, and stops if the budget is spent or the caller has gone.
type meter struct {
	ctx context.Context
	// left is how many bytes may still be read to find an envelope.
	left int
}

// The budget for finding an envelope: generous for any honest document, and for hostile ones
// a small multiple of their size.
const (
	leastBudget  = 8 << 20
	budgetFactor = 4
)

func newMeter(ctx context.Context, size int) *meter {
	return &meter{ctx: ctx, left: max(leastBudget, budgetFactor*size)}
}

// spend takes bytes from the budget and reports whether it had them.
func (m *meter) spend(n int) bool {
	m.left -= n
	return m.left >= 0 && !m.done()
}

// done reports whether the caller has gone.
func (m *meter) done() bool { return m.ctx.Err() != nil }
