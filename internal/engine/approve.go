package engine

import "context"

// approve carries out the human's decision on a plan, or on work that a review
// or QA run has failed: true accepts, false sends it back.
func (r run) approve(ctx context.Context) (*Reply, error) {
	return r.decide(ctx)
}
