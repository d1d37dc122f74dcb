package workflow

// Events lists the events of the table, in its order.
func Events() []Event {
	out := make([]Event, len(table))
	for i, r := range table {
		out[i] = r.event
	}
	return out
}
