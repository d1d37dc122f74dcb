package resolve

import (
	"cmp"
	"fmt"
	"regexp"
)

// secretKey finds the keys whose values are shown to nobody, secretField those of which that is
// true where the value is a text: as a table it has other things too.
var (
	secretKey   = regexp.MustCompile(`(?i)token|passw(or)?d|passphrase|passcode|secret|credential|(api|private|access|signing|ssh|encryption)[-_. ]?key|(^|[-_.])pwd($|[-_.])`)
	secretField = regexp.MustCompile(`(?i)(^|[-_. ])(pass|pat|auth|authorization|bearer|cookie|dsn)$`)
)

// secretPart finds what no value shows, whatever its key: the login of an address, what
// follows Bearer unless it is a word, and a value assigned to the name of a secret.
var secretPart = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)(?:[^\s/?#@:]*:[^\s/?#@]+|[^\s/?#@:]{20,})@|(\bbearer )[a-z0-9._~+/=-]*[0-9][a-z0-9._~+/=-]*|(\b[a-z0-9_]*(?:api_?key|token|password|passwd|secret)=)[^\s&]+`)

// Masked stands for the value of a secret.
const Masked = "********"

func isSecret(key string) bool { return secretKey.MatchString(key) || secretField.MatchString(key) }

// maskText returns a text without the secrets in it.
func maskText(text string) string {
	return secretPart.ReplaceAllStringFunc(text, func(found string) string {
		m := secretPart.FindStringSubmatch(found)
		if m[1] != "" {
			return m[1] + Masked + "@"
		}
		return cmp.Or(m[2], m[3]) + Masked
	})
}

// maskValue returns a value without secrets.
func maskValue(v any) any {
	switch v := v.(type) {
	case string:
		return maskText(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		named, _ := v["name"].(string) // {name: API_KEY, value: …}
		for k, value := range v {
			if _, table := value.(map[string]any); isSecret(k) && (!table || secretKey.MatchString(k)) || k == "value" && isSecret(named) {
				out[k] = Masked
				continue
			}
			out[k] = maskValue(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = maskValue(value)
		}
		return out
	case map[any]any: // keys of YAML that are no text
		out := make(map[string]any, len(v))
		for k, value := range v {
			out[fmt.Sprint(k)] = value
		}
		return maskValue(out)
	}
	return v
}
