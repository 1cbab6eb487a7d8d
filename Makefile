# The two commands of the README, and what CI runs. Each installs what it needs first.
TASK ?= store-durability
TRIALS ?= 5
CONFIGURATIONS ?= without-symposium,staged-skills
CLIENT ?= $(or $(PROCTOR_CLIENT),claude)

comma := ,
CLIENTS := claude codex opencode copilot
SETUP_EVAL := sandbox rust $(subst $(comma), ,$(CLIENT)) $(if $(findstring with-symposium,$(CONFIGURATIONS)),cargo-agents)
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: eval test matrix check setup

## eval: run one task, TRIALS times per configuration, and say whether the skill helps
eval:
	@scripts/setup $(SETUP_EVAL)
	PROCTOR_CLIENT=$(CLIENT) PROCTOR_TRIALS=$(TRIALS) PROCTOR_CONFIGURATIONS=$(CONFIGURATIONS) \
		go test -count=1 -timeout 0 -v -run 'TestEval/^$(TASK)$$' .

## test: everything: unit tests, isolation and engine scripts, every task on the scripted model
test:
	@scripts/setup sandbox rust $(CLIENTS) browser
	@scripts/setup cargo-agents || echo "going on: with-symposium trials will say why they cannot run"
	go test -race -timeout 30m ./...

## matrix: run every client through what can happen to a session, and write docs/reference/clients.md anew; minutes
matrix:
	@scripts/setup sandbox rust $(CLIENTS)
	go test -count=1 -timeout 30m -run TestMatrix -v ./harness -update-matrix

## check: formatting and static analysis
check:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...
	$(STATICCHECK) ./...

setup:
	@scripts/setup sandbox rust $(CLIENTS) browser
	@scripts/setup cargo-agents || echo "going on: with-symposium trials will say why they cannot run"
