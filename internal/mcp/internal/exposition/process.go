package exposition

import (
	_ "embed"
	"strings"
	"time"
)

// knownFigures are those of the Go runtime and of a process, by the names that every client library of
// Prometheus uses: each has its type and its help.
//
//go:embed figures.tsv
var knownFigures string

// addKnown adds those of the known figures that have a value.
func (p *Page) addKnown(values map[string]float64) {
	for line := range strings.Lines(knownFigures) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		kind, help, _ := strings.Cut(rest, "\t")
		if value, ok := values[name]; ok {
			p.One(Kind(kind), name, help, value)
		}
	}
}

// Process adds the figures of this process that the system reports. The caller tells when the process
// started.
func (p *Page) Process(started time.Time) {
	values := measure()
	values["process_start_time_seconds"] = float64(started.UnixNano()) / 1e9
	p.addKnown(values)
}
