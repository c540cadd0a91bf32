#if canImport(Testing)
    package import Testing

    /// The groups of tests that `Scripts/test` selects. A tag on a suite applies to all of its tests.
    extension Tag {
        /// Marks tests that start programs: a daemon, the tool, a worker, a compiler, or a copy of the test process
        /// that is killed.
        ///
        /// These suites run in a group of their own, because their programs would start too late among hundreds
        /// of other tests. `ChildProcess` reports a test that starts a program without this tag.
        @Tag package static var startsProcesses: Self

        /// Marks tests that take seconds even on an idle machine. `Scripts/test --quick` leaves them out.
        @Tag package static var slow: Self
    }
#endif
