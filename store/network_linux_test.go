package store

import (
	"os"
	"testing"
)

// TestNetworkKind: a file system that is shared with other machines is named,
// the ones of this machine are not. None of the former can be mounted for a
// test.
func TestNetworkKind(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0x517B: "SMB", 0xFE534D42: "SMB", 0xFF534D42: "SMB", 0x65735546: "FUSE", 0x01021997: "9p",
		0xEF53: "", 0x01021994: "", 0x58465342: "", 0x9123683E: "", 0x794C7630: "", // ext4, tmpfs, xfs, btrfs, overlay
	} {
		if got := networkKind(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if kind := overNetwork(f); kind != "" {
		t.Errorf("/proc is %s", kind)
	}
}
