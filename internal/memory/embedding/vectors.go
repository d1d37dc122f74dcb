package embedding

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

const (
	// folder holds the vectors, relative to the project. They are derived: a lost one is fetched again, so that
	// no lock is needed.
	folder = ".bmad-task/memory"
	// maxPart bounds a file of vectors, and with it the cost of adding one.
	maxPart = 1 << 20
)

// vectors are the vectors of one project by one model.
type vectors struct {
	mu   sync.Mutex
	by   map[digest][]float32
	size int // of each vector; 0 if there is none yet
	name string
	part int
	full int // bytes in the newest part
}

// vectorsOf returns the vectors of a place, which it reads at first use.
func (f *Finder) vectorsOf(at Place) *vectors {
	d := digestOf(at.Embeddings + "\n" + at.Model)
	name := hex.EncodeToString(d[:8])
	key := at.Dir.Path() + "\n" + name
	if v, ok := f.kept.Get(key); ok {
		return v
	}
	v := &vectors{by: map[digest][]float32{}, name: name}
	v.loadFiles(at.Dir)
	f.kept.Put(key, v)
	return v
}

func (v *vectors) vectorOf(text string) []float32 { return v.by[digestOf(text)] }

// addVectors keeps the vectors of some texts.
func (v *vectors) addVectors(dir *durable.Dir, texts []string, list [][]float32) error {
	fresh := make([]digest, len(texts))
	for i, vector := range list {
		if v.size == 0 {
			v.size = len(vector)
		}
		if len(vector) != v.size {
			return lang.Errorf("the model answers with vectors of %d and of %d numbers", v.size, len(vector))
		}
		fresh[i] = digestOf(texts[i])
		v.by[fresh[i]] = vector
	}
	v.saveVectors(dir, fresh)
	return nil
}

// loadFiles reads the files of a project, and leaves a file out if it does not fit the others.
func (v *vectors) loadFiles(dir *durable.Dir) {
	entries, err := dir.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		var size, part int
		rest, ours := strings.CutPrefix(e.Name(), v.name+"-")
		n, err := fmt.Sscanf(rest, "%d-%d.vec", &size, &part)
		if !ours || err != nil || n != 2 || size < 1 || size > maxSize {
			continue
		}
		if v.size != 0 && v.size != size {
			continue
		}
		data, err := dir.ReadFile(folder+"/"+e.Name(), 2*maxPart)
		record := len(digest{}) + 4*size
		if err != nil || len(data)%record != 0 {
			continue
		}
		v.size = size
		if part >= v.part {
			v.part, v.full = part, len(data)
		}
		for one := range slices.Chunk(data, record) {
			vector := make([]float32, size)
			if _, err := binary.Decode(one[len(digest{}):], binary.LittleEndian, vector); err == nil {
				v.by[digest(one[:len(digest{})])] = vector
			}
		}
	}
}

// saveVectors adds vectors to the files. A failure costs the time to fetch them again.
func (v *vectors) saveVectors(dir *durable.Dir, fresh []digest) {
	if _, err := dir.MkdirAll(folder); err != nil {
		return
	}
	record := len(digest{}) + 4*v.size
	for len(fresh) > 0 {
		if v.full+record > maxPart {
			v.part, v.full = v.part+1, 0
		}
		name := fmt.Sprintf("%s/%s-%d-%06d.vec", folder, v.name, v.size, v.part)
		data, err := dir.ReadFile(name, 2*maxPart)
		if err != nil || len(data)%record != 0 {
			data = nil
		}
		for ; len(fresh) > 0 && len(data)+record <= maxPart; fresh = fresh[1:] {
			data = append(data, fresh[0][:]...)
			if data, err = binary.Append(data, binary.LittleEndian, v.by[fresh[0]]); err != nil {
				return
			}
		}
		if dir.Replace(name, data) != nil {
			return
		}
		v.full = len(data)
	}
}
