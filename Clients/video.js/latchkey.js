// FairPlay with video.js, videojs-contrib-eme 5 and Latchkey. Only Safari has FairPlay.
//
//   player.eme();
//   player.src(latchkeySource("https://cdn.example.com/movie-42.m3u8", { base: "https://keys.example.com", token }));
export function latchkeySource(playlist, { base, token }) {
  const server = base.replace(/\/$/, "");
  return {
    src: playlist,
    type: "application/x-mpegURL",
    keySystems: {
      "com.apple.fps.1_0": {
        certificateUri: `${server}/fps/certificate`,
        licenseUri: `${server}/fps/license`,
        // The plug-in posts the raw SPC as application/octet-stream, and expects the raw CKC. This is Latchkey's
        // default.
        licenseHeaders: { Authorization: `Bearer ${token}` },
        // The asset id in the SPC: the key URI without its scheme.
        getContentId: (emeOptions, contentId) => contentId.replace(/^skd:\/\//i, ""),
      },
    },
  };
}

// The plug-in makes one attempt. Its error has the body of the answer, which is Latchkey's problem+json.
export function latchkeyProblem(player) {
  try {
    return JSON.parse(player.error()?.cause ?? player.error()?.metadata?.error?.cause ?? "null");
  } catch {
    return null;
  }
}
