package store

import "context"

// Parcel is a session in its stored form, with its texts by their paths.
type Parcel struct {
	ID      string
	Session []byte
	Texts   map[string][]byte
}

// Carrier is a backend from which, and to which, sessions are moved as they are.
type Carrier interface {
	Backend
	// Take returns a session with its texts.
	Take(ctx context.Context, id string) (Parcel, error)
	// Bring stores a session in place of the one whose stored form has a hash; "" if there must be none. If
	// there is another one, or its task name is that of another, nothing is stored: a Conflict. A text whose
	// path is in use stays as it is.
	Bring(ctx context.Context, p Parcel, over string) error
}
