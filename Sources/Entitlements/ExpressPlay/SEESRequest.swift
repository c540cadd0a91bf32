import ByteCoding

/// A request to the entitlement server, in the format of ExpressPlay's sample server (entitlement, section 1.1.6).
package struct SEESRequest: Equatable, Sendable {
    /// The supported version of the messages.
    package static let version: Int64 = 1

    /// The kind of the requested token. The raw values are the protocol's.
    package enum Kind: Int64, Sendable {
        /// The token is valid for a limited time, on any device.
        case timeBased = 1
        /// The token is valid for a limited time, and the first device that redeems it is registered. It has one use
        /// for each key.
        case deviceRegistration = 2
        /// The token is valid on registered devices only.
        case deviceBound = 3
    }

    /// A UUID, as the client wrote it.
    package let messageID: String
    package let kind: Kind
    /// The name of the content in the packager or in the key store.
    package let contentID: String
    /// The account that asks; never nil unless the kind is `timeBased`.
    package let customerCookie: String?

    /// Why a request is refused.
    package struct Fault: Error, Equatable, Sendable {
        /// The message ID of the request; empty if it could not be read.
        package let messageID: String
        package let code: ExpressPlayCode
        /// The faulty member; nil if the body is not a JSON object.
        package let member: Member?
    }

    /// The members of a request. The raw values are the protocol's.
    package enum Member: String, Sendable, CaseIterable {
        case messageID, version, requestType, contentID, customerCookie
    }

    /// Reads a request. Unknown members are ignored.
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
