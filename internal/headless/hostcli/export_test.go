package hostcli

import "time"

// Hurry shortens the time that a program has to end. It is called before the tests.
func Hurry() { grace, linger = time.Second, time.Second }
