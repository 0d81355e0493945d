# the-loop: `make demo` shows the main job, `make test` runs every test.
# Each installs what the machine lacks (tmux, strace) with apt or brew.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO      ?= go
ROUNDS  ?= 500

# What must also build where tmux and flock are not: the packages that decide.
WINDOWS = ./lock ./store ./record ./poller ./policy ./migrate ./workitem

.PHONY: build demo test soak bench check lint cross faults clean

build: ## the program, as bin/the-loop
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/the-loop ./cmd/the-loop

demo: ## the main job, from an empty folder to a delivered comment
	@scripts/need tmux
	@$(MAKE) --no-print-directory build
	@scripts/demo

test: ## every test, under the race detector
	@scripts/need tmux strace
	@scripts/run-tests

soak: ## the long forms: ROUNDS=1000 make soak
	@scripts/need tmux strace
	SOAK=$(ROUNDS) scripts/run-tests -timeout 0

bench: ## the benchmarks; their figures are ratios and aims, never gates
	@scripts/need tmux
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

check: lint cross faults test ## what CI runs

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l . | sed 's/^/not gofmt: /'; exit 1; }
	$(GO) mod verify
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@scripts/vulnerabilities

cross:
	GOOS=linux GOARCH=arm64 $(GO) build ./...
	GOOS=darwin GOARCH=arm64 $(GO) build ./...
	GOOS=windows GOARCH=amd64 $(GO) vet $(WINDOWS)

faults: ## that every row of docs/faults.md has its test, or a reason
	@scripts/faults

clean:
	rm -rf bin build
