// Package githubtest is a GitHub for tests: a server that keeps repositories,
// issues, pull requests and what people say on them, and answers the part of
// the REST API that a poller uses.
//
// A test changes its world through the methods of Server (AddIssue, AddComment,
// Close …) and points the program at URL. Times are whole seconds, numbers of
// issues and pull requests share one space, lists are paged with Link headers
// that lead to /repositories/<id>/…, and everything else is shaped like the
// examples of GitHub's own OpenAPI description.
//
// Every request it gets and every answer it gives are held against that
// description. What does not fit is a violation; New reports them when the test
// ends, Violations returns them.
//
// The description does not cover GraphQL. Of that the server answers exactly the
// requests that lie in testdata/github/graphql, with other variables if need
// be, in the shape of the answers that lie there; any other query is a
// violation. Which issues a pull request closes is what a test says, not what
// the pull request's own words say.
//
// A Fault makes answers go wrong: statuses, HTML, null, cut and endless bodies,
// limits, redirects. Faulty answers are not held against the description.
//
// Not kept: permissions beyond "this token may see this repository", search, any
// other GraphQL.
package githubtest
