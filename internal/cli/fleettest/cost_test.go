//go:build linux

package fleettest_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
)

// TestIdle measures a worker that has nothing to do.
func TestIdle(t *testing.T) {
	needsFleet(t)
	server := pgtest.Start(t)
	address := server.Database(t)
	f := fleetAt(t, address)
	tasks := f.queueRuns(1, "--yes")
	w := f.machine("box").start("idle")
	f.checkDone(tasks, 0)
	watch, err := pgx.Connect(context.Background(), server.Address("postgres", "postgres"))
	must(t, err)
	defer func() { _ = watch.Close(context.Background()) }()
	commits := func() (count int) {
		time.Sleep(2 * time.Second) // the server counts with a delay
		must(t, watch.QueryRow(context.Background(), `select xact_commit + xact_rollback from pg_stat_database where datname = $1`, nameOf(address)).Scan(&count))
		return count
	}
	before, worked, began := commits(), ticks(w.pid()), time.Now()
	time.Sleep(20 * time.Second)
	after, since := commits(), time.Since(began).Seconds()
	note("an idle worker: %.1f transactions and %.1f ms of a processor a second", float64(after-before)/since, float64(ticks(w.pid())-worked)*10/since)
}

// nameOf returns the name of the database at an address.
func nameOf(address string) string {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return ""
	}
	return config.Database
}

// TestDelays measures from the queue to the first call of an idle worker, and from cancel to the end of the engine.
func TestDelays(t *testing.T) {
	needsFleet(t)
	f := newFleet(t)
	f.machine("box").start("prompt", takesVariable+"=10m")
	var starts, ends []time.Duration
	for range 10 {
		lines := len(f.readBill())
		task := f.queueRuns(1, "--yes")[0]
		began := time.Now()
		call := f.workers[0].waitForCall(lines)
		starts = append(starts, call.At.Sub(began))
		began = time.Now()
		f.desk.does(0, "queue", "cancel", task)
		f.eventually("the end of a cancelled engine", func() bool { return !isEngine(call.PID) })
		ends = append(ends, time.Since(began))
		f.waitFor("cancelled", task)
	}
	note("from the queue to the call of an idle worker: %s", spread(starts))
	note("from cancel to the end of the engine: %s", spread(ends))
	if b := f.readBill(); b.paid() != 10 || b.repeated() != 0 {
		t.Errorf("%d calls for ten cancelled runs, %d repeated", b.paid(), b.repeated())
	}
}
