import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import LatchkeyService

extension OpenedLicense {
    /// The members of every JSON object that shows a licence.
    func write(to writer: inout JSONWriter) {
        writer.member("contentKey", Hexadecimal.encode(contentKey.bytes.revealed()))
        writer.member("contentIV", Hexadecimal.encode(contentIV.bytes))
        for (name, seconds) in [("lease", terms.lease), ("rental", terms.rental)] {
            writer.name(name)
            if let seconds { writer.unsigned(UInt64(seconds.value)) } else { writer.null() }
        }
        writer.member("hdcp", terms.hdcp?.name)
        writer.member("keyType", terms.keyTypeName)
    }

    /// The same for a person, a line each.
    var lines: [String] {
        [
            "content key  \(Hexadecimal.encode(contentKey.bytes.revealed()))",
            "content IV   \(Hexadecimal.encode(contentIV.bytes))",
            "lease        \(terms.lease.map { "\($0.value) s" } ?? "none")",
            "rental       \(terms.rental.map { "\($0.value) s" } ?? "none")",
            "HDCP         \(terms.hdcp?.name ?? "not said (a device enforces Type 0)")",
        ]
    }
}

extension HDCPLevel {
    fileprivate var name: String {
        switch self {
        case .none: "none"
        case .type0: "type0"
        case .type1: "type1"
        }
    }
}

extension LicenseTerms {
    fileprivate var keyTypeName: String? {
        switch validity {
        case .session, .offlineKey: nil
        case .duration(let duration): duration.keyTypeName
        }
    }
}

extension KeyDuration {
    fileprivate var keyTypeName: String {
        switch self {
        case .lease: "lease"
        case .rental: "rental"
        case .leaseAndRental: "leaseAndRental"
        case .persistent: "persistent"
        case .persistentLimited: "persistentLimited"
        }
    }
}
