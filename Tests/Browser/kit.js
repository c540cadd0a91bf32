// What the pages for tests of the client kit share. `kit` is for the tests.
const show = (text) => (document.querySelector("#status").textContent = text);

// `play` plays a film with the functions that the kit needs. `stop` destroys the player.
export function offer({ play, stop }) {
  const kit = (globalThis.kit = {
    problems: [], // what the kit says to the app
    errors: [], // what the player says to the app
    tokenCount: 0,
    isBroken: false, // whether the app's own function for problems fails
    stop,

    // The tokens are given out one after the other, and the last one again and again. For null there is no token, and
    // for false there is no answer.
    async play({ tokens, ...film }) {
      const left = [...tokens];
      const getToken = async () => {
        kit.tokenCount += 1;
        const token = left.length > 1 ? left.shift() : left[0];
        if (token === null) throw new Error("the shop is closed");
        if (token === false) return new Promise(() => {});
        return token;
      };
      const onProblem = (problem) => {
        kit.problems.push(problem);
        show(`problem ${kit.problems.length}`);
        if (kit.isBroken) throw new Error("the app is broken");
      };
      await play({ ...film, getToken, onProblem });
    },

    error(code) {
      kit.errors.push(code);
      show(`error ${kit.errors.length}`);
    },

    // The session with the newest request.
    session: () => standInSessions.findLast(({ open }) => open.length),

    // The app renews by itself.
    renew: () => kit.session().update(new TextEncoder().encode("renew")),
  });
  show("ready");
  return kit;
}
