import ByteCoding

extension ExpressPlayForm {
    /// Why a form was refused with a code that has several causes, without the value of a parameter; nil if the message
    /// of the code says it.
    package func cause(of code: ExpressPlayCode, allowsKeysInURL: Bool) -> String? {
        guard code == .contentKeyInvalid else { return nil }
        let keys = values(of: Name.contentKey.rawValue)
        if !allowsKeysInURL, isInURL(.contentKey) { return "contentKey is in the URL, where keys must not be" }
        if keys.count > 1 { return "contentKey is given twice" }
        guard let key = keys.first else {
            return "there is no contentKey, and no ek or kid in its place; upper and lower case count in names"
        }
        if !values(of: Name.kek.rawValue).isEmpty || !values(of: Name.ek.rawValue).isEmpty {
            return "contentKey is given beside kek or ek"
        }
        if (try? Hexadecimal.decode(key)) == nil { return "contentKey does not consist of hexadecimal digits" }
        // The only fault that is left.
        return "contentKey and iv are equal, and an initialization vector is public"
    }
}
