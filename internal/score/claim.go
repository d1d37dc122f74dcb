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
	`(?i)(?:quality[ \t_-]*score|质量评分|质量得分)[*_"'\x60 \t]*(?:[(（][^)）\n]*[)）][*_ \t]*)?(?:[:：=|—–-]+[*_"'\x60 \t]*|is[ \t]+|为[ \t]*)(-?\d+(?:\.\d+)?)(?:[ \t*_]*(?:/|／|out of)[ \t*_]*(\d+))?`)

// underHeading matches a score in the first line below its heading.
var underHeading = regexp.MustCompile(`(?im)^#{1,6}[ \t]*(?:\d+[.)]?[ \t]*)?(?:quality[ \t_-]*score|质量评分|质量得分)[*_ \t]*$\s*^[*_ \t]*(\d+(?:\.\d+)?)[ \t]*(?:/|／)[ \t]*(100)\b`)

// otherScore is what makes a score one of another time or kind.
var otherScore = regexp.MustCompile(`(?i)(?:previous|earlier|last|was|from|old|initial|target|goal|gate|minimum|required?|needs?|at least|上次|之前|目标|门槛)[^.;。；|]{0,30}$`)

var scoreValue = regexp.MustCompile(`^\s*(-?\d+(?:\.\d+)?)\s*(?:(?:/|／|out of)\s*(\d+)|%)?\s*(?:points?|分)?\s*(?:[(（].*)?$`)

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
			last = cmp.Or(statedIn(narrow.Replace(line)), last)
		}
	}
	if last == nil {
		if m := underHeading.FindStringSubmatch(narrow.Replace(text)); m != nil {
			last = toScore(m[1], m[2])
		}
	}
	return last
}

// narrow writes full-width digits as ASCII ones.
var narrow = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")

func statedIn(line string) *float64 {
	var last *float64
	for _, m := range statedScore.FindAllStringSubmatchIndex(line, -1) {
		if tail := line[m[1]:]; m[4] < 0 && notAScore.MatchString(tail[:min(len(tail), 16)]) {
			continue
		}
		if before := line[max(0, m[0]-60):m[0]]; otherScore.MatchString(before) {
			continue
		}
		if came := cameTo.FindStringSubmatch(line[m[1]:]); came != nil {
			last = cmp.Or(toScore(came[1], ""), last)
			continue
		}
		denominator := ""
		if m[4] >= 0 {
			denominator = line[m[4]:m[5]]
		}
		if s := toScore(line[m[2]:m[3]], denominator); s != nil {
			last = s
		}
	}
	return last
}

// cameTo matches what follows the first of two scores: "78 → 92", "| 78 | 92 |".
var cameTo = regexp.MustCompile(`^[ \t*_]*(?:/[ \t]*100)?[ \t*_]*(?:→|->|\|)[ \t*_]*(\d+(?:\.\d+)?)`)

// notAScore matches what follows the first number of a version, a range, a sum or a minimum.
var notAScore = regexp.MustCompile(`^(?:\.\d|\s*[-–~]\s*\d|\s*\+)`)

func objectScore(object map[string]any) *float64 {
	for _, k := range []string{"quality_score", "qualityScore", "score"} {
		value := object[k]
		if inner, ok := value.(map[string]any); ok {
			value = field(inner, "total", "score", "value", "overall")
		}
		switch v := value.(type) {
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
