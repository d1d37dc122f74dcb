package sdk

import "testing"

// TestEventsThatWait: events of a long step that are not saved yet are not copied at each new one.
func TestEventsThatWait(t *testing.T) {
	var h hub
	count := 0
	publish := func() { count++; h.publish(Event{Type: EventIdle}) }
	for range 1000 {
		publish()
	}
	if allocations := testing.AllocsPerRun(1000, publish); allocations >= 1 {
		t.Errorf("%.0f allocations for each event", allocations)
	}
	events := h.toSave()
	if len(events) != count || events[0].Seq != 1 {
		t.Errorf("%d events are to be saved, want %d", len(events), count)
	}
	h.unsaved -= len(events)
	if publish(); len(h.recent) > 2*kept {
		t.Errorf("%d saved events are kept", len(h.recent))
	}
}
