/// What is wrong with a request in ExpressPlay's manner (entitlement, section 1.1.2). The raw values are ExpressPlay's
/// own.
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

    /// A sentence for the caller's developers; it may change.
    package var message: String {
        switch self {
        case .expirationInvalid: "The token's end is no time in UTC and no +SECONDS, has passed, or is too far away"
        case .addressDenied: "The address is not allowed"
        case .contentKeyInvalid: "The content key is missing, no key, given twice or in a place where none may be"
        case .outputFlagsInvalid: "The output protection is not known, or the device cannot give it"
        case .authenticatorMissing: "customerAuthenticator is missing"
        case .authenticatorInvalid: "customerAuthenticator is not known in this environment"
        case .quotaExhausted: "There were too many requests"
        case .rightsMissing: "The rights are missing"
        case .rightsTypeInvalid: "rightsType is neither BuyToOwn nor Rental"
        case .rentalEndMissing: "rental.periodEndTime is missing or no time in UTC"
        case .playDurationMissing: "rental.playDuration is missing"
        case .playDurationInvalid: "rental.playDuration is no number of seconds"
        case .contentKeySizeWrong: "The content key does not have 32 hexadecimal digits"
        case .serviceUnavailable: "The service cannot do this now"
        case .accountDisabled: "The account is disabled"
        case .cookieInvalid: "The cookie is longer than 32 characters, not text, or missing"
        case .outputControlOutOfRange: "An output protection level is not between 0 and 999"
        case .valueUnknown: "A value is not one of those that are known"
        case .extensionTypeSizeWrong: "The type of an extension does not have 4 characters"
        case .extensionPayloadInvalid: "The payload of an extension is not Base64"
        case .outputFlagSizeWrong: "prFlag does not have 4 bytes"
        case .errorFormatInvalid: "errorFormat is neither html nor json"
        case .deviceRefused: "The device is not allowed"
        case .tokenInvalid: "The token is not good for this"
        case .keyIDMissing: "kek needs one of ek and kid"
        case .keyNotFound: "The key store has no such key to give"
        case .keyIDSizeWrong: "kid does not have 32 hexadecimal digits"
        case .keyNameTooLong: "The name behind ^ in kid is longer than 64 characters"
        case .keyIDInvalid: "kid is not valid"
        case .wrappedKeyInvalid: "ek and kek do not give a content key"
        case .generalFlagsInvalid: "generalFlags does not have 4 or 8 hexadecimal digits"
        case .extensionInvalid: "An extension is not one that can be honoured"
        case .ivInvalid: "iv does not have 32 hexadecimal digits, or is not the stored one"
        case .licenseNotMade: "The licence could not be made"
        case .keyDataInvalid: "The request carries no usable key data"
        case .rentalDurationInvalid: "A duration is not a number of seconds that a licence can carry"
        case .deviceBindingInvalid: "The device cannot be bound so"
        }
    }
}
