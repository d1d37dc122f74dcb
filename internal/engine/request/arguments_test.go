package request

import (
	"testing"
)

func TestHalfSurrogate(t *testing.T) {
	for raw, want := range map[string]bool{
		`"plain"`:         false,
		`"\ud83d\ude80"`:  false,
		`"\\ud83d"`:       false,
		`"\n\t\"\\"`:      false,
		`"\u00e9"`:        false,
		`"\ud83d"`:        true,
		`"\ud83dx"`:       true,
		`"\ud83d\n"`:      true,
		`"\ude80"`:        true,
		`"\ud83d\ud83d"`:  true,
		`"\ud83d\\ude80"`: true,
		`\ud83d`:          true,
		`"\u`:             false,
	} {
		if got := halfSurrogate([]byte(raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

// TestFit reads values that came as text. Those that could mean something else stay as they are.
func TestFit(t *testing.T) {
	of := ShapeOf([]byte(`{"type": "object", "properties": {
		"text": {"type": "string"}, "either": {"type": ["string", "object"]}, "n": {"type": "integer"}, "f": {"type": "number"}, "b": {"type": "boolean"}, "one": {"type": "string", "enum": ["start", "end"]},
		"list": {"type": "array", "items": {"type": "integer"}}, "texts": {"type": "array", "items": {"type": "string"}},
		"words": {"type": "object", "additionalProperties": {"type": "string"}}, "scores": {"type": "object", "additionalProperties": {"type": "number"}},
		"open": {"type": "object", "additionalProperties": false}
	}}`))()
	for raw, want := range map[string]string{
		`{"n": "4"}`:                       `{"n":4}`,
		`{"n": "-4"}`:                      `{"n":-4}`,
		`{"n": "4.0"}`:                     `{"n":4}`,
		`{"n": "4e2"}`:                     `{"n":400}`,
		`{"n": "+4"}`:                      `{"n":4}`,
		`{"n": "04"}`:                      `{"n":4}`,
		`{"n": " 4"}`:                      `{"n":4}`,
		`{"n": ""}`:                        `{"n": ""}`,
		`{"n": "null"}`:                    `{"n": "null"}`,
		`{"n": "true"}`:                    `{"n": "true"}`,
		`{"n": "-"}`:                       `{"n": "-"}`,
		`{"n": 4.0}`:                       `{"n":4}`,
		`{"n": [4]}`:                       `{"n":4}`,
		`{"n": "[\"4\"]"}`:                 `{"n": "[\"4\"]"}`,
		`{"n": "4.5"}`:                     `{"n": "4.5"}`,
		`{"n": "0x4"}`:                     `{"n": "0x4"}`,
		`{"n": "Inf"}`:                     `{"n": "Inf"}`,
		`{"n": "four"}`:                    `{"n": "four"}`,
		`{"b": 0}`:                         `{"b":false}`,
		`{"b": "\"no\""}`:                  `{"b":false}`,
		`{"b": ["FALSE"]}`:                 `{"b":false}`,
		`{"b": "是"}`:                       `{"b":true}`,
		`{"b": "否"}`:                       `{"b":false}`,
		`{"b": 2}`:                         `{"b": 2}`,
		`{"b": "maybe"}`:                   `{"b": "maybe"}`,
		`{"b": null}`:                      `{"b": null}`,
		`{"b": [true, false]}`:             `{"b": [true, false]}`,
		`{"one": " Start "}`:               `{"one":"start"}`,
		`{"one": "stop"}`:                  `{"one": "stop"}`,
		`{"list": 3}`:                      `{"list":[3]}`,
		`{"list": "1、2；3 4.0"}`:            `{"list":[1,2,3,4]}`,
		`{"list": "1-3"}`:                  `{"list": "1-3"}`,
		`{"list": "all"}`:                  `{"list": "all"}`,
		`{"texts": "a b"}`:                 `{"texts":["a b"]}`,
		`{"texts": "a, b"}`:                `{"texts": "a, b"}`,
		`{"texts": [2026, true, "x"]}`:     `{"texts":["2026","true","x"]}`,
		`{"words": {"q1": ["a"]}}`:         `{"words":{"q1":"a"}}`,
		`{"words": []}`:                    `{"words":{}}`,
		`{"text": ["a"]}`:                  `{"text":"a"}`,
		`[{"n": "4"}]`:                     `{"n":4}`,
		`["{\"n\": 4}"]`:                   `{"n": 4}`,
		`[]`:                               `{}`,
		`{"f": "4.5"}`:                     `{"f":4.5}`,
		`{"f": "NaN"}`:                     `{"f": "NaN"}`,
		`{"b": "true"}`:                    `{"b":true}`,
		`{"b": "false"}`:                   `{"b":false}`,
		`{"b": "True"}`:                    `{"b":true}`,
		`{"b": "yes"}`:                     `{"b":true}`,
		`{"b": "1"}`:                       `{"b":true}`,
		`{"b": 1}`:                         `{"b":true}`,
		`{"b": "true "}`:                   `{"b":true}`,
		`{"list": "[1, 2]"}`:               `{"list":[1,2]}`,
		`{"list": "[\"1\"]"}`:              `{"list":[1]}`,
		`{"list": ["1", 2]}`:               `{"list":[1,2]}`,
		`{"list": "1"}`:                    `{"list":[1]}`,
		`{"list": "1, 2"}`:                 `{"list":[1,2]}`,
		`{"list": "[1"}`:                   `{"list": "[1"}`,
		`{"texts": ["1", "true"]}`:         `{"texts": ["1", "true"]}`,
		`{"words": "{\"q1\": \"a\"}"}`:     `{"words":{"q1":"a"}}`,
		`{"words": "{\"q1\": \"4\"}"}`:     `{"words":{"q1":"4"}}`,
		`{"words": {"q1": "{\"a\": 1}"}}`:  `{"words": {"q1": "{\"a\": 1}"}}`,
		`{"words": "{\"q1\": 4}"}`:         `{"words":{"q1":"4"}}`,
		`{"words": "q1"}`:                  `{"words": "q1"}`,
		`{"words": "[]"}`:                  `{"words": "[]"}`,
		`{"words": "{} {}"}`:               `{"words": "{} {}"}`,
		`{"words": "\"{}\""}`:              `{"words":{}}`,
		`{"scores": "{\"claude\":\"9\"}"}`: `{"scores":{"claude":9}}`,
		`{"open": "{\"a\": \"1\"}"}`:       `{"open":{"a":"1"}}`,
		`{"text": "{}"}`:                   `{"text": "{}"}`,
		`{"text": 4}`:                      `{"text": 4}`,
		`{"either": "{}"}`:                 `{"either": "{}"}`,
		`{"unknown": "4"}`:                 `{"unknown": "4"}`,
		`"{\"n\": \"4\"}"`:                 `{"n":4}`,
		`"status"`:                         `"status"`,
		`[1]`:                              `[1]`,
		``:                                 ``,
	} {
		if got := string(of.convertTexts([]byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}
