import ByteCoding
import Entitlements
import HTTPMessages
import Licensing
import PlayerMessages
import Records
import RouteKit

/// What an app can say about the license that it wants, and an SPC cannot.
///
/// - `?offline=1` asks for a license that the device may store, `?offline=0` for one that it may not store.
/// - `?renew=true` or the field `X-License-Renew: 1` says that it is a renewal (entitlement, section 4.5), and
///   `?previous=` names the license before it. Under load renewals go first, and the ledger records them as such. They
///   grant nothing more.
/// - `?format=` names the shape of the answer. Without it the address, `Accept` and the shape of the request decide.
package struct LicenseWish: Equatable, Sendable {
    /// Nil if the app does not ask for either use.
    var use: LicenseUse?
    var renewal = RenewalWish()
    var answer = AnswerPreference()

    init(use: LicenseUse? = nil, isRenewal: Bool = false, format: AnswerShape? = nil) {
        self.use = use
        renewal.isRenewal = isRenewal
        answer.explicit = format
    }

    /// A parameter of the query that is given twice or has an unknown value.
    package struct Fault: Error, Equatable {
        enum Parameter: String, Sendable, CaseIterable {
            case offline, renew, previous, format
        }

        let parameter: Parameter
    }

    /// Reads the query and the header fields. Throws the first parameter that is not readable.
    ///
    /// `standard` is the shape of answers that is configured for the address; nil if it serves every player. If
    /// `followsAccept` is false, the field `Accept` is ignored.
    init(
        query: QueryPairs, fields: HTTPFields, standard: AnswerShape? = nil, followsAccept: Bool = true
    ) throws(Fault) {
        use = try Self.flag(.offline, in: query).map { $0 ? .offline : .streaming }
        let isRenewal = try Self.flag(.renew, in: query) ?? false
        renewal.isRenewal = isRenewal || fields["X-License-Renew"] == "1"
        if let previous = try Self.only(.previous, in: query) {
            guard let license = LicenseID(text: previous) else { throw Fault(parameter: .previous) }
            renewal.previous = license
        }
        answer.explicit = standard
        if let name = try Self.only(.format, in: query) {
            guard let shape = AnswerShape(named: name) else { throw Fault(parameter: .format) }
            answer.explicit = shape
        }
        if followsAccept { answer.accepted = fields.values(of: "Accept") }
    }

    /// The value of a parameter that is true or false; nil if it is absent.
    private static func flag(_ parameter: Fault.Parameter, in query: QueryPairs) throws(Fault) -> Bool? {
        switch try only(parameter, in: query) {
        case nil: return nil
        case "0", "false": return false
        case "", "1", "true": return true
        default: throw Fault(parameter: parameter)  // Neither true nor false.
        }
    }

    /// The one value of a parameter; nil if it is absent.
    private static func only(_ parameter: Fault.Parameter, in query: QueryPairs) throws(Fault) -> String? {
        let values = query.valuesOrEmpty(parameter.rawValue)
        guard values.count <= 1 else { throw Fault(parameter: parameter) }
        return values.first.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension LicenseWish.Fault.Parameter {
    /// The values that the parameter may have, for the hint.
    var values: String {
        switch self {
        case .offline, .renew: "1, true, 0 or false"
        case .previous: "the id of a license, from the header X-License-Id"
        case .format: AnswerShape.names.joined(separator: ", ")
        }
    }
}

extension Problem {
    package init(for fault: LicenseWish.Fault) {
        self.init(.requestInvalid)
        let name = fault.parameter.rawValue
        detail = "The query's \(name) is given twice or has an unknown value"
        hint = "Give \(name) once, or not at all: \(fault.parameter.values)."
        facts = [("parameter", .word(name))]
    }
}
