// Package webterm shows the sessions in a browser: it runs ttyd, a program that
// puts a terminal on the web, and looks after it.
//
// The nouns: a Terminal is one ttyd, listening on one address; its command is
// what a browser sees, and gets what stands behind ?arg= in the address as its
// last arguments.
//
// Guaranteed: a machine without ttyd, or a port that somebody has, is an error
// that names it before anything runs; nothing that a browser sends reaches the
// command unless Writable says so, and then only from pages of ttyd's own; ttyd
// gets the environment that it is given and nothing else; one that ends is
// started again, less and less often; Close ends it with all that it started. On
// Linux it also ends when this process is killed.
//
// Not guaranteed: that those who look may look. ttyd asks for no password: who
// reaches the address sees the sessions, which is why it is a loopback one unless
// it is configured otherwise.
package webterm
