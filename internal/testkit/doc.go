// Package testkit is for tests alone. Its rooms are golden, files with expected output; scratch, folders, limits and
// units of time; and specimen, documents of whole runs. A suite that belongs to one wing stands there, for example
// store/storetest.
package testkit
