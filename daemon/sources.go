package daemon

import (
	"context"
	"fmt"

	"theloop/config"
	"theloop/poller"
	"theloop/record"
	"theloop/source/github"
	"theloop/source/inbox"
)

// trackers are the sources of one configuration. Clients of one server share
// their connections.
type trackers struct {
	sources []poller.Source
	clients []*github.Client
	// of is whose client a source asks, by the source's id.
	of map[string]*github.Client
}

// remember lets nobody ask a server that has asked to be left alone, for one of
// its sources, in an earlier cycle (P7): neither a post nor another source.
func (t *trackers) remember(rows map[string]record.SourceRow) {
	for id, client := range t.of {
		client.LeaveAlone(rows[id].Until)
	}
}

// ids names the sources, for the decision trail.
func (t *trackers) ids() []string {
	ids := make([]string, len(t.sources))
	for i, src := range t.sources {
		ids[i] = src.ID()
	}
	return ids
}

// requests counts what was asked of the servers so far.
func (t *trackers) requests() int {
	n := 0
	for _, c := range t.clients {
		n += c.Requests()
	}
	return n
}

func (t *trackers) close() {
	for _, c := range t.clients {
		c.Close()
	}
}

// openTrackers makes the sources that a configuration names. No request is
// made; that a token is there is found out.
func openTrackers(ctx context.Context, o Options, cfg config.Config) (*trackers, error) {
	t := &trackers{of: map[string]*github.Client{}}
	for _, s := range cfg.Polling.Sources {
		var err error
		switch s.Provider {
		case config.ProviderGitHub:
			err = t.addGitHub(ctx, o, cfg, s)
		case config.ProviderInbox:
			err = t.addInbox(o, s)
		}
		if err != nil {
			t.close()
			return nil, fmt.Errorf("%s:%d: %w", cfg.File, s.Line, err)
		}
	}
	return t, nil
}

func (t *trackers) addGitHub(ctx context.Context, o Options, cfg config.Config, s config.Source) error {
	token, err := github.FindToken(ctx, s.Host, cfg.GitHubAPI.TokenEnv)
	if err != nil {
		return err
	}
	client, err := github.NewClient(github.Options{
		Host: s.Host, BaseURL: s.BaseURL, Token: token, Version: o.Version, Now: o.Now,
	})
	if err != nil {
		return err
	}
	t.clients = append(t.clients, client)
	for _, repo := range s.Repos {
		src, err := client.Repo(github.RepoOptions{
			Owner: repo.Owner, Repo: repo.Name, Label: s.Label,
			Issues: s.Monitor.Issues, PullRequests: s.Monitor.PullRequests,
		})
		if err != nil {
			return err
		}
		t.sources = append(t.sources, src)
		t.of[src.ID()] = client
	}
	return nil
}

func (t *trackers) addInbox(o Options, s config.Source) error {
	path, err := config.Resolve(s.Path, o.Env, o.Cwd, o.Home)
	if err != nil {
		return err
	}
	src, err := inbox.New(inbox.Options{Path: path, Name: s.Name, Label: s.Label, Log: o.Log, Now: o.Now})
	if err != nil {
		return err
	}
	t.sources = append(t.sources, src)
	return nil
}

// watch takes trackers into use: for the cycle, and for whoever asks beside it.
func (s *service) watch(t *trackers) {
	rows, _ := s.ledger.Sources(context.Background()) // what cannot be read is told of by the cycle
	t.remember(rows)
	s.trackers.Store(t)
	s.posts.use(t.sources)
}

// requests counts what the trackers in use were asked so far.
func (s *service) requests() int { return s.trackers.Load().requests() }

func (s *service) closeTrackers() error {
	s.trackers.Load().close()
	return nil
}
