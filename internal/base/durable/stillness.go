package durable

import "os"

// Stillness shows at next to no cost whether a folder is unchanged: the system notes the changes from its
// creation on. Writes through another name of a file or through a memory map are not noted, so a still
// folder has to be looked at from time to time too.
type Stillness struct {
	folder identity
	notes  *os.File
}

// Stillness returns the stillness of a subfolder; nil if the system or the file system does not note all
// changes.
func (d *Dir) Stillness(name string) *Stillness {
	info, err := d.Stat(name)
	if err != nil {
		return nil
	}
	notes := notesOf(d.Join(name))
	if notes == nil {
		return nil
	}
	s := &Stillness{identityOf(info), notes}
	if at, err := os.Stat(d.Join(name)); err != nil || !s.isSameFolder(VersionOf(at)) {
		s.Close() // the path leads elsewhere now
		return nil
	}
	return s
}

// Holds reports whether nothing in the subfolder has changed since the call before. Once it has reported
// another folder in its place, it never holds again.
func (s *Stillness) Holds(d *Dir, name string) bool {
	quiet := s.notes != nil && nothingIn(s.notes)
	if info, err := d.Stat(name); err != nil || !s.isSameFolder(VersionOf(info)) {
		s.Close()
		return false
	}
	return quiet
}

// Over reports whether it can never hold again.
func (s *Stillness) Over() bool { return s.notes == nil }

// Close ends the notes.
func (s *Stillness) Close() {
	if s.notes != nil {
		_ = s.notes.Close() // nothing was written
		s.notes = nil
	}
}

func (s *Stillness) isSameFolder(v Version) bool {
	return v.mode.IsDir() && v.device == s.folder.device && v.file == s.folder.file
}
