package catalog

import (
	"path"
	"strings"
)

// CentralFiles are the layers of the configuration since 6.4, the later over the earlier.
var CentralFiles = []string{"config.toml", "config.user.toml", "custom/config.toml", "custom/config.user.toml"}

// readCentral reads the agents that the configuration describes.
func (s *scan) readCentral(in *Installation) {
	for _, layer := range CentralFiles {
		name := path.Join(in.Dir, layer)
		in.describe(s.toml(name), name, strings.HasPrefix(layer, "custom/"))
	}
}
