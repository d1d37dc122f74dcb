package reach

// Homes returns the homes that rules know.
func Homes(r Rules) []string { return r.homes }
