package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
)

// ContractCall names the work to check by a completion contract.
type ContractCall = contract.Call

// ContractResult is the outcome of a completion contract.
type ContractResult = contract.Result

// CheckContract checks the work in a project by the completion contract. Of simultaneous calls for the same check
// one runs, and the others get the result. tell may be nil; it is called while the command runs.
func (e *Engine) CheckContract(ctx context.Context, p *project.Project, call ContractCall, tell func(verify.Notice)) (ContractResult, error) {
	return e.contract.Run(ctx, p, call, tell)
}
