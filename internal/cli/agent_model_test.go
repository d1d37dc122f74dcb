package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// testKey is the key that the server of scripts asks for; no output and no file may have it.
const testKey = "sk-ant-api03-key-of-the-scripts"

// scripted is a line of a script for the model.
type scripted struct {
	Text   string     `json:"text"`
	Tool   string     `json:"tool"`
	Input  any        `json:"input"`
	Tools  []scripted `json:"tools"`
	Status int        `json:"status"`
	Silent bool       `json:"silent"`
}

func (s scripted) step() sdktest.Step {
	switch {
	case s.Status != 0:
		return sdktest.Fail(s.Status, "api_error", s.Text)
	case s.Silent:
		return sdktest.Text("I begin, and").With(sdktest.Silent)
	case len(s.Tools) > 0:
		var steps []sdktest.Step
		for _, t := range s.Tools {
			steps = append(steps, t.step())
		}
		return sdktest.Calls(steps...)
	case s.Tool != "":
		return sdktest.Call(s.Tool, s.Input)
	}
	return sdktest.Text(s.Text)
}

// model FILE has a server play the model by a file with a step on each line, and leads the program
// there. model -openai FILE plays it with chat completions.
func model(ts *testscript.TestScript, neg bool, args []string) {
	openai := len(args) == 2 && args[0] == "-openai"
	if neg || len(args) != 1 && !openai {
		ts.Fatalf("usage: model [-openai] FILE")
	}
	var steps []sdktest.Step
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[len(args)-1])))
	for lines.Scan() {
		var s scripted
		ts.Check(json.Unmarshal(lines.Bytes(), &s))
		steps = append(steps, s.step())
	}
	server := &sdktest.Server{}
	if !openai {
		server.Key = testKey
	}
	server.Start(steps...)
	ts.Defer(server.Close)
	if openai {
		ts.Setenv("BMAD_BASE_URL", server.ChatURL)
		return
	}
	ts.Setenv("ANTHROPIC_BASE_URL", server.URL)
	ts.Setenv("ANTHROPIC_API_KEY", testKey)
}

// card FILE serves the content of a file as the card of an agent, with HERE replaced by the server's address, which CARD has.
// The file is read at each request.
func card(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: card FILE")
	}
	name := ts.MkAbs(args[0])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(name)
		if err != nil || r.Method != http.MethodGet {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(bytes.ReplaceAll(data, []byte("HERE"), []byte("http://"+r.Host)))
	}))
	ts.Defer(server.Close)
	ts.Setenv("CARD", server.URL+"/.well-known/agent-card.json")
}

// idof NAME puts the id in the JSON of the last program into a variable.
func idof(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: idof NAME")
	}
	var out struct{ ID string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &out))
	ts.Setenv(args[0], out.ID)
}

// nokey fails if the last program has printed the key of the model's server, or any file has it.
func nokey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: nokey")
	}
	if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), testKey) {
		ts.Fatalf("the key was printed")
	}
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		if data, err := os.ReadFile(name); err != nil || strings.Contains(string(data), testKey) {
			ts.Fatalf("%s has the key, or cannot be read: %v", name, err)
		}
		return nil
	}))
	if files == 0 {
		ts.Fatalf("no files")
	}
}
