package score

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// statedScore matches "Quality Score: 95/100", "**Quality Score**: 95 / 100",
// "质量评分：95/100", "| Quality Score | 95 |" and `"quality_score": 92`. Groups:
// the number, then the denominator if any.
var statedScore = regexp.MustCompile(
	`(?i)(?:quality[ \t_-]*score|质量评分|质量得分)[*_"'\x60 \t]*(?:[:：=|][*_"'\x60 \t]*|is[ \t]+)(-?\d+(?:\.\d+)?)(?:[ \t*_]*(?:/|／|out of)[ \t*_]*(\d+))?`)

var scoreValue = regexp.MustCompile(`^\s*(-?\d+(?:\.\d+)?)\s*(?:(?:/|／|out of)\s*(\d+)|%)?\s*$`)

// claimedScore returns the last score the submission states of itself. What
// stands around the document speaks about it and goes before what stands in it.
func claimedScore(e envelope, text string) *float64 {
	if e.object == nil || e.inText {
		if s := lastStated(text); s != nil || e.object == nil {
			return s
		}
		return objectScore(e.object)
	}
	if s := lastStated(text[e.end:]); s != nil {
		return s
	}
	if s := objectScore(e.object); s != nil {
		return s
	}
	if s := lastStated(text[:e.start]); s != nil {
		return s
	}
	return lastStated(e.document)
}

func lastStated(text string) *float64 {
	var last *float64
	for line := range strings.Lines(text) {
		// The pattern is dear, and most lines speak of other things.
		if strings.Contains(line, "core") || strings.Contains(line, "CORE") || strings.Contains(line, "质量") {
			last = cmp.Or(statedIn(line), last)
		}
	}
	return last
}

func statedIn(text string) *float64 {
	var last *float64
	for _, m := range statedScore.FindAllStringSubmatchIndex(text, -1) {
		// "9.5.1" or "90-95" is a version or a range.
		if tail := text[m[1]:]; tail != "" && m[4] < 0 && strings.ContainsRune(".-–~", []rune(tail)[0]) && startsDigit(tail) {
			continue
		}
		denominator := ""
		if m[4] >= 0 {
			denominator = text[m[4]:m[5]]
		}
		if s := toScore(text[m[2]:m[3]], denominator); s != nil {
			last = s
		}
	}
	return last
}

func startsDigit(tail string) bool {
	rest := strings.TrimLeft(tail, ".-–~ ")
	return rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

func objectScore(object map[string]any) *float64 {
	for _, k := range []string{"quality_score", "qualityScore", "score"} {
		switch v := object[k].(type) {
		case json.Number:
			if s := toScore(v.String(), ""); s != nil {
				return s
			}
		case string:
			if m := scoreValue.FindStringSubmatch(v); m != nil {
				if s := toScore(m[1], m[2]); s != nil {
					return s
				}
			}
		}
	}
	return nil
}

// toScore returns the number if it is a score out of 100.
func toScore(number, denominator string) *float64 {
	n, err := strconv.ParseFloat(number, 64)
	// Written so that NaN is refused too.
	if err != nil || !(n >= 0 && n <= 100) || (denominator != "" && denominator != "100") {
		return nil
	}
	return &n
}
