package durable

// Entries lists an open folder, for tests of its bound.
var Entries = entries
