/// What opens the SK..R1 blocks of a credential: a secret in this process, or a module outside it (protocol, sections
/// 3.1 and 3.5).
package enum SessionKeyLadder: Sendable {
    case applicationSecret(ApplicationSecretKeyLadder)
    case module(any LadderModule)
}
