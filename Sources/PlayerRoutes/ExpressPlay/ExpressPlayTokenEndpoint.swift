import ByteCoding
package import Entitlements
package import EventLoops
import HTTPMessages
package import HTTPServing
package import Licensing

/// `GET` and `POST /hms/fp/token`: takes a customer's parameters and returns a URL with a token (entitlement, section
/// 1.1.1).
package struct ExpressPlayTokenEndpoint: Sendable {
    /// The most bytes that a form may have.
    private static let bodySizeMaximum = 16_384

    private let service: ExpressPlayService

    package init(service: ExpressPlayService) {
        self.service = service
    }

    /// Checks the request immediately, the address and the customer first, and makes the token later.
    package func answer(
        _ request: HTTPRequest, _ settings: ExpressPlaySettings, under rules: LicenseRules, id: RequestID,
        on loop: LoopContext
    ) -> HTTPAnswer {
        guard request.body.count <= Self.bodySizeMaximum else {
            let refusal = ExpressPlayRefusal(.keyDataInvalid, .contentTooLarge, RefusalCause("the form is too large"))
            return .now(response(to: refusal, .html, id, rules))
        }
        let form = ExpressPlayForm(query: request.query, body: request.body)
        guard !form.hasTooManyParameters else {
            let cause = RefusalCause("the form has more than \(QueryPairs.countMaximum) parameters")
            return .now(response(to: ExpressPlayRefusal(.valueUnknown, cause), .html, id, rules))
        }
        let format = form.errorFormat
        do throws(ExpressPlayRefusal) {
            try service.admit(request, under: rules, on: loop)
            let customer = try customer(of: form, in: settings)
            let asked = try Self.request(in: form, of: customer, settings, now: service.minter.now)
            return .later { _ in await mint(asked, for: customer, settings, errors: format, id, under: rules) }
        } catch {
            return .now(response(to: error, format, id, rules))
        }
    }

    private func mint(
        _ asked: ExpressPlayTokenRequest, for customer: ExpressPlayCustomer, _ settings: ExpressPlaySettings,
        errors format: ExpressPlayForm.ErrorFormat, _ id: RequestID, under rules: LicenseRules
    ) async -> HTTPResponse {
        do throws(ExpressPlayRefusal) {
            let token = try await service.minter.mint(asked, for: customer)
            service.logMinted(by: customer, id)
            return HTTPResponse(
                status: .ok, fields: HTTPFields.answer("text/uri-list", id),
                body: Array(settings.tokenURL(token).utf8))
        } catch {
            return response(to: error, format, id, rules)
        }
    }

    private func customer(
        of form: ExpressPlayForm, in settings: ExpressPlaySettings
    ) throws(ExpressPlayRefusal) -> ExpressPlayCustomer {
        let authenticator: [UInt8]
        do throws(ExpressPlayCode) {
            _ = try form.readErrorFormat()
            authenticator = try form.readAuthenticator()
        } catch {
            throw ExpressPlayRefusal(error)
        }
        switch settings.customers.identify(authenticator) {
        case .customer(let customer):
            try service.admit(customer)
            return customer
        case .otherEnvironment(let customer):
            throw ExpressPlayRefusal(
                .authenticatorInvalid,
                RefusalCause("the authenticator is the one of customer \(customer.name) for the other environment"))
        case .unknown:
            throw ExpressPlayRefusal(.authenticatorInvalid, RefusalCause("no customer has this authenticator"))
        }
    }

    private static func request(
        in form: ExpressPlayForm, of customer: ExpressPlayCustomer, _ settings: ExpressPlaySettings, now: Int64
    ) throws(ExpressPlayRefusal) -> ExpressPlayTokenRequest {
        if let name = form.unknownOwnName {
            throw ExpressPlayRefusal(.valueUnknown, RefusalCause("a parameter is unknown")).naming(name)
        }
        return try wrap(
            { (code: ExpressPlayCode) -> ExpressPlayRefusal in
                let cause = form.cause(of: code, allowsKeysInURL: settings.allowsKeysInURL)
                return ExpressPlayRefusal(code, cause.map { RefusalCause($0) })
            },
            try ExpressPlayTokenRequest(
                reading: form, allowsKeysInURL: settings.allowsKeysInURL, now: now, lifeMaximum: customer.lifeMaximum))
    }

    private func response(
        to refusal: ExpressPlayRefusal, _ format: ExpressPlayForm.ErrorFormat, _ id: RequestID, _ rules: LicenseRules
    ) -> HTTPResponse {
        service.logRefusal(refusal, id, under: rules)
        let error = ExpressPlayErrorBody(
            code: refusal.code.rawValue, message: refusal.message, requestID: id.text)
        var fields = HTTPFields.answer(error.contentType(format), id)
        fields.append("X-Error-Code", String(refusal.code.rawValue))
        if let wait = refusal.retryAfterSeconds { fields.append("Retry-After", String(wait)) }
        return HTTPResponse(status: refusal.status, fields: fields, body: error.bytes(format))
    }
}
