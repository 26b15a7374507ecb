// What the page knows of labelling: who labels, in which order, and what the service has told.

import { get, post } from "./api.js";

const KEY = `textodds-labelling ${location.pathname.replace(/[^/]*$/, "")}`;

/** `state` is where labelling stands, `current` the text that is shown, `check` a precision under way. */
export const desk = { state: null, current: null, check: null, alike: true, given: 0, isBusy: false, progress: null };

let kept = { by: "", order: "useful" };
try {
  kept = { ...kept, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
} catch {
  // storage is off: the page remembers as long as it stands
}

export const by = () => kept.by;
export const order = () => kept.order;

/** Keeps who labels, or in which order, for the next visit. */
export function remember(given) {
  kept = { ...kept, ...given };
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // as above
  }
}

/** An act, which is on disk once this is answered. */
export const ask = (what, given) => post(`v1/labelling/${what}`, { ...given, by: by() });

/** Reads where labelling stands. */
export async function refresh() {
  desk.state = await get(`v1/labelling?by=${encodeURIComponent(by())}`);
}

/** How far the check of a precision has come, as far as that is known. */
export function checked() {
  const found = desk.progress?.checks.find(({ check }) => check === desk.check?.check);
  return found ? ` ${found.answered} of ${found.of} answered.` : "";
}

/** Names of the classes, as the service lists them. */
export const classes = () => desk.state.classes.map(({ label }) => label);
