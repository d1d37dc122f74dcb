package filestore

import "time"

// A loaded machine must not keep a repair from being seen.
func init() { repairPatience = time.Minute }
