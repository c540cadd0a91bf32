// Programs with the Swift libraries inside, as benchmarks are, have no Testing.
#if canImport(Testing)
    package import Testing

    extension Trait where Self == ConditionTrait {
        /// Skips the suite with this reason if there is no server.
        package static var needsPostgreSQL: Self {
            .enabled(if: DatabaseServer.current != nil, Comment(rawValue: DatabaseServer.absence))
        }
    }
#endif
