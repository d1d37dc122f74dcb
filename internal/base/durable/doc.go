// Package durable writes files so that acknowledged writes survive a crash of the
// process or the machine, and so that several processes can share a folder.
//
// A [Dir] is an open folder. Every name is relative to it, with forward slashes,
// and cannot lead out of it, not even through symbolic links. A [Lock] is held
// across processes and within this one. A Dir writes through an [FS]: the
// operating system, or the simulated disk of package durabletest.
//
// # The steps of a write, and why none can be left out
//
//   - [Dir.Replace]: create a temporary file in the same folder, write, fsync (the
//     bytes: else the name may come back holding nothing), rename over the name (all or
//     nothing), fsync of the folder (the name: else the old file may come back).
//     2 fsyncs, 1 rename.
//   - [Dir.ReplaceAfter]: the same for a file with references to others. Their fsyncs and the file's own
//     wait for nothing but each other's end, so the disk gets them all at once; the rename comes after
//     them.
//   - [Dir.CreateUnsynced] for each of several files, then one SyncDir of their folder: n+1 fsyncs, no
//     rename. A file needs no rename if only a later write refers to it: half of the file means nothing.
//   - [Dir.MkdirAll]: a sync of the folder above for each new folder, and once for each folder found by
//     this process, because the creator may have died before the sync.
//
// # Guarantees
//
// If a write has returned nil, bytes and name survive the death of the process and the loss of power, on a
// local file system that honours fsync of files and folders and renames atomically: ext4, xfs, btrfs, f2fs,
// zfs and apfs do (on apfs Go's fsync is F_FULLFSYNC). If it has returned an error, the old file is
// untouched, except for [UnconfirmedError]. If it has not returned, the name holds the old bytes or the
// new, never a part. This is shown by
//
//	go test ./internal/engine -run 'EveryCut|Cost|DiskTrouble' -v
//	go test ./internal/store/... ./internal/doctor ./internal/artifact -run 'Fault|Cut|Edits' -v
//
// # Limits
//
//   - A disk loses writes regardless of the program if it loses confirmed data, or has a write cache
//     without a battery and ignores flushes.
//   - Windows cannot sync a folder: a rename there is as durable as NTFS makes it. The
//     bytes are flushed, and the name never holds a part.
//   - On network file systems (NFS, SMB, sshfs) and on folders kept by a synchronising program (for
//     example Dropbox), renames are atomic for one client; locks hold across machines only if the mount
//     passes flock on (Linux NFS does since 2.6.12, unless mounted with local_lock); fsync guarantees only
//     what the server guarantees. Use one machine at a time there.
//   - tmpfs and overlays in memory lose everything with the power, fsync or not.
//
// # Invariants
//
//   - A unique name is created exclusively and not checked first, because another process may
//     come between (TestCreateIsExclusive).
//   - Paths go through a [Dir], so no link leads out (TestNothingLeadsOut).
//   - This package reads every file that others can write: regular files only, with a limit, because a
//     repository may contain pipes and huge files (TestReadsAreBounded, TestNothingWaits).
package durable
