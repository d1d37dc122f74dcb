module bmad-mcp

go 1.26.0

require (
	github.com/gofrs/flock v0.13.1
	github.com/google/uuid v1.6.0
	github.com/gosimple/slug v1.15.0
	github.com/kaptinlin/jsonrepair v0.2.15
	github.com/looplab/fsm v1.0.3
	go.yaml.in/yaml/v3 v3.0.6
)

require (
	github.com/go-json-experiment/json v0.0.0-20251027170946-4849db3c2f7e // indirect
	github.com/gosimple/unidecode v1.0.1 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
