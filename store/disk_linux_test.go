package store_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// sector is what a disk writes whole or not at all.
const sector = 512

// page is what the kernel writes at a time.
const page = 4096

// disk is what a power cut may leave of what a process did. A write, a new
// length or a new name is on it for certain once a sync of the file, or of the
// folder, returned; before that it may be there or not, whatever else is, and a
// write in part. After a sync that failed the kernel takes what it should have
// written for done: it may never be there, however many syncs succeed later.
type disk struct {
	now, synced map[string]*inode
}

type inode struct {
	data    []byte // what is on the disk for certain
	pending []pending
}

// pending is one write or change of length that may be lost.
type pending struct {
	call
	// dropped says that a sync of it failed.
	dropped bool
}

func newDisk() *disk { return &disk{now: map[string]*inode{}, synced: map[string]*inode{}} }

// do takes a call of the process. One that failed did nothing, but for a sync.
func (d *disk) do(c call) {
	switch {
	case c.syncs() && d.now[c.file] == nil: // the folder
		if !c.failed {
			d.synced = maps.Clone(d.now)
		}
	case c.syncs():
		d.now[c.file].sync(c.failed)
	case c.failed || c.file == marksFile:
	case c.to != "":
		d.now[c.to] = d.now[c.file]
		delete(d.now, c.file)
	default:
		if d.now[c.file] == nil {
			d.now[c.file] = &inode{}
		}
		d.now[c.file].write(c)
	}
}

// write notes a write page by page: each of them arrives or not. Those of the
// library begin where a page does.
func (f *inode) write(c call) {
	for len(c.data) > page {
		first := c
		first.data = c.data[:page]
		f.pending = append(f.pending, pending{call: first})
		c.data, c.at = c.data[page:], c.at+page
	}
	f.pending = append(f.pending, pending{call: c})
}

func (f *inode) sync(failed bool) {
	var left []pending
	for i, p := range f.pending {
		switch {
		case failed:
			p.dropped = true
			left = append(left, p)
		case p.dropped && !f.coveredSince(i):
			left = append(left, p)
		case !p.dropped:
			f.data = p.apply(f.data, len(p.data))
		}
	}
	f.pending = left
}

// whole is the file as every process reads it.
func (f *inode) whole() []byte {
	data := bytes.Clone(f.data)
	for _, p := range f.pending {
		data = p.apply(data, len(p.data))
	}
	return data
}

// images calls yield with the folders that a cut may leave now.
func (d *disk) images(samples int, random *rand.Rand, yield func(map[string][]byte)) {
	folders := []map[string]*inode{d.now, d.synced}
	if maps.Equal(d.now, d.synced) {
		folders = folders[:1]
	}
	for _, names := range folders {
		files := make(map[string][]byte, len(names))
		for name, f := range names {
			files[name] = f.whole()
		}
		yield(maps.Clone(files))
		for name, f := range names {
			f.remains(samples, random, func(data []byte) {
				others := maps.Clone(files)
				others[name] = data
				yield(others)
			})
		}
	}
}

// coveredSince reports whether a later write puts other bytes in the place of
// pending write i.
func (f *inode) coveredSince(i int) bool {
	w := f.pending[i]
	return slices.ContainsFunc(f.pending[i+1:], func(p pending) bool {
		return !p.dropped && p.name == "pwrite64" && p.at <= w.at && p.at+int64(len(p.data)) >= w.at+int64(len(w.data))
	})
}

// apply returns what a file is after the call, of whose data only so many bytes
// arrived. It writes into data.
func (c call) apply(data []byte, arrived int) []byte {
	end := c.at + int64(arrived)
	if c.name == "ftruncate" {
		end = c.size
	}
	if grow := end - int64(len(data)); grow > 0 {
		data = append(data, make([]byte, grow)...)
	}
	if c.name == "ftruncate" {
		return data[:end]
	}
	copy(data[c.at:], c.data[:arrived])
	return data
}

// remains calls yield with what a cut may leave of the file: everything that was
// issued up to any moment, the last write cut at every sector of its last page,
// and samples of the rest (any subset, with any sectors of one write).
func (f *inode) remains(samples int, random *rand.Rand, yield func([]byte)) {
	some := func(arrived func(i int) int) {
		data := bytes.Clone(f.data)
		for i, p := range f.pending {
			if n := arrived(i); n >= 0 {
				data = p.apply(data, n)
			}
		}
		yield(data)
	}
	for _, dropped := range []bool{true, false} { // what a failed sync dropped is there, or is not
		for last := -1; last < len(f.pending); last++ {
			some(f.upTo(last, 0, dropped))
			for cut := sector; last >= 0 && cut < len(f.pending[last].data); cut += sector {
				some(f.upTo(last, cut, dropped))
			}
		}
		if !slices.ContainsFunc(f.pending, func(p pending) bool { return p.dropped }) {
			break
		}
	}
	if len(f.pending) < 2 {
		return
	}
	for range samples {
		torn := random.IntN(len(f.pending))
		some(func(i int) int {
			size := len(f.pending[i].data)
			switch kept := random.IntN(2) == 0; {
			case i == torn && size > 0:
				return random.IntN(size/sector+1) * sector
			case kept:
				return size
			}
			return -1
		})
	}
}

// upTo keeps everything up to a write, but for its last bytes, with or without
// what was dropped.
func (f *inode) upTo(last, cut int, dropped bool) func(int) int {
	return func(i int) int {
		switch size := len(f.pending[i].data); {
		case f.pending[i].dropped && !dropped:
		case i < last:
			return size
		case i == last:
			return size - cut
		}
		return -1
	}
}
