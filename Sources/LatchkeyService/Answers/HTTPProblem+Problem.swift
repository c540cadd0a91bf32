import HTTPMessages

extension Problem {
    /// For input that never became a request.
    init(for problem: HTTPProblem) {
        guard let code = ProblemCode(rawValue: problem.code) else {
            preconditionFailure("every code of the listener is in the table: \(problem.code)")
        }
        self.init(code)
    }
}
