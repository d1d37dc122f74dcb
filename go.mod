module github.com/bmad-mcp/bmad-mcp

go 1.26.0

require (
	github.com/a-h/templ v0.3.1100 // the pages as code, checked by the compiler, without reflection; MIT
	github.com/a2aproject/a2a-go/v2 v2.4.0 // the protocol of agents among each other; Apache-2.0
	github.com/anthropics/anthropic-sdk-go v1.84.0 // the Messages API: reads streams and puts answers together; MIT
	github.com/chromedp/cdproto v0.159.0 // a real browser in tests; MIT
	github.com/chromedp/chromedp v0.23.0 // a real browser in tests; MIT
	github.com/fsnotify/fsnotify v1.10.1 // file changes on every system
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // session files: keeps unknown keys, reports positions
	github.com/go-webauthn/webauthn v0.18.2 // passkeys: checks the signatures of authenticators; BSD
	github.com/gofrs/flock v0.13.1 // file locks on systems without flock
	github.com/google/jsonschema-go v0.4.2 // JSON Schema of Go types, and checks by it, for tools and outputs of the SDK; MIT
	github.com/google/uuid v1.6.0 // ids
	github.com/gosimple/slug v1.15.0 // names of tasks; MPL-2.0
	github.com/gosimple/unidecode v1.0.1 // other scripts by their sound, in the search; Apache-2.0
	github.com/hiddeco/sshsig v0.2.0 // signatures of files as OpenSSH makes them, which ssh-keygen checks; Apache-2.0
	github.com/jackc/pgx/v5 v5.12.0 // PostgreSQL, the store of a team; MIT
	github.com/kaptinlin/jsonrepair v0.2.15 // JSON as models break it
	github.com/kljensen/snowball v0.10.0 // English and French stems; MIT
	github.com/leonelquinteros/gotext v1.7.2 // gettext files, which translators' editors read; MIT; v1.8 needs Go 1.27
	github.com/lithammer/fuzzysearch v1.1.8 // edit distance for suggestions
	github.com/looplab/fsm v1.0.3 // the state machine
	github.com/mark3labs/mcp-go v1.2.1 // the protocol
	github.com/pelletier/go-toml/v2 v2.4.3 // TOML with positions
	github.com/pressly/goose/v3 v3.29.0 // migrations of the store, one program at a time; MIT
	github.com/rogpeppe/go-internal v1.14.1 // testscript and diff
	github.com/spf13/cobra v1.10.2 // subcommands, help, completion
	github.com/tailscale/hujson v0.0.0-20260727124030-b80ff77dac4f // JSON with comments and positions
	github.com/yuin/goldmark v1.8.7 // Markdown as a tree, for the pages; MIT
	go.yaml.in/yaml/v3 v3.0.6 // YAML with line numbers
	golang.org/x/crypto v0.58.0 // keys in the form of OpenSSH; BSD
	golang.org/x/net v0.61.0 // parses HTML in tests
	golang.org/x/sys v0.49.0 // what an account may write, and a terminal in tests; BSD
	golang.org/x/term v0.47.0 // tells a terminal from a pipe, and edits lines there
	golang.org/x/text v0.43.0 // width of characters
)

require (
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.2 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.4 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/invopop/jsonschema v0.14.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mfridman/interpolate v0.0.2 // indirect
	github.com/pb33f/ordered-map/v2 v2.3.1 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2 // indirect
	github.com/sethvargo/go-retry v0.5.0 // indirect
	github.com/spf13/cast v1.7.1 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.47.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.opentelemetry.io/otel/trace v1.47.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.yaml.in/yaml/v4 v4.0.0-rc.2 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
)
