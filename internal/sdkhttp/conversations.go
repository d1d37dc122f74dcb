package sdkhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// start starts a conversation, and returns while its agent works on the first message.
func (h *Handler) start(w http.ResponseWriter, r *http.Request) error {
	var agent string
	e, release, err := h.create(w, r, keys{"agentId": &agent}, &agent, "", false)
	if err != nil {
		return err
	}
	defer release()
	reply(w, http.StatusAccepted, progress(e.ID(), sdk.Processing))
	return nil
}

// create starts a conversation with the body of a request. Its message follows the first words.
func (h *Handler) create(w http.ResponseWriter, r *http.Request, into keys, agent *string, first string, plain bool) (e *entry, release func(), err error) {
	var o sdk.ConversationOptions
	var message string
	var usd float64
	into["message"], into["costLimit"], into["context"] = &message, &usd, &o.Context
	if err = h.body(w, r, into); err != nil {
		return nil, nil, err
	}
	message = strings.TrimSpace(first + " " + message)
	if err = words("agentId", *agent); err == nil {
		err = words("message", message)
	}
	if err == nil {
		o.CostLimit, err = h.limit(usd)
	}
	if err != nil {
		return nil, nil, err
	}
	o.PlainText = plain
	c, err := h.o.Client.StartConversation(r.Context(), *agent, o)
	if err != nil {
		return nil, nil, err
	}
	if e, release, err = h.keep(c); err != nil {
		return nil, nil, err
	}
	e.action.Lock()
	err = h.begin(e, func() error { return e.Send(r.Context(), message) })
	e.action.Unlock()
	if err != nil {
		h.forget(c.ID(), e)
		release()
		return nil, nil, err
	}
	return e, release, nil
}

// message is the person's next message.
func (h *Handler) message(w http.ResponseWriter, r *http.Request) error {
	var text string
	if err := h.body(w, r, keys{"message": &text}); err != nil {
		return err
	}
	if err := words("message", text); err != nil {
		return err
	}
	return h.accept(w, r, func(ctx context.Context, e *entry) error {
		var spent *sdk.CostLimitError
		if c := e.Costs(); c.Limit > 0 && c.Spent >= c.Limit {
			return &sdk.CostLimitError{Spent: c.Spent, Limit: c.Limit}
		} else if errors.As(e.failure(), &spent) { // the rest is too small for an answer
			return spent
		}
		return h.begin(e, func() error { return e.Send(ctx, text) })
	})
}

// accept carries out a change, and answers 202 with the status that it leads to.
func (h *Handler) accept(w http.ResponseWriter, r *http.Request, do func(context.Context, *entry) error) error {
	var now sdk.Status
	err := h.act(r, func(ctx context.Context, e *entry) error {
		if err := do(ctx, e); err != nil {
			return err
		}
		now = e.Status()
		return nil
	})
	if err == nil {
		reply(w, http.StatusAccepted, progress(r.PathValue("id"), now))
	}
	return err
}

// answer answers a question of the agent.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request) error {
	var id, text string
	if err := h.body(w, r, keys{"questionId": &id, "answer": &text}); err != nil {
		return err
	}
	if err := words("answer", text); err != nil {
		return err
	}
	return h.accept(w, r, func(ctx context.Context, e *entry) error {
		return h.begin(e, func() error { return e.Answer(ctx, id, text) })
	})
}

// resume goes on with a paused turn.
func (h *Handler) resume(w http.ResponseWriter, r *http.Request) error {
	if err := h.body(w, r, nil); err != nil {
		return err
	}
	return h.accept(w, r, func(ctx context.Context, e *entry) error {
		return h.begin(e, func() error { return e.Resume(ctx) })
	})
}

// cancel gives up the turn under way, if there is one.
func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) error {
	if err := h.body(w, r, nil); err != nil {
		return err
	}
	return h.act(r, func(ctx context.Context, e *entry) error {
		if err := h.giveUp(ctx, e); err != nil {
			return err
		}
		reply(w, http.StatusOK, progress(e.ID(), e.Status()))
		return nil
	})
}

// giveUp cancels the turn that is under way or paused, if there is one, and waits until that is
// saved.
func (h *Handler) giveUp(ctx context.Context, e *entry) error {
	stopped := !e.busy() && e.Status() != sdk.Idle && !over(e.Status())
	e.Cancel()
	_, _ = e.Wait(ctx) // the error is that of the turn, or the context's
	if !stopped || ctx.Err() != nil {
		return ctx.Err()
	}
	return e.Save(ctx)
}

// finish ends a conversation, and returns all of it.
func (h *Handler) finish(w http.ResponseWriter, r *http.Request) error {
	if err := h.body(w, r, nil); err != nil {
		return err
	}
	return h.act(r, func(ctx context.Context, e *entry) error {
		out, err := e.End(ctx)
		if err != nil {
			return e.explainBusy(err)
		}
		h.forget(out.ID, e)
		reply(w, http.StatusOK, outcomeOf(out))
		return nil
	})
}

// remove deletes a conversation for good.
func (h *Handler) remove(w http.ResponseWriter, r *http.Request) error {
	return h.act(r, func(ctx context.Context, e *entry) error {
		if e.busy() {
			return e.explainBusy(sdk.ErrBusy)
		}
		if err := h.giveUp(ctx, e); err != nil {
			return err
		}
		if e.Status() == sdk.Idle { // which ends the streams of its events
			if _, err := e.End(ctx); err != nil {
				return e.explainBusy(err)
			}
		}
		if err := h.o.Client.Delete(ctx, e.ID()); err != nil {
			return err
		}
		h.forget(e.ID(), e)
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// list lists all conversations that are saved.
func (h *Handler) list(w http.ResponseWriter, r *http.Request) error {
	saved, err := h.o.Client.Sessions(r.Context())
	if err != nil {
		return err
	}
	now := map[string]sdk.Status{}
	h.mu.Lock()
	for id, e := range h.open {
		if e.Conversation != nil {
			now[id] = e.Status()
		}
	}
	h.mu.Unlock()
	out := []any{}
	for _, s := range saved {
		if status, open := now[s.ID]; open {
			s.Status = status
		} else if s.Status == sdk.Processing {
			s.Status = sdk.Paused
		}
		out = append(out, summaryOf(s))
	}
	reply(w, http.StatusOK, object{"conversations": out})
	return nil
}

// show describes a conversation.
func (h *Handler) show(w http.ResponseWriter, r *http.Request) error {
	e, release, err := h.hold(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	defer release()
	if !e.busy() {
		_, _ = e.Wait(r.Context()) // until the last turn is saved
	}
	reply(w, http.StatusOK, viewOf(e))
	return nil
}

// document returns a document of the agent as it is.
func (h *Handler) document(w http.ResponseWriter, r *http.Request) error {
	e, release, err := h.hold(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	defer release()
	for _, d := range e.Documents() {
		if d.Path == "/"+r.PathValue("path") {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, d.Content) // a client that has gone needs no answer
			return nil
		}
	}
	return &failure{status: http.StatusNotFound, Code: "not_found", Message: "the conversation has no document of this path", Hint: "GET the conversation for its documents"}
}

// agents lists the agents.
func (h *Handler) agents(w http.ResponseWriter, r *http.Request) error {
	found, err := h.o.Client.Agents(r.Context())
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, object{"agents": camel(found)})
	return nil
}

// agent describes an agent.
func (h *Handler) agent(w http.ResponseWriter, r *http.Request) error {
	a, err := h.o.Client.Agent(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, camel(a))
	return nil
}
