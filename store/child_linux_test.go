package store_test

func addLinuxChildren(all map[string]func([]string) error) {
	all["script"] = childScript
	all["injected"] = childInjected
	all["small-disk"] = childSmallDisk
	all["migrate-injected"] = childMigrateInjected
	all["lock-call"] = childLockCall
}
