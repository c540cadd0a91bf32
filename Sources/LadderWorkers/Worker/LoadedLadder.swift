import FairPlay

/// A library that is loaded and open in this process. Only one thread calls it.
protocol LoadedLadder: ~Copyable {
    borrowing func answer(_ call: WorkerCall) -> Result<WorkerAnswer, LadderCallFailure>
}

extension LoadedModule: LoadedLadder {
    borrowing func answer(_ call: WorkerCall) -> Result<WorkerAnswer, LadderCallFailure> {
        guard case .module(let call) = call else { return .failure(.answerUnusable) }
        return answer(call).map { .module($0) }
    }
}

extension LoadedLibrary: LoadedLadder {
    borrowing func answer(_ call: WorkerCall) -> Result<WorkerAnswer, LadderCallFailure> {
        guard case .library(let order) = call else { return .failure(.answerUnusable) }
        return answer(order).map { .library($0) }
    }
}
