/// An error code of ExpressPlay's interface (entitlement, section 1.1.2). The raw values are ExpressPlay's own.
package enum ExpressPlayCode: Int, Error, Sendable, CaseIterable {
    case expirationInvalid = -2002
    case addressDenied = -2003
    case contentKeyInvalid = -2005
    case outputFlagsInvalid = -2008
    case authenticatorMissing = -2017
    case authenticatorInvalid = -2018
    case quotaExhausted = -2019
    case rightsMissing = -2020
    case rightsTypeInvalid = -2021
    case rentalEndMissing = -2022
    case playDurationMissing = -2023
    case playDurationInvalid = -2025
    case contentKeySizeWrong = -2027
    case serviceUnavailable = -2030
    case accountDisabled = -2031
    case cookieInvalid = -2033
    case outputControlOutOfRange = -2034
    case valueUnknown = -2035
    case extensionTypeSizeWrong = -2036
    case extensionPayloadInvalid = -2037
    case outputFlagSizeWrong = -2040
    case errorFormatInvalid = -3004
    case deviceRefused = -4001
    case tokenInvalid = -4010
    case keyIDMissing = -4018
    case keyNotFound = -4019
    case keyIDSizeWrong = -4020
    case keyNameTooLong = -4021
    case keyIDInvalid = -4022
    case wrappedKeyInvalid = -4024
    case generalFlagsInvalid = -5003
    case extensionInvalid = -6001
    case ivInvalid = -6003
    case licenseNotMade = -6004
    case keyDataInvalid = -6005
    case rentalDurationInvalid = -6007
    case deviceBindingInvalid = -6008

    /// A sentence for the developers of the caller. The wording may change.
    package var message: String {
        switch self {
        case .expirationInvalid: "expirationTime is not a time in UTC or +SECONDS, has passed, or is too late"
        case .addressDenied: "The address is not allowed"
        case .contentKeyInvalid: "The content key is missing, invalid, given twice, or must not be in the URL"
        case .outputFlagsInvalid: "The output protection is unknown, or the device does not have it"
        case .authenticatorMissing: "customerAuthenticator is missing"
        case .authenticatorInvalid: "customerAuthenticator is unknown in this environment"
        case .quotaExhausted: "There were too many requests"
        case .rightsMissing: "The rights are missing"
        case .rightsTypeInvalid: "rightsType is not BuyToOwn or Rental"
        case .rentalEndMissing: "rental.periodEndTime is missing or is not a time in UTC"
        case .playDurationMissing: "rental.playDuration is missing"
        case .playDurationInvalid: "rental.playDuration is not a number of seconds"
        case .contentKeySizeWrong: "The content key does not have 32 hexadecimal digits"
        case .serviceUnavailable: "The service cannot do this now"
        case .accountDisabled: "The account is disabled"
        case .cookieInvalid: "The cookie is longer than 32 characters, not text, or missing"
        case .outputControlOutOfRange: "An output protection level is not between 0 and 999"
        case .valueUnknown: "A value is unknown"
        case .extensionTypeSizeWrong: "The type of an extension does not have 4 characters"
        case .extensionPayloadInvalid: "The payload of an extension is not Base64"
        case .outputFlagSizeWrong: "prFlag does not have 4 bytes"
        case .errorFormatInvalid: "errorFormat is not html or json"
        case .deviceRefused: "The device is not allowed"
        case .tokenInvalid: "The token is not valid for this request"
        case .keyIDMissing: "kek is given without ek or kid"
        case .keyNotFound: "The key store does not have this key"
        case .keyIDSizeWrong: "kid does not have 32 hexadecimal digits"
        case .keyNameTooLong: "The name after ^ in kid is longer than 64 characters"
        case .keyIDInvalid: "kid is not valid"
        case .wrappedKeyInvalid: "ek and kek do not give a content key"
        case .generalFlagsInvalid: "generalFlags does not have 4 or 8 hexadecimal digits"
        case .extensionInvalid: "An extension is not supported"
        case .ivInvalid: "iv does not have 32 hexadecimal digits, or is not the stored one"
        case .licenseNotMade: "The license could not be made"
        case .keyDataInvalid: "The SPC or the form is invalid or too large"
        case .rentalDurationInvalid: "A duration is not a number of seconds, or is too large for a license"
        case .deviceBindingInvalid: "latchkey.device or latchkey.bind is invalid, or both are given"
        }
    }
}
