package import FairPlay

/// Malformed SPCs by name: each breaks one rule of the containers or blocks (protocol, sections 1 and 2).
package enum SPCFault: Sendable, Hashable {
    /// In the finished message.
    case container(ContainerFault)
    /// Before encryption, as everybody who holds the public certificate can.
    case payload(PayloadFault)

    /// All that an SPC of this version can have.
    package static func all(for version: SPCVersion) -> [SPCFault] {
        ContainerFault.allCases.filter { $0.canHappen(in: version) }.map { .container($0) }
            + PayloadFault.allCases.map { .payload($0) }
    }

    /// What the server must answer.
    package enum Answer: Sendable, Equatable {
        /// 400 `spc_version_unsupported`
        case versionUnsupported
        /// 400 `spc_malformed`
        case malformed
        /// 422 `spc_certificate_unknown`
        case certificateUnknown
        /// 422 `spc_rejected`, the same for all
        case rejected
    }

    package var answer: Answer {
        switch self {
        case .container(let fault): fault.answer
        case .payload: .rejected
        }
    }
}

extension SPCFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .container(let fault): fault.rawValue
        case .payload(let fault): fault.rawValue
        }
    }
}
