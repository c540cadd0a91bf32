// FairPlay with video.js, videojs-contrib-eme 5 and Latchkey. Only Safari has FairPlay.
//
//   player.eme();
//   player.src(latchkeySource(player, "https://cdn.example.com/movie-42.m3u8", {
//     base: "https://keys.example.com",
//     getToken: () => shop.token("movie-42"), // asked for each key, and if a token is not accepted any more
//     onProblem: ({ status, code, detail, hint, retryAfter }) => show(code ?? detail),
//   }));
//
// It serves both interfaces of Safari: `com.apple.fps` with Encrypted Media Extensions, and `com.apple.fps.1_0` with
// the older WebKitMediaKeys, which `player.eme.initLegacyFairplay()` chooses.
import { Renewal, getFirstLicense, tellApp } from "../browser/licenses.js";

const guards = new WeakMap();

export function latchkeySource(player, playlist, { base, getToken, onProblem }) {
  const server = base.replace(/\/$/, "");
  if (!guards.has(player)) guards.set(player, new Guard(player));
  const guard = guards.get(player);
  guard.begin({ url: `${server}/fps/license`, getToken, onProblem });
  const options = {
    certificateUri: `${server}/fps/certificate`,
    getContentId: (_, initData) => assetID(initData),
    // The raw SPC is posted, and the answer is the raw CKC.
    getLicense: (_, contentID, spc, callback) => guard.getLicense(spc, callback),
  };
  return {
    src: playlist,
    type: "application/x-mpegURL",
    keySystems: { "com.apple.fps": options, "com.apple.fps.1_0": { ...options } },
  };
}

// The asset id in the SPC: the key URI without its scheme. The init data of the older interface has a length of four
// bytes before the URI, which the plug-in reads as two letters.
export function assetID(initData) {
  return initData.replace(/^[^]{0,2}skd:(\/\/)?/i, "");
}

// One for each player. It listens for the whole life of the player, so that listeners do not pile up.
class Guard {
  #film = null;
  #ended = new AbortController();
  #renewals = new Map(); // For each session of the browser.
  #session = null;

  constructor(player) {
    player.ready(() => {
      const tech = player.tech({ IWillNotUseThisInPlugins: true });
      tech.on("keysessioncreated", ({ keySession }) => {
        if (this.#film) this.#renewals.set(keySession, new Renewal(keySession, this.#film));
      });
      // The plug-in fires this event directly before it calls `getLicense`.
      tech.on("keymessage", ({ messageEvent }) => (this.#session = messageEvent.target));
    });
    player.on("dispose", () => this.#end());
  }

  begin(film) {
    // The plug-in does not close the sessions of the film before.
    this.#end();
    this.#film = film;
    this.#ended = new AbortController();
  }

  #end() {
    this.#ended.abort();
    this.#renewals.forEach((renewal) => renewal.stop());
    this.#renewals.clear();
  }

  async getLicense(spc, callback) {
    const { signal } = this.#ended;
    const film = this.#film;
    const renewal = this.#renewals.get(this.#session);
    try {
      const { ckc, header, token } = await getFirstLicense(film, spc, signal);
      callback(null, ckc);
      renewal?.licensed(header, token);
    } catch (problem) {
      if (signal.aborted) return;
      tellApp(film.onProblem, problem);
      // The plug-in shows this as the player's error.
      callback(Object.assign(new Error(problem.code ?? problem.detail ?? "no answer"), { problem }));
    }
  }
}
