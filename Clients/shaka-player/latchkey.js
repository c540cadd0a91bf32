// FairPlay with Shaka Player 5 and Latchkey. Call `configure` before `player.load()`.
//
//   configure(player, {
//     base: "https://keys.example.com",
//     getToken: () => shop.token("movie-42"),
//     lease: 300, // the lease that the token grants, in seconds; leave it out for tokens without one
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
      // Shaka tells the module "renew" at this interval. X-License-Renew-After lies at 57 to 67 % of the lease, or
      // before, if the token says so.
      ...(lease && { renewalIntervalSec: Math.max(1, 0.57 * lease) }),
    },
  });

  const { RequestType } = shaka.net.NetworkingEngine;
  const network = player.getNetworkingEngine();

  // The body stays as the browser's module made it: a raw SPC. A renewal goes with the session token, if there is one.
  network.registerRequestFilter(async (type, request) => {
    if (type !== RequestType.LICENSE) return;
    const isRenewal = request.licenseRequestType === "license-renewal";
    if (isRenewal) request.uris = request.uris.map((uri) => `${uri}?renew=true`);
    const session = isRenewal ? sessions.get(request.sessionId) : null;
    if (!session) token ??= await getToken();
    request.headers["Authorization"] = `Bearer ${session ?? token}`;
    request.headers["Content-Type"] = "application/octet-stream";
  });

  // The names of header fields are in lower case here. The server lets pages read these without configuration.
  network.registerResponseFilter((type, { headers, originalRequest }) => {
    if (type !== RequestType.LICENSE) return;
    sessions.set(originalRequest.sessionId, headers["x-session-token"]);
  });

  // Error 6007: the server has refused. Its data[0] is the error of the network, with status, body and header fields.
  player.addEventListener("error", ({ detail: error }) => {
    if (error.code !== shaka.util.Error.Code.LICENSE_REQUEST_FAILED) return;
    const [, status, body, headers] = error.data[0].data;
    if (status === 401) token = null;
    let problem = {};
    try {
      problem = JSON.parse(body);
    } catch {
      // Something before the server has answered.
    }
    onProblem({ status, code: headers?.["x-error-code"] ?? problem.code, detail: problem.detail, hint: problem.hint });
  });
}
