package import Testing

/// The groups of tests that `Scripts/test` selects. A tag on a suite holds for all of its tests.
extension Tag {
    /// The test starts programs: a daemon, the tool, a worker, a compiler, a copy of itself that is killed.
    ///
    /// These suites run in a group of their own. Beside hundreds of other tests their programs would not start in time.
    /// `ChildProcess` reports a test that starts a program without this tag.
    @Tag package static var startsProcesses: Self

    /// The test takes seconds even on a quiet machine. `Scripts/test --quick` leaves it out.
    @Tag package static var slow: Self
}
