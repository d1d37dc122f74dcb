// Command yardstick is the Go program that others are measured beside. Without arguments it does nothing but say
// hello. With wait it ends when its input does, with work it does the same work each time, of the kind that
// servers do: it encodes, decodes and hashes.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	println("hello, world")
	switch {
	case len(os.Args) < 2:
	case os.Args[1] == "wait":
		_, _ = io.Copy(io.Discard, os.Stdin) // whatever it is, it has ended
	case os.Args[1] == "work":
		work()
	}
}

func work() {
	value := map[string]any{}
	for n := range 200 {
		value[strconv.Itoa(n)] = []string{"key" + strconv.Itoa(n), strings.Repeat("Whenever a provider retries, ", n%7)}
	}
	sum := byte(0)
	for range 150 {
		data, err := json.Marshal(value)
		if err != nil {
			panic(err) // texts can be encoded
		}
		hash := sha256.Sum256(data)
		sum ^= hash[0]
		value = map[string]any{}
		if err := json.Unmarshal(data, &value); err != nil {
			panic(err)
		}
	}
	println(sum)
}
