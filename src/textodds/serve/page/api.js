// Asking the service: errors as problems, a token when one is needed, patience when it is busy or gone.

import { $, shown } from "./dom.js";
import { emit, noticed } from "./state.js";

const KEY = `textodds-token ${location.pathname.replace(/[^/]*$/, "")}`; // other services may share the origin
const TRIES = 4;

/** What went wrong, as the service tells it (RFC 9457). */
class Problem extends Error {
  constructor(status, { detail, title, code, hint }) {
    super(detail || title || `The service has answered with status ${status}.`);
    Object.assign(this, { status, code, hint });
  }
}

export const get = (path) => call(path, {});
export const post = (path, asked, signal) =>
  call(path, { body: JSON.stringify(asked), type: "application/json", signal });

/**
 * The JSON answer, or a `Problem`. `body` may be a Blob, `type` is its Content-Type, `tries` says how often
 * a busy service is asked again, and `signal` calls it off.
 */
export async function call(path, { body, type, tries = TRIES, signal }) {
  for (let trial = 1; ; trial++) {
    const sent = token;
    const headers = type ? { "Content-Type": type } : {};
    if (sent) headers.Authorization = `Bearer ${sent}`;
    let answer;
    try {
      answer = await fetch(path, { method: type ? "POST" : "GET", headers, body, signal, cache: "no-store" });
    } catch (error) {
      if (error.name !== "TypeError") throw error;
      if (trial > tries) throw new Problem(0, { detail: "The service broke off the connection." });
      await back(signal);
      continue;
    }
    const read = await answer.json().catch(() => ({}));
    if (answer.ok) {
      noticed(read.version);
      return read;
    }
    const problem = new Problem(answer.status, read);
    const isBusy = answer.status === 503 && problem.code !== "limit.time";
    if (isBusy && trial <= tries) {
      await pause(1000 * Math.min(Number(answer.headers.get("Retry-After")) || 1, 30), signal);
    } else if (isOfToken(problem)) {
      if (token === sent) await ask(problem); // else another call has been given one meanwhile
    } else {
      throw problem;
    }
  }
}

const isOfToken = ({ status, code }) => status === 401 || (status === 403 && code?.startsWith("token"));

/** The answer as it comes, whatever its status; a token is asked for where one is needed. */
export async function raw(path, { method, body, type }) {
  for (;;) {
    const sent = token;
    const headers = type ? { "Content-Type": type } : {};
    if (sent) headers.Authorization = `Bearer ${sent}`;
    const answer = await fetch(path, { method, headers, body, cache: "no-store" });
    if (answer.status !== 401 && answer.status !== 403) return answer;
    const problem = new Problem(answer.status, await answer.clone().json().catch(() => ({})));
    if (!isOfToken(problem) || (token === sent && !(await askAgain(problem)))) return answer;
  }
}

const pause = (milliseconds, signal) =>
  unless(signal, new Promise((done) => setTimeout(done, milliseconds)));

/** What is promised, unless the signal calls it off. */
function unless(signal, promised) {
  if (!signal) return promised;
  const off = new Promise((_, fail) => {
    signal.addEventListener("abort", () => fail(signal.reason), { once: true });
  });
  signal.throwIfAborted();
  return Promise.race([promised, off]);
}

/** Runs for the latest input only, one at a time: answers cannot overtake one another, nor pile up. */
export function latest(run) {
  let running = false;
  let waiting = null;
  return async (input) => {
    waiting = { input };
    if (running) return;
    running = true;
    while (waiting) {
      const { input: next } = waiting;
      waiting = null;
      await run(next).catch(console.error);
    }
    running = false;
  };
}

let returning = null;

/** Waits until the service answers again; the page says so meanwhile. */
function back(signal) {
  returning ??= waited().finally(() => (returning = null));
  return unless(signal, returning);
}

async function waited() {
  for (let seconds = 0.2; ; seconds = Math.min(seconds * 2, 10)) {
    await pause(seconds * 1000);
    const isWell = await fetch("healthz", { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (isWell) break;
    emit("gone");
  }
  emit("back");
}

let token = null;

/** Whether requests carry a token. */
export const hasToken = () => token !== null;

try {
  token = sessionStorage.getItem(KEY);
} catch {
  // storage is off: this page remembers it as long as it stands
}

function keep(given) {
  token = given;
  try {
    sessionStorage.setItem(KEY, given);
  } catch {
    // as above
  }
}

let asking = null;
let isRefused = false;

/** Asks for a token once, however many calls need it; fails with the problem if none is given. */
async function ask(problem) {
  if (isRefused && !asking) throw problem;
  asking ??= given(problem).finally(() => (asking = null));
  if (!(await asking)) throw problem;
}

/** Whether a token was given, after it had been refused. */
export function askAgain(problem) {
  isRefused = false;
  return ask(problem).then(() => true, () => false);
}

function given(problem) {
  const [box, form, field] = [$("token"), $("token-form"), $("token-text")];
  $("token-why").textContent = `Error: ${shown(problem.message)}.`;
  box.showModal();
  return new Promise((done) => {
    const end = (isGiven) => {
      if (isGiven) keep(field.value.trim());
      isRefused = !isGiven;
      if (isRefused) emit("refused", problem);
      field.value = "";
      box.close();
      done(isGiven);
    };
    form.onsubmit = (event) => (event.preventDefault(), end(true));
    $("token-cancel").onclick = () => end(false);
    box.oncancel = (event) => (event.preventDefault(), end(false));
  });
}
