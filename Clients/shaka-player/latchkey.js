// FairPlay with Shaka Player 5 and Latchkey. Call `configure` before `player.load()`.
//
//   configure(player, {
//     base: "https://keys.example.com",
//     getToken: () => shop.token("movie-42"),
//     lease: 300, // the lease that the token grants, in seconds; leave it out for tokens without a lease
//     onProblem: ({ status, code, detail, hint }) => show(code),
//   });
export function configure(player, { base, getToken, lease, onProblem }) {
  const server = base.replace(/\/$/, "");
  const sessions = new Map(); // For each session of the browser: the session token of its last licence.
  let token = null;

  player.configure({
    drm: {
      servers: { "com.apple.fps": `${server}/fps/license` },
      advanced: { "com.apple.fps": { serverCertificateUri: `${server}/fps/certificate` } },
      // Shaka tells the module to renew at this interval. X-License-Renew-After is at 57 to 67 % of the lease, or
      // earlier if the token says so.
      ...(lease && { renewalIntervalSec: Math.max(1, 0.57 * lease) }),
    },
  });

  const { RequestType } = shaka.net.NetworkingEngine;
  const network = player.getNetworkingEngine();

  // The body is not changed: it is the raw SPC of the browser's module. A renewal has the session token, if there is
  // one.
  network.registerRequestFilter(async (type, request) => {
    if (type !== RequestType.LICENSE) return;
    const isRenewal = request.licenseRequestType === "license-renewal";
    if (isRenewal) request.uris = request.uris.map((uri) => `${uri}?renew=true`);
    const session = isRenewal ? sessions.get(request.sessionId) : null;
    if (!session) token ??= await getToken();
    request.headers["Authorization"] = `Bearer ${session ?? token}`;
    request.headers["Content-Type"] = "application/octet-stream";
  });

  // Shaka gives the names of header fields in lower case. By default the server lets pages read these fields.
  network.registerResponseFilter((type, { headers, originalRequest }) => {
    if (type !== RequestType.LICENSE) return;
    sessions.set(originalRequest.sessionId, headers["x-session-token"]);
  });

  // Error 6007: the server has refused. data[0] is the network error, with status, body and header fields.
  player.addEventListener("error", ({ detail: error }) => {
    if (error.code !== shaka.util.Error.Code.LICENSE_REQUEST_FAILED) return;
    const [, status, body, headers] = error.data[0].data;
    if (status === 401) token = null;
    let problem = {};
    try {
      problem = JSON.parse(body);
    } catch {
      // A proxy has answered instead of the server.
    }
    onProblem({ status, code: headers?.["x-error-code"] ?? problem.code, detail: problem.detail, hint: problem.hint });
  });
}
