//go:build race

package store_test

// slowdown is about how much longer everything takes in this build.
const slowdown = 8
