/// The version of both programs.
package enum LatchkeyVersion {
    package static let current = "0.1.0"
}
