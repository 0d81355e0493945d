package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/bits"
	"os"
)

// What a bbolt file looks like, for the checks that have to be made before it
// is mapped: a page that the file is too short for ends the process when it is
// touched.
const (
	pageHeader   = 16 // id uint64, flags and count uint16, overflow uint32
	metaSize     = 64
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	minPageSize  = 1 << 10
	maxPageSize  = 1 << 24
	noFreelist   = ^uint64(0)
	leafFlag     = 0x02
	branchFlag   = 0x01
	freelistFlag = 0x10
)

// metaPage is what one of the two meta pages says: the fields that matter here.
type metaPage struct {
	magic, version, pageSize  uint32
	root, freelist, pages, tx uint64
	sum                       uint64
}

// parseMeta reads magic, version, page size and flags, uint32 each, then root
// page, sequence, freelist page, number of pages, transaction and checksum,
// uint64 each.
func parseMeta(b []byte) metaPage {
	u32, u64 := binary.NativeEndian.Uint32, binary.NativeEndian.Uint64
	return metaPage{
		magic: u32(b), version: u32(b[4:]), pageSize: u32(b[8:]),
		root: u64(b[16:]), freelist: u64(b[32:]), pages: u64(b[40:]), tx: u64(b[48:]), sum: u64(b[56:]),
	}
}

// inspect looks at what is at the path without opening it: a FIFO would wait
// for ever, a symbolic link leads to somebody else's file.
func inspect(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look for the ledger: %w", err)
	}
	return misplaced(path, unusable(info))
}

// unusable says why no ledger of ours can be in such a file.
func unusable(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link, which is not followed"
	case mode.IsDir():
		return "is a folder"
	case !mode.IsRegular():
		return fmt.Sprintf("is no regular file (%s)", mode.Type())
	}
	return notOurs(info)
}

func misplaced(path, reason string) error {
	if reason == "" {
		return nil
	}
	return &DamagedError{Path: path, Reason: reason, Misplaced: true}
}

func damaged(path, reason string) error {
	if reason == "" {
		return nil
	}
	return &DamagedError{Path: path, Reason: reason}
}

// preflight reads the size and the meta pages of an open file, the head of the
// two pages they lead to, and nothing else.
func preflight(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the ledger: %w", err)
	}
	if reason := unusable(info); reason != "" {
		return misplaced(path, reason)
	}
	reason, err := faultOf(f, info.Size())
	if err != nil {
		return fmt.Errorf("read the ledger %s: %w", path, err)
	}
	return damaged(path, reason)
}

// faultOf returns why a file of this size cannot be mapped, and "" when it can.
func faultOf(f io.ReaderAt, size int64) (reason string, err error) {
	if size == 0 {
		return "is empty (0 bytes)", nil
	}
	m, reason, err := liveMeta(f)
	if reason != "" || err != nil {
		return reason, err
	}
	if n := uint64(m.pageSize); uint64(size)/n < m.pages {
		return fmt.Sprintf("is cut short: it has %d bytes of at least %d", size, m.pages*n), nil
	}
	if ok, err := pageIs(f, m, m.root, leafFlag|branchFlag); !ok {
		return fmt.Sprintf("is damaged: page %d is not its root", m.root), err
	}
	if m.freelist == noFreelist {
		return "", nil
	}
	if ok, err := pageIs(f, m, m.freelist, freelistFlag); !ok {
		return fmt.Sprintf("is damaged: page %d is not its list of free pages", m.freelist), err
	}
	return "", nil
}

// liveMeta returns the newer of the meta pages that are whole. One that is not
// was being written when the machine stopped: the other one is the ledger then.
func liveMeta(f io.ReaderAt) (m metaPage, reason string, err error) {
	first, why, err := metaAt(f, 0)
	if err != nil {
		return metaPage{}, "", err
	}
	offsets := []int64{int64(first.pageSize)}
	if why != "" { // its page size is not to be trusted: look where a page may begin
		offsets = offsets[:0]
		for n := int64(minPageSize); n <= maxPageSize; n *= 2 {
			offsets = append(offsets, n)
		}
	}
	for _, offset := range offsets {
		second, not, err := metaAt(f, offset)
		if err != nil {
			return metaPage{}, "", err
		}
		if not == "" && int64(second.pageSize) == offset && (why != "" || second.tx > first.tx) {
			return second, "", nil
		}
	}
	return first, why, nil
}

// metaAt reads the meta page at an offset and says what is wrong with it.
func metaAt(f io.ReaderAt, offset int64) (m metaPage, reason string, err error) {
	var page [pageHeader + metaSize]byte
	n, err := f.ReadAt(page[:], offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return metaPage{}, "", err
	}
	body := page[pageHeader:]
	m = parseMeta(body)
	sum := fnv.New64a()
	_, _ = sum.Write(body[:metaSize-8])
	switch {
	case n == 0:
		return m, "is cut short: its first page is not there", nil
	case m.magic != metaMagic:
		return m, fmt.Sprintf("is no ledger: it begins with %q", page[:min(n, pageHeader)]), nil
	case m.version != metaVersion:
		return m, fmt.Sprintf("has version %d of the bbolt format, not %d", m.version, metaVersion), nil
	case m.sum != sum.Sum64():
		return m, "is damaged: the checksum of its first page is wrong", nil
	case m.pageSize < minPageSize, m.pageSize > maxPageSize, bits.OnesCount32(m.pageSize) != 1:
		return m, fmt.Sprintf("is damaged: its pages have %d bytes", m.pageSize), nil
	}
	return m, "", nil
}

// pageIs reports whether a page is inside the file, knows its own number and
// has one of the types.
func pageIs(f io.ReaderAt, m metaPage, id uint64, types uint16) (bool, error) {
	if id < 2 || id >= m.pages {
		return false, nil
	}
	var header [pageHeader]byte
	if _, err := f.ReadAt(header[:], int64(id)*int64(m.pageSize)); err != nil {
		return false, err
	}
	own := binary.NativeEndian.Uint64(header[0:])
	flags := binary.NativeEndian.Uint16(header[8:])
	return own == id && flags&types != 0, nil
}
