import ByteCoding

/// A question to the entitlement server in the manner of ExpressPlay's sample (entitlement, section 1.1.6).
package struct SEESRequest: Equatable, Sendable {
    /// The version of messages that is spoken.
    package static let version: Int64 = 1

    /// What kind of token is asked for. The raw values are the protocol's.
    package enum Kind: Int64, Sendable {
        /// Good for a time, on any device.
        case timeBased = 1
        /// The same, and the device that redeems it is registered.
        case deviceRegistration = 2
        /// Good on registered devices alone.
        case deviceBound = 3
    }

    /// A UUID, as it was written.
    package let messageID: String
    package let kind: Kind
    /// The content, as the packager or the store calls it.
    package let contentID: String
    /// Who asks; always there if devices are registered or bound.
    package let customerCookie: String?

    /// Why a question is not answered. The message id is empty if none could be read.
    package struct Fault: Error, Equatable, Sendable {
        package let messageID: String
        package let code: ExpressPlayCode
        /// The member that is at fault; nil if the body is no JSON object.
        package let member: Member?
    }

    /// The members of a question. The raw values are the protocol's.
    package enum Member: String, Sendable, CaseIterable {
        case messageID, version, requestType, contentID, customerCookie
    }

    /// Unknown members are ignored.
    package init(parsing body: [UInt8]) throws(Fault) {
        let limits = JSONLimits(sizeMaximum: 8192, depthMaximum: 4)
        guard let members = (try? JSONReader.parse(body, limits: limits))?.object else {
            throw Fault(messageID: "", code: .valueUnknown, member: nil)
        }
        guard let messageID = members["messageID"]?.string, (try? KeyID(parsing: messageID)) != nil else {
            throw Fault(messageID: "", code: .valueUnknown, member: .messageID)
        }
        self.messageID = messageID
        guard members["version"]?.number?.signed == Self.version else {
            throw Fault(messageID: messageID, code: .valueUnknown, member: .version)
        }
        guard let kind = (members["requestType"]?.number?.signed).flatMap({ Kind(rawValue: $0) }) else {
            throw Fault(messageID: messageID, code: .valueUnknown, member: .requestType)
        }
        self.kind = kind
        guard let contentID = members["contentID"]?.string, (1...200).contains(contentID.utf8.count),
            ClaimObject.isIdentifier(contentID)
        else { throw Fault(messageID: messageID, code: .keyIDInvalid, member: .contentID) }
        self.contentID = contentID
        do throws(ExpressPlayCode) {
            customerCookie = try Self.cookie(members["customerCookie"], isNeeded: kind != .timeBased)
        } catch {
            throw Fault(messageID: messageID, code: error, member: .customerCookie)
        }
    }

    private static func cookie(_ node: JSONNode?, isNeeded: Bool) throws(ExpressPlayCode) -> String? {
        guard let node, !node.isNull else {
            if isNeeded { throw .cookieInvalid }
            return nil
        }
        guard let text = node.string, let cookie = SealedTokenContents.cookie(Array(text.utf8)) else {
            throw .cookieInvalid
        }
        return cookie
    }
}
