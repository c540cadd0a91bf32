import ByteCoding
package import Entitlements
package import EventLoops
import HTTPMessages
package import HTTPServing
package import Licensing

/// `POST /sees/SEESServlet`: takes the name of a content and returns a token URL, for the back end of an app
/// (entitlement, section 1.1.6).
///
/// An authenticated back end may ask for every stored content of its customer: the back end itself must check whether
/// the viewer has paid. A request that could be read is answered with status 200, and `isAllowed` says whether the
/// answer has a token. Only failures of this server have another status.
package struct SEESEndpoint: Sendable {
    private let service: ExpressPlayService

    package init(service: ExpressPlayService) {
        self.service = service
    }

    package func answer(
        _ request: HTTPRequest, _ settings: ExpressPlaySettings, under rules: LicenseRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer? {
        guard let sees = settings.sees else { return nil }
        do throws(ExpressPlayRefusal) {
            try service.admit(request, under: rules, on: loop)
            try authenticate(request, sees)
            try service.admit(sees.customer)
        } catch {
            return .now(response(to: error, messageID: "", id, rules))
        }
        do throws(SEESRequest.Fault) {
            let question = try SEESRequest(parsing: request.body)
            return .later { _ in await answer(question, sees, settings, id: id, under: rules) }
        } catch {
            let refusal = ExpressPlayRefusal(error.code, error.messageID.isEmpty ? .badRequest : .ok)
                .naming(error.member?.rawValue ?? "the body is not a JSON object")
            return .now(response(to: refusal, messageID: error.messageID, id, rules))
        }
    }

    /// Whether the head of a request shows that it comes from an allowed client.
    package func isAuthentic(_ request: HTTPRequest, _ settings: SEESSettings) -> Bool {
        do throws(ExpressPlayRefusal) {
            try authenticate(request, settings)
            return true
        } catch {
            return false
        }
    }

    /// Authenticates a client by the certificate of its connection, or by the authenticator in the request.
    private func authenticate(
        _ request: HTTPRequest, _ settings: SEESSettings
    ) throws(ExpressPlayRefusal) {
        if let subject = request.peer.tls?.clientCertificate?.subject, settings.clients.contains(subject) { return }
        switch BearerToken.presented(in: request.fields) {
        case .one(let presented):
            guard settings.authenticator?.matches(presented) == true else {
                throw ExpressPlayRefusal(.authenticatorInvalid)
            }
        case .ambiguous: throw ExpressPlayRefusal(.authenticatorInvalid)
        case .none: throw ExpressPlayRefusal(.authenticatorMissing)
        }
    }

    private func answer(
        _ question: SEESRequest, _ sees: SEESSettings, _ settings: ExpressPlaySettings, id: RequestID,
        under rules: LicenseRules
    ) async -> HTTPResponse {
        do throws(ExpressPlayRefusal) {
            let token = try await service.minter.mint(
                try await contents(for: question, sees), for: sees.customer)
            service.logMinted(by: sees.customer, id)
            let body = Self.body(messageID: question.messageID, tokenURL: settings.tokenURL(token))
            return HTTPResponse(status: .ok, fields: HTTPFields.answer("application/json", id), body: body)
        } catch {
            let isOurs = error.status.code >= 500
            let refusal = ExpressPlayRefusal(
                error.code, isOurs ? error.status : .ok, error.cause, retryAfterSeconds: error.retryAfterSeconds
            ).naming(Self.member(behind: error.code))
            return response(to: refusal, messageID: question.messageID, id, rules)
        }
    }

    /// Returns the faulty member of a request whose form is right: only its content can still be wrong.
    private static func member(behind code: ExpressPlayCode) -> String? {
        code == .keyNotFound || code == .ivInvalid ? SEESRequest.Member.contentID.rawValue : nil
    }

    /// Returns the contents of the token. All devices of a cookie belong to one subject.
    private func contents(
        for question: SEESRequest, _ settings: SEESSettings
    ) async throws(ExpressPlayRefusal) -> SealedTokenContents {
        let now = service.minter.now
        var contents = SealedTokenContents(
            tokenID: try ExpressPlayMinter.randomID(), issuedAt: now, expiresAt: now + settings.tokenLife)
        switch try await service.minter.storedName(of: .text(question.contentID), iv: nil, for: settings.customer) {
        case .keyID(let keyID): contents.keyID = keyID
        case .text(let contentID): contents.contentID = contentID
        }
        contents.cookie = question.customerCookie
        guard question.kind != .timeBased, let cookie = question.customerCookie else { return contents }
        contents.subject = SealedTokenContents.subject(ofCookie: cookie, customer: settings.customer.name)
        switch question.kind {
        case .deviceRegistration:
            contents.deviceMaximum = settings.devicesMaximum
            // At the maximum, a new device replaces the oldest one. So one token must not register several devices.
            contents.bindsFirstDevice = true
            contents.usesPerKey = 1
        case .timeBased, .deviceBound: contents.isRegisteredOnly = true
        }
        return contents
    }

    // MARK: Answers

    private func response(
        to refusal: ExpressPlayRefusal, messageID: String, _ id: RequestID, _ rules: LicenseRules
    ) -> HTTPResponse {
        service.logRefusal(refusal, id, under: rules)
        var fields = HTTPFields.answer("application/json", id)
        fields.append("X-Error-Code", String(refusal.code.rawValue))
        if refusal.status == .unauthorized { fields.append("WWW-Authenticate", "Bearer") }
        if let wait = refusal.retryAfterSeconds { fields.append("Retry-After", String(wait)) }
        let body = Self.body(messageID: messageID, refusal: refusal)
        return HTTPResponse(status: refusal.status, fields: fields, body: body)
    }

    private static func body(
        messageID: String, tokenURL: String = "", refusal: ExpressPlayRefusal? = nil
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("messageID", messageID)
            writer.member("version", SEESRequest.version)
            writer.member("isAllowed", refusal == nil)
            writer.member("epTokenURL", tokenURL)
            if let refusal {
                writer.member("error", refusal.code.rawValue)
                writer.member("errorText", refusal.message + ".")
            }
        }
    }
}
