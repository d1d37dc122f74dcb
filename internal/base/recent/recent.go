// Package recent keeps the last used values in bounded memory.
package recent

import "sync"

// Map is a map that forgets the value unused for longest. The zero Map is not usable; it is safe for
// concurrent use.
type Map[K comparable, V any] struct {
	half int

	mu sync.Mutex
	// young has the entries used since old was filled; it becomes old when it reaches half the limit.
	young, old map[K]V
	forgot     bool
}

// New returns a map of at most limit entries, at least the last used half of them.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{half: max(limit/2, 1), young: map[K]V{}}
}

// Get returns the value of a key.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.getLocked(key)
}

func (m *Map[K, V]) getLocked(key K) (value V, ok bool) {
	if value, ok = m.young[key]; ok {
		return value, true
	}
	if value, ok = m.old[key]; ok {
		m.putLocked(key, value)
	}
	return value, ok
}

// Put sets the value of a key.
func (m *Map[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.putLocked(key, value)
}

// Change replaces the value of a key by the result of change; ok is false if there was none.
func (m *Map[K, V]) Change(key K, change func(value V, ok bool) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.putLocked(key, change(m.getLocked(key)))
}

func (m *Map[K, V]) putLocked(key K, value V) {
	if _, known := m.young[key]; !known && len(m.young) >= m.half {
		m.forgot = m.forgot || len(m.old) > 0
		m.young, m.old = map[K]V{}, m.young
	}
	m.young[key] = value
	delete(m.old, key)
}

// Delete removes a key.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.young, key)
	delete(m.old, key)
}

// Forgot reports whether an entry was dropped, so a missing key may have had a value.
func (m *Map[K, V]) Forgot() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.forgot
}
